/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from the descriptions beside it. Not to be edited. */
/* What the streams of rtl's libraries say of themselves. Constant. */
#ifndef STREAMS_EVENTS_H
#define STREAMS_EVENTS_H

#include <rtl/types.h>

extern const struct rtl_stream_info hsa_stream_info;
extern const struct rtl_stream_info copy_stream_info;
extern const struct rtl_stream_info memory_stream_info;
extern const struct rtl_stream_info call_stream_info;
extern const struct rtl_stream_info call_debug_stream_info;
extern const struct rtl_stream_info hip_call_stream_info;
extern const struct rtl_stream_info hip_call_debug_stream_info;
extern const struct rtl_stream_info roctx_stream_info;
extern const struct rtl_stream_info counter_stream_info;
extern const struct rtl_stream_info counter_debug_stream_info;
extern const struct rtl_stream_info xpti_sycl_info;
extern const struct rtl_stream_info xpti_calls_info;
extern const struct rtl_stream_info xpti_buffer_info;
extern const struct rtl_stream_info xpti_memory_info;
extern const struct rtl_stream_info xpti_other_info;

/* Addresses of those of librtl_rocm.so, for an initializer. */
#define EVENTS_STREAMS \
	&hsa_stream_info, \
	&copy_stream_info, \
	&memory_stream_info, \
	&call_stream_info, \
	&call_debug_stream_info, \
	&hip_call_stream_info, \
	&hip_call_debug_stream_info, \
	&roctx_stream_info, \
	&counter_stream_info, \
	&counter_debug_stream_info

#endif
