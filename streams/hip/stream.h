/* SPDX-License-Identifier: MIT */
/* The descriptions of the streams rtl.hip.call and rtl.hip.call.debug. Constant. */
#ifndef STREAMS_HIP_STREAM_H
#define STREAMS_HIP_STREAM_H

#include <rtl/types.h>

extern const struct rtl_stream_info hip_call_stream_info, hip_call_debug_stream_info;

#endif
