/* SPDX-License-Identifier: MIT */
/* See stream.h: payloads as in rtl/rocm.h. */
#include "stream.h"

#include <rtl/rocm.h>

#include "../common/describe.h"

_Static_assert(sizeof(struct rtl_hip_call) == 64, "rtl_hip_call");
_Static_assert(offsetof(struct rtl_hip_call, result) == 32, "rtl_hip_call");
_Static_assert(offsetof(struct rtl_hip_call, device) == 56, "rtl_hip_call");

#define C(member, kind, unit, text) FIELD(struct rtl_hip_call, member, kind, unit, text)
static const struct rtl_field call_fields[] = {
	C(begin_ns, RTL_KIND_TIME, "ns", "when the function was called"),
	C(end_ns, RTL_KIND_TIME, "ns", "when it returned"),
	C(function, RTL_KIND_STRING, "", "its name"),
	C(status, RTL_KIND_STRING, "", "the hipError_t or hiprtcResult that it returned"),
	C(result, RTL_KIND_INT, "", "what it returned, as a number"),
	C(parent, RTL_KIND_UINT, "", "instance of the call or region around it; 0: none"),
	C(stream, RTL_KIND_ADDRESS, "", "the hipStream_t among its arguments; 0: the null stream"),
	C(device, RTL_KIND_INT, "", "the device among its arguments; -1: none"),
	C(flags, RTL_KIND_UINT, "", "1: it failed, 2: a stream is among its arguments"),
};

static const struct rtl_type_info call_types[] = {
	TYPE(RTL_FUNCTION_BEGIN, "function_begin", struct rtl_hip_call, call_fields,
	     "a function of HIP was called"),
	TYPE(RTL_FUNCTION_END, "function_end", struct rtl_hip_call, call_fields,
	     "a function of HIP has returned; repeats what function_begin said"),
};

const struct rtl_stream_info hip_call_stream_info = {
	.struct_size = sizeof(struct rtl_stream_info),
	.version_major = RTL_STREAM_HIP_CALL_VERSION,
	.name = RTL_STREAM_HIP_CALL,
	.description = "Calls of the HIP API",
	.types = call_types,
	.type_count = COUNT(call_types),
};
