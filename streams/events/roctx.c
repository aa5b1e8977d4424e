/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from roctx.toml. Not to be edited. */
#include <rtl/describe.h>
#include <rtl/events/roctx.h>

#include "events.h"

/* The layout is part of what subscribers are compiled with: nothing lies between members. */
_Static_assert(sizeof(struct rtl_roctx_range) == 56, "rtl_roctx_range");
_Static_assert(sizeof(struct rtl_roctx_mark) == 24, "rtl_roctx_mark");
_Static_assert(sizeof(struct rtl_roctx_name) == 24, "rtl_roctx_name");

static const struct rtl_field rtl_roctx_range_fields[] = {
	RTL_FIELD_OF(0, struct rtl_roctx_range, begin_ns, RTL_KIND_TIME, "ns", "when it was pushed or started"),
	RTL_FIELD_OF(0, struct rtl_roctx_range, end_ns, RTL_KIND_TIME, "ns", "when it was popped or stopped; 0 in a begin"),
	RTL_FIELD_OF(0, struct rtl_roctx_range, parent, RTL_KIND_UINT, "", "instance of the range or call around it; 0: none"),
	RTL_FIELD_OF(0, struct rtl_roctx_range, id, RTL_KIND_UINT, "", "of a started range, the program's roctx_range_id_t; else 0"),
	RTL_FIELD_OF(1, struct rtl_roctx_range, begin_tid, RTL_KIND_UINT, "", "thread that pushed or started it"),
	RTL_FIELD_OF(1, struct rtl_roctx_range, level, RTL_KIND_INT, "", "how many pushed ranges were around it; -1: it was started"),
	RTL_FIELD_OF(1, struct rtl_roctx_range, flags, RTL_KIND_UINT, "", "bits: 1 cut, 2 started, 4 unfinished"),
	RTL_FIELD_OF(1, struct rtl_roctx_range, name, RTL_KIND_TEXT, "", "what the program calls it"),
};

static const struct rtl_field rtl_roctx_mark_fields[] = {
	RTL_FIELD_OF(0, struct rtl_roctx_mark, parent, RTL_KIND_UINT, "", "instance of the range or call around it; 0: none"),
	RTL_FIELD_OF(0, struct rtl_roctx_mark, flags, RTL_KIND_UINT, "", "bits: 1 cut, 2 started, 4 unfinished"),
	RTL_FIELD_OF(0, struct rtl_roctx_mark, name, RTL_KIND_TEXT, "", "what the program says"),
};

static const struct rtl_field rtl_roctx_name_fields[] = {
	RTL_FIELD_OF(0, struct rtl_roctx_name, object, RTL_KIND_ADDRESS, "", "thread, agent, device or stream"),
	RTL_FIELD_OF(0, struct rtl_roctx_name, kind, RTL_KIND_UINT, "", "what it is: 1 thread, 2 agent, 3 device, 4 stream"),
	RTL_FIELD_OF(0, struct rtl_roctx_name, flags, RTL_KIND_UINT, "", "bits: 1 cut, 2 started, 4 unfinished"),
	RTL_FIELD_OF(0, struct rtl_roctx_name, name, RTL_KIND_TEXT, "", "its name"),
};

static const struct rtl_type_info roctx_stream_types[] = {
	RTL_TYPE_INFO_REPEATED(RTL_REGION_BEGIN, RTL_REGION_END, "region_begin", struct rtl_roctx_range, rtl_roctx_range_fields, "a range was pushed or started"),
	RTL_TYPE_INFO(RTL_REGION_END, "region_end", struct rtl_roctx_range, rtl_roctx_range_fields, "a range was popped or stopped; repeats what region_begin said"),
	RTL_TYPE_INFO(RTL_REGION_UNFINISHED, "region_unfinished", struct rtl_roctx_range, rtl_roctx_range_fields, "a range was open when the process ended"),
	RTL_TYPE_INFO(RTL_SIGNAL, "mark", struct rtl_roctx_mark, rtl_roctx_mark_fields, "a mark"),
	RTL_TYPE_INFO(RTL_METADATA, "name", struct rtl_roctx_name, rtl_roctx_name_fields, "the program has named something"),
};

const struct rtl_stream_info roctx_stream_info =
	RTL_STREAM_INFO(RTL_STREAM_ROCTX, RTL_STREAM_ROCTX_VERSION, RTL_STREAM_ROCTX_VERSION_MINOR, roctx_stream_types, "Ranges and marks of the program, by roctx (modes hip and full)");
