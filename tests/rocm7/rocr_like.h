/* SPDX-License-Identifier: MIT */
/* rocr_like.h: the allocations of ROCr's model mode, in a library of ROCr's name. */
#ifndef ROCR_LIKE_H
#define ROCR_LIKE_H

#include <stdbool.h>
#include <stddef.h>

/* Stay till the process ends. False: the first one, which it needs, is not to be had. */
bool rocr_like_allocate(size_t length);

#endif
