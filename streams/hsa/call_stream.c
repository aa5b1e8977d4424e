/* SPDX-License-Identifier: MIT */
/* The descriptions of rtl.hsa.call and rtl.hsa.call.debug: payloads as in rtl/rocm.h. Constant. */
#include <rtl/rocm.h>

#include "../common/describe.h"
#include "calls.h"

_Static_assert(sizeof(struct rtl_hsa_call) == 40, "rtl_hsa_call");
_Static_assert(offsetof(struct rtl_hsa_call, result) == 32, "rtl_hsa_call");
_Static_assert(sizeof(struct rtl_hsa_call_debug) == 48, "rtl_hsa_call_debug");
_Static_assert(offsetof(struct rtl_hsa_call_debug, args) == 40, "rtl_hsa_call_debug");

#define C(member, kind, unit, text) FIELD(struct rtl_hsa_call, member, kind, unit, text)
#define CALL_FIELDS                                                                                \
	C(begin_ns, RTL_KIND_TIME, "ns", "when it was called; none in a begin"),                   \
		C(end_ns, RTL_KIND_TIME, "ns", "when it returned; none in a begin"),               \
		C(function, RTL_KIND_STRING, "", "its name"),                                      \
		C(status, RTL_KIND_STRING, "", "the hsa_status_t that it returned, if it does"),   \
		C(result, RTL_KIND_INT, "", "what it returned; 0 if nothing")

static const struct rtl_field call_fields[] = {CALL_FIELDS};

static const struct rtl_field debug_fields[] = {
	CALL_FIELDS,
	FIELD(struct rtl_hsa_call_debug, args, RTL_KIND_ARGS, "",
	      "the arguments; with a star, what it has written"),
};

static const struct rtl_type_info call_types[] = {
	TYPE(RTL_FUNCTION_BEGIN, "function_begin", struct rtl_hsa_call, call_fields,
	     "a function was called"),
	TYPE(RTL_FUNCTION_END, "function_end", struct rtl_hsa_call, call_fields,
	     "a function has returned"),
};

static const struct rtl_type_info debug_types[] = {
	TYPE(RTL_FUNCTION_WITH_ARGS_BEGIN, "function_with_args_begin", struct rtl_hsa_call_debug,
	     debug_fields, "a function was called"),
	TYPE(RTL_FUNCTION_WITH_ARGS_END, "function_with_args_end", struct rtl_hsa_call_debug,
	     debug_fields, "a function has returned"),
};

const struct rtl_stream_info call_stream_info = {
	.struct_size = sizeof(struct rtl_stream_info),
	.version_major = RTL_STREAM_HSA_CALL_VERSION,
	.name = RTL_STREAM_HSA_CALL,
	.description = "Calls of the HSA runtime (mode full)",
	.types = call_types,
	.type_count = COUNT(call_types),
};

const struct rtl_stream_info call_debug_stream_info = {
	.struct_size = sizeof(struct rtl_stream_info),
	.version_major = RTL_STREAM_HSA_CALL_VERSION,
	.name = RTL_STREAM_HSA_CALL_DEBUG,
	.description = "Calls of the HSA runtime with their arguments (mode full)",
	.types = debug_types,
	.type_count = COUNT(debug_types),
};
