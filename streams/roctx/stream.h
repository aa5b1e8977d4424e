/* SPDX-License-Identifier: MIT */
/* The description of the stream rtl.roctx. Constant. */
#ifndef STREAMS_ROCTX_STREAM_H
#define STREAMS_ROCTX_STREAM_H

#include <rtl/types.h>

extern const struct rtl_stream_info roctx_stream_info;

#endif
