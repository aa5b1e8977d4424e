/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from hsa_call.toml. Not to be edited. */
#include <rtl/describe.h>
#include <rtl/events/hsa_call.h>

#include "events.h"

/* The layout is part of what subscribers are compiled with: nothing lies between members. */
_Static_assert(sizeof(struct rtl_hsa_call) == 40, "rtl_hsa_call");
_Static_assert(sizeof(struct rtl_hsa_call_debug) == 48, "rtl_hsa_call_debug");

#define RTL_HSA_CALL_FIELDS \
	RTL_FIELD_OF(0, struct rtl_hsa_call, begin_ns, RTL_KIND_TIME, "ns", "when it was called; 0 in a begin"), \
	RTL_FIELD_OF(0, struct rtl_hsa_call, end_ns, RTL_KIND_TIME, "ns", "when it returned; 0 in a begin"), \
	RTL_FIELD_OF(1, struct rtl_hsa_call, function, RTL_KIND_STRING, "", "its name"), \
	RTL_FIELD_OF(1, struct rtl_hsa_call, status, RTL_KIND_STRING, "", "the hsa_status_t that it returned; 0: it returns none"), \
	RTL_FIELD_OF(1, struct rtl_hsa_call, result, RTL_KIND_INT, "", "what it returned, as a number; 0: nothing")

static const struct rtl_field rtl_hsa_call_fields[] = {
	RTL_HSA_CALL_FIELDS,
};

static const struct rtl_field rtl_hsa_call_debug_fields[] = {
	RTL_HSA_CALL_FIELDS,
	RTL_FIELD_OF(0, struct rtl_hsa_call_debug, args, RTL_KIND_VALUES, "", "the arguments; with a star, what it has written"),
};

static const struct rtl_type_info call_stream_types[] = {
	RTL_TYPE_INFO_REPEATED(RTL_FUNCTION_BEGIN, RTL_FUNCTION_END, "function_begin", struct rtl_hsa_call, rtl_hsa_call_fields, "a function was called"),
	RTL_TYPE_INFO_REPEATED(RTL_FUNCTION_END, RTL_IN_DEBUG | RTL_FUNCTION_WITH_ARGS_END, "function_end", struct rtl_hsa_call, rtl_hsa_call_fields, "a function has returned"),
};

const struct rtl_stream_info call_stream_info =
	RTL_STREAM_INFO(RTL_STREAM_HSA_CALL, RTL_STREAM_HSA_CALL_VERSION, RTL_STREAM_HSA_CALL_VERSION_MINOR, call_stream_types, "Calls of the HSA runtime (mode full)");

static const struct rtl_type_info call_debug_stream_types[] = {
	RTL_TYPE_INFO_REPEATED(RTL_FUNCTION_WITH_ARGS_BEGIN, RTL_FUNCTION_WITH_ARGS_END, "function_with_args_begin", struct rtl_hsa_call_debug, rtl_hsa_call_debug_fields, "a function was called"),
	RTL_TYPE_INFO(RTL_FUNCTION_WITH_ARGS_END, "function_with_args_end", struct rtl_hsa_call_debug, rtl_hsa_call_debug_fields, "a function has returned"),
};

const struct rtl_stream_info call_debug_stream_info =
	RTL_STREAM_INFO(RTL_STREAM_HSA_CALL_DEBUG, RTL_STREAM_HSA_CALL_DEBUG_VERSION, RTL_STREAM_HSA_CALL_DEBUG_VERSION_MINOR, call_debug_stream_types, "Calls of the HSA runtime with their arguments (mode full)");
