/* SPDX-License-Identifier: MIT */
/* The description of the stream rtl.hsa. Constant. */
#ifndef STREAMS_HSA_STREAM_H
#define STREAMS_HSA_STREAM_H

#include <rtl/types.h>

extern const struct rtl_stream_info hsa_stream_info;

#endif
