/* SPDX-License-Identifier: MIT */
/* See stream.h: payloads as in rtl/rocm.h. */
#include "stream.h"

#include <rtl/rocm.h>

#include "../common/describe.h"

_Static_assert(sizeof(struct rtl_roctx_range) == 56, "rtl_roctx_range");
_Static_assert(offsetof(struct rtl_roctx_range, name) == 48, "rtl_roctx_range");
_Static_assert(sizeof(struct rtl_roctx_mark) == 24, "rtl_roctx_mark");
_Static_assert(sizeof(struct rtl_roctx_name) == 24, "rtl_roctx_name");

#define R(member, kind, unit, text) FIELD(struct rtl_roctx_range, member, kind, unit, text)
static const struct rtl_field range_fields[] = {
	R(begin_ns, RTL_KIND_TIME, "ns", "when it was pushed or started"),
	R(end_ns, RTL_KIND_TIME, "ns", "when it was popped or stopped; none in a begin"),
	R(parent, RTL_KIND_UINT, "", "instance of the range or call around it; 0: none"),
	R(id, RTL_KIND_UINT, "", "of a started range, the program's number for it"),
	R(begin_tid, RTL_KIND_UINT, "", "thread that pushed or started it"),
	R(level, RTL_KIND_INT, "", "pushed ranges around it; -1: it was started"),
	R(flags, RTL_KIND_UINT, "",
	  "1: the name is cut, 2: started, not pushed, 4: it has not ended"),
	R(name, RTL_KIND_TEXT, "", "what the program calls it"),
};

#define M(member, kind, unit, text) FIELD(struct rtl_roctx_mark, member, kind, unit, text)
static const struct rtl_field mark_fields[] = {
	M(parent, RTL_KIND_UINT, "", "instance of the range or call around it; 0: none"),
	M(flags, RTL_KIND_UINT, "", "1: the name is cut"),
	M(name, RTL_KIND_TEXT, "", "what the program says"),
};

#define N(member, kind, unit, text) FIELD(struct rtl_roctx_name, member, kind, unit, text)
static const struct rtl_field name_fields[] = {
	N(object, RTL_KIND_ADDRESS, "", "thread, agent, device or stream"),
	N(kind, RTL_KIND_UINT, "", "1: thread, 2: HSA agent, 3: HIP device, 4: HIP stream"),
	N(flags, RTL_KIND_UINT, "", "1: the name is cut"),
	N(name, RTL_KIND_TEXT, "", "its name"),
};

static const struct rtl_type_info types[] = {
	TYPE(RTL_REGION_BEGIN, "region_begin", struct rtl_roctx_range, range_fields,
	     "a range was pushed or started"),
	TYPE(RTL_REGION_END, "region_end", struct rtl_roctx_range, range_fields,
	     "a range was popped or stopped; repeats what region_begin said"),
	TYPE(RTL_REGION_UNFINISHED, "region_unfinished", struct rtl_roctx_range, range_fields,
	     "a range was open when the process ended"),
	TYPE(RTL_SIGNAL, "mark", struct rtl_roctx_mark, mark_fields, "a mark"),
	TYPE(RTL_METADATA, "name", struct rtl_roctx_name, name_fields,
	     "the program has named something"),
};

const struct rtl_stream_info roctx_stream_info = {
	.struct_size = sizeof(struct rtl_stream_info),
	.version_major = RTL_STREAM_ROCTX_VERSION,
	.name = RTL_STREAM_ROCTX,
	.description = "Ranges and marks of the program, by roctx (modes hip and full)",
	.types = types,
	.type_count = COUNT(types),
};
