/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from hip_call.toml. Not to be edited. */
#include <rtl/describe.h>
#include <rtl/events/hip_call.h>

#include "events.h"

/* The layout is part of what subscribers are compiled with: nothing lies between members. */
_Static_assert(sizeof(struct rtl_hip_call) == 72, "rtl_hip_call");
_Static_assert(sizeof(struct rtl_hip_call_debug) == 80, "rtl_hip_call_debug");

#define RTL_HIP_CALL_FIELDS \
	RTL_FIELD_OF(0, struct rtl_hip_call, begin_ns, RTL_KIND_TIME, "ns", "when it was called"), \
	RTL_FIELD_OF(0, struct rtl_hip_call, end_ns, RTL_KIND_TIME, "ns", "when it returned; 0 in a begin"), \
	RTL_FIELD_OF(1, struct rtl_hip_call, function, RTL_KIND_STRING, "", "its name"), \
	RTL_FIELD_OF(1, struct rtl_hip_call, status, RTL_KIND_STRING, "", "the hipError_t or hiprtcResult that it returned; 0: none"), \
	RTL_FIELD_OF(1, struct rtl_hip_call, result, RTL_KIND_INT, "", "what it returned, as a number or address; 0: nothing"), \
	RTL_FIELD_OF(0, struct rtl_hip_call, parent, RTL_KIND_UINT, "", "instance of the call or region around it; 0: none"), \
	RTL_FIELD_OF(1, struct rtl_hip_call, hip_stream, RTL_KIND_ADDRESS, "", "the hipStream_t among its arguments, see RTL_HIP_CALL_STREAM; 0: the null stream"), \
	RTL_FIELD_OF(1, struct rtl_hip_call, device, RTL_KIND_INT, "", "the device among its arguments; -1: none"), \
	RTL_FIELD_OF(1, struct rtl_hip_call, flags, RTL_KIND_UINT, "", "bits: 1 failed, 2 stream, 4 unfinished"), \
	RTL_FIELD_OF(1, struct rtl_hip_call, work, RTL_KIND_UINT, "", "dispatches and copies with its correlation that its own thread had handed to GPUs when it returned; 0 in a begin"), \
	RTL_FIELD_OF(1, struct rtl_hip_call, tid, RTL_KIND_UINT, "", "of one that has not ended, its thread; else 0")

static const struct rtl_field rtl_hip_call_fields[] = {
	RTL_HIP_CALL_FIELDS,
};

static const struct rtl_field rtl_hip_call_debug_fields[] = {
	RTL_HIP_CALL_FIELDS,
	RTL_FIELD_OF(0, struct rtl_hip_call_debug, args, RTL_KIND_VALUES, "", "the arguments; with a star, what it has written"),
};

static const struct rtl_type_info hip_call_stream_types[] = {
	RTL_TYPE_INFO_REPEATED(RTL_FUNCTION_BEGIN, RTL_FUNCTION_END, "function_begin", struct rtl_hip_call, rtl_hip_call_fields, "a function was called"),
	RTL_TYPE_INFO_REPEATED(RTL_FUNCTION_END, RTL_IN_DEBUG | RTL_FUNCTION_WITH_ARGS_END, "function_end", struct rtl_hip_call, rtl_hip_call_fields, "a function has returned; repeats what function_begin said"),
	RTL_TYPE_INFO_REPEATED(RTL_FUNCTION_UNFINISHED, RTL_IN_DEBUG | RTL_FUNCTION_WITH_ARGS_UNFINISHED, "function_unfinished", struct rtl_hip_call, rtl_hip_call_fields, "a function had not returned when the process ended"),
};

const struct rtl_stream_info hip_call_stream_info =
	RTL_STREAM_INFO(RTL_STREAM_HIP_CALL, RTL_STREAM_HIP_CALL_VERSION, RTL_STREAM_HIP_CALL_VERSION_MINOR, hip_call_stream_types, "Calls of the HIP API (modes hip and full)");

static const struct rtl_type_info hip_call_debug_stream_types[] = {
	RTL_TYPE_INFO_REPEATED(RTL_FUNCTION_WITH_ARGS_BEGIN, RTL_FUNCTION_WITH_ARGS_END, "function_with_args_begin", struct rtl_hip_call_debug, rtl_hip_call_debug_fields, "a function was called"),
	RTL_TYPE_INFO(RTL_FUNCTION_WITH_ARGS_END, "function_with_args_end", struct rtl_hip_call_debug, rtl_hip_call_debug_fields, "a function has returned; repeats what the begin said"),
	RTL_TYPE_INFO(RTL_FUNCTION_WITH_ARGS_UNFINISHED, "function_with_args_unfinished", struct rtl_hip_call_debug, rtl_hip_call_debug_fields, "a function had not returned when the process ended"),
};

const struct rtl_stream_info hip_call_debug_stream_info =
	RTL_STREAM_INFO(RTL_STREAM_HIP_CALL_DEBUG, RTL_STREAM_HIP_CALL_DEBUG_VERSION, RTL_STREAM_HIP_CALL_DEBUG_VERSION_MINOR, hip_call_debug_stream_types, "Calls of the HIP API with their arguments (modes hip and full)");
