/* SPDX-License-Identifier: MIT */
/* See stream.h: payloads as in rtl/rocm.h. */
#include "stream.h"

#include <rtl/rocm.h>

#include "../common/describe.h"

_Static_assert(sizeof(struct rtl_hip_call) == 72, "rtl_hip_call");
_Static_assert(offsetof(struct rtl_hip_call, result) == 32, "rtl_hip_call");
_Static_assert(offsetof(struct rtl_hip_call, device) == 56, "rtl_hip_call");

_Static_assert(sizeof(struct rtl_hip_call_debug) == 80, "rtl_hip_call_debug");
_Static_assert(offsetof(struct rtl_hip_call_debug, args) == 72, "rtl_hip_call_debug");
/* What both APIs' calls say stands in the same places. */
_Static_assert(offsetof(struct rtl_hip_call, function) == offsetof(struct rtl_hsa_call, function) &&
		       offsetof(struct rtl_hip_call, result) ==
			       offsetof(struct rtl_hsa_call, result),
	       "rtl_hip_call");

#define C(member, kind, unit, text) FIELD(struct rtl_hip_call, member, kind, unit, text)
#define CALL_FIELDS                                                                                \
	C(begin_ns, RTL_KIND_TIME, "ns", "when it was called"),                                    \
		C(end_ns, RTL_KIND_TIME, "ns", "when it returned; none in a begin"),               \
		C(function, RTL_KIND_STRING, "", "its name"),                                      \
		C(status, RTL_KIND_STRING, "", "the hipError_t or hiprtcResult that it returned"), \
		C(result, RTL_KIND_INT, "", "what it returned, as a number"),                      \
		C(parent, RTL_KIND_UINT, "", "instance of the call or region around it; 0: none"), \
		C(stream, RTL_KIND_ADDRESS, "",                                                    \
		  "the hipStream_t among its arguments; 0: the null stream"),                      \
		C(device, RTL_KIND_INT, "", "the device among its arguments; -1: none"),           \
		C(flags, RTL_KIND_UINT, "",                                                        \
		  "1: it failed, 2: a stream is among its arguments, 4: it has not ended"),        \
		C(work, RTL_KIND_UINT, "",                                                         \
		  "dispatches and copies that its thread submitted until it returned; at least"),  \
		C(tid, RTL_KIND_UINT, "", "of one that has not ended, its thread")

static const struct rtl_field call_fields[] = {CALL_FIELDS};

static const struct rtl_field debug_fields[] = {
	CALL_FIELDS,
	FIELD(struct rtl_hip_call_debug, args, RTL_KIND_ARGS, "",
	      "the arguments; with a star, what it has written"),
};

static const struct rtl_type_info call_types[] = {
	TYPE(RTL_FUNCTION_BEGIN, "function_begin", struct rtl_hip_call, call_fields,
	     "a function was called"),
	TYPE(RTL_FUNCTION_END, "function_end", struct rtl_hip_call, call_fields,
	     "a function has returned; repeats what function_begin said"),
	TYPE(RTL_FUNCTION_UNFINISHED, "function_unfinished", struct rtl_hip_call, call_fields,
	     "a function had not returned when the process ended"),
};

static const struct rtl_type_info debug_types[] = {
	TYPE(RTL_FUNCTION_WITH_ARGS_BEGIN, "function_with_args_begin", struct rtl_hip_call_debug,
	     debug_fields, "a function was called"),
	TYPE(RTL_FUNCTION_WITH_ARGS_END, "function_with_args_end", struct rtl_hip_call_debug,
	     debug_fields, "a function has returned; repeats what the begin said"),
	TYPE(RTL_FUNCTION_WITH_ARGS_UNFINISHED, "function_with_args_unfinished",
	     struct rtl_hip_call_debug, debug_fields,
	     "a function had not returned when the process ended"),
};

const struct rtl_stream_info hip_call_stream_info = {
	.struct_size = sizeof(struct rtl_stream_info),
	.version_major = RTL_STREAM_HIP_CALL_VERSION,
	.name = RTL_STREAM_HIP_CALL,
	.description = "Calls of the HIP API (modes hip and full)",
	.types = call_types,
	.type_count = COUNT(call_types),
};

const struct rtl_stream_info hip_call_debug_stream_info = {
	.struct_size = sizeof(struct rtl_stream_info),
	.version_major = RTL_STREAM_HIP_CALL_VERSION,
	.name = RTL_STREAM_HIP_CALL_DEBUG,
	.description = "Calls of the HIP API with their arguments (modes hip and full)",
	.types = debug_types,
	.type_count = COUNT(debug_types),
};
