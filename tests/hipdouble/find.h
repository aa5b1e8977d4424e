/* SPDX-License-Identifier: MIT */
/* Functions of HIP itself, past whoever stands in for them, and however the program has loaded it. */
#ifndef HIP_DOUBLE_FIND_H
#define HIP_DOUBLE_FIND_H

/* NULL: HIP is not there, or has none. */
void *hip_find(const char *name);

#endif
