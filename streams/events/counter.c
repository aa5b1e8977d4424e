/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from counter.toml. Not to be edited. */
#include <rtl/describe.h>
#include <rtl/events/counter.h>

#include "events.h"

/* The layout is part of what subscribers are compiled with: nothing lies between members. */
_Static_assert(sizeof(struct rtl_hsa_counter_info) == 56, "rtl_hsa_counter_info");
_Static_assert(sizeof(struct rtl_hsa_counter) == 40, "rtl_hsa_counter");
_Static_assert(sizeof(struct rtl_hsa_counter_interval) == 48, "rtl_hsa_counter_interval");
_Static_assert(sizeof(struct rtl_hsa_counter_ledger) == 48, "rtl_hsa_counter_ledger");
_Static_assert(sizeof(struct rtl_hsa_counter_sample) == 48, "rtl_hsa_counter_sample");

static const struct rtl_field rtl_hsa_counter_info_fields[] = {
	RTL_FIELD_OF(0, struct rtl_hsa_counter_info, name, RTL_KIND_STRING, "", "name of the counter or metric"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_info, unit, RTL_KIND_STRING, "", "unit; 0: none is known"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_info, block, RTL_KIND_STRING, "", "block of a counter; 0: a metric"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_info, expression, RTL_KIND_STRING, "", "expression of a metric; 0: a counter"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_info, description, RTL_KIND_STRING, "", "what it means"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_info, gpu, RTL_KIND_UINT, "", "KFD node id of the agent"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_info, event, RTL_KIND_UINT, "", "of a counter: the number of its event in the block"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_info, pass, RTL_KIND_UINT, "", "in which pass it is counted, from 0"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_info, passes, RTL_KIND_UINT, "", "how many passes there are; they take turns from dispatch to dispatch of a kernel, or from interval to interval"),
};

static const struct rtl_field rtl_hsa_counter_fields[] = {
	RTL_FIELD_OF(0, struct rtl_hsa_counter, value, RTL_KIND_FLOAT, "", "its value: of a counter the sum of all parts of the GPU"),
	RTL_FIELD_OF(1, struct rtl_hsa_counter, name, RTL_KIND_STRING, "", "name of the counter or metric"),
	RTL_FIELD_OF(1, struct rtl_hsa_counter, kernel, RTL_KIND_UID, "", "tracepoint of the kernel"),
	RTL_FIELD_OF(1, struct rtl_hsa_counter, gpu, RTL_KIND_UINT, "", "KFD node id of the agent"),
	RTL_FIELD_OF(1, struct rtl_hsa_counter, pass, RTL_KIND_UINT, "", "in which pass it was counted, from 0"),
	RTL_FIELD_OF(1, struct rtl_hsa_counter, flags, RTL_KIND_UINT, "", "bits: 1 derived, 2 no value"),
};

static const struct rtl_field rtl_hsa_counter_interval_fields[] = {
	RTL_FIELD_OF(0, struct rtl_hsa_counter_interval, value, RTL_KIND_FLOAT, "", "its value: of a counter the sum of all parts of the GPU"),
	RTL_FIELD_OF(1, struct rtl_hsa_counter_interval, name, RTL_KIND_STRING, "", "name of the counter or metric"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_interval, begin_ns, RTL_KIND_TIME, "ns", "when the counters were read or started before"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_interval, end_ns, RTL_KIND_TIME, "ns", "when they were read"),
	RTL_FIELD_OF(1, struct rtl_hsa_counter_interval, gpu, RTL_KIND_UINT, "", "KFD node id of the agent"),
	RTL_FIELD_OF(1, struct rtl_hsa_counter_interval, pass, RTL_KIND_UINT, "", "in which pass it was counted, from 0"),
	RTL_FIELD_OF(1, struct rtl_hsa_counter_interval, flags, RTL_KIND_UINT, "", "bits: 1 derived, 2 no value"),
};

static const struct rtl_field rtl_hsa_counter_ledger_fields[] = {
	RTL_FIELD_OF(0, struct rtl_hsa_counter_ledger, dispatches, RTL_KIND_UINT, "", "dispatches seen while counters were asked for"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_ledger, counted, RTL_KIND_UINT, "", "counted, in one of the passes"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_ledger, not_asked, RTL_KIND_UINT, "", "of kernels whose counters nobody asked for"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_ledger, given_up, RTL_KIND_UINT, "", "begun to be counted and given up: something else ran, or it did not end"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_ledger, refused, RTL_KIND_UINT, "", "not counted: no library, no such counter, no room"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_ledger, gpu, RTL_KIND_UINT, "", "KFD node id of the agent"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_ledger, passes, RTL_KIND_UINT, "", "how many passes take turns; 0: nothing can be counted"),
};

static const struct rtl_field rtl_hsa_counter_sample_fields[] = {
	RTL_FIELD_OF(0, struct rtl_hsa_counter_sample, value, RTL_KIND_UINT, "", "what was counted"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_sample, name, RTL_KIND_STRING, "", "name of the basic counter"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_sample, block, RTL_KIND_STRING, "", "its block"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_sample, event, RTL_KIND_UINT, "", "the number of its event in the block"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_sample, gpu, RTL_KIND_UINT, "", "KFD node id of the agent"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_sample, xcc, RTL_KIND_UINT, "", "compute die, from 0"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_sample, engine, RTL_KIND_UINT, "", "shader engine of it, from 0; 0 where the block is not in engines"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_sample, part, RTL_KIND_UINT, "", "instance of the block, from 0"),
	RTL_FIELD_OF(0, struct rtl_hsa_counter_sample, pass, RTL_KIND_UINT, "", "in which pass it was counted"),
};

static const struct rtl_type_info counter_stream_types[] = {
	RTL_TYPE_INFO(RTL_METADATA, "metadata", struct rtl_hsa_counter_info, rtl_hsa_counter_info_fields, "a counter or metric is collected on a GPU"),
	RTL_TYPE_INFO(RTL_SIGNAL, "value", struct rtl_hsa_counter, rtl_hsa_counter_fields, "what a counter or metric was for a dispatch"),
	RTL_TYPE_INFO(RTL_SAMPLE, "interval", struct rtl_hsa_counter_interval, rtl_hsa_counter_interval_fields, "what a counter or metric of a GPU was in an interval"),
	RTL_TYPE_INFO(RTL_DIAGNOSTICS, "ledger", struct rtl_hsa_counter_ledger, rtl_hsa_counter_ledger_fields, "what has become of a GPU's dispatches so far"),
};

const struct rtl_stream_info counter_stream_info =
	RTL_STREAM_INFO(RTL_STREAM_HSA_COUNTER, RTL_STREAM_HSA_COUNTER_VERSION, RTL_STREAM_HSA_COUNTER_VERSION_MINOR, counter_stream_types, "Hardware counters and metrics, of kernel dispatches or of intervals (RTL_COUNTERS)");

static const struct rtl_type_info counter_debug_stream_types[] = {
	RTL_TYPE_INFO(RTL_SIGNAL, "sample", struct rtl_hsa_counter_sample, rtl_hsa_counter_sample_fields, "what one part of the GPU has counted of a dispatch"),
	RTL_TYPE_INFO(RTL_SAMPLE, "interval_part", struct rtl_hsa_counter_sample, rtl_hsa_counter_sample_fields, "what one part of the GPU has counted in an interval"),
};

const struct rtl_stream_info counter_debug_stream_info =
	RTL_STREAM_INFO(RTL_STREAM_HSA_COUNTER_DEBUG, RTL_STREAM_HSA_COUNTER_DEBUG_VERSION, RTL_STREAM_HSA_COUNTER_DEBUG_VERSION_MINOR, counter_debug_stream_types, "What the parts of a GPU have counted (RTL_COUNTERS, and where RTL_STREAMS names it)");
