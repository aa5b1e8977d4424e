/* SPDX-License-Identifier: MIT */
/* The wrappers' way into the runtime's tables, and what they are made of: see calls.h. */
#include "calls.h"

#include <rtl/events.h>
#include <stdlib.h>
#include <string.h>

#include "events/events.h"
#include "interceptor.h"
#include "memory.h"

struct call_streams call_streams = {&rtl_stream_none, &rtl_stream_none};

static const struct call_enumeration *statuses; /* NULL: there is no memory for them */

uint64_t calls_status_string(int status)
{
	return call_enumeration_name(statuses, status);
}

/* What there is no memory for is without a name. */
void calls_name_all(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	for (uint32_t i = 0; i < call_function_count; i++) {
		const struct rtl_tracepoint_desc desc = {.struct_size = sizeof(desc),
							 .kind = "function",
							 .name = call_functions[i].name,
							 .source = "libhsa-runtime64"};

		(void)rtl_tracepoint_register(&desc, &call_function_ids[i].uid);
		call_function_ids[i].name = interceptor_string(call_functions[i].name);
	}
	if (call_enumeration_prepare(calls_statuses()))
		statuses = calls_statuses();
}

static void describe_all(void)
{
	const bool all = rtl_stream_asked(RTL_STREAM_HSA_CALL);

	for (uint32_t i = 0; i < call_function_count; i++) {
		const struct call_signature *signature = &call_functions[i].signature;

		call_describe(signature, call_functions[i].types, call_function_ids[i].uid);
		call_function_ids[i].value_bytes = call_value_bytes(signature, signature->count);
		/* Libraries of kernels ask for properties by the million. */
		call_function_ids[i].left_out = !all && strstr(call_functions[i].name, "_get_info");
	}
}

void calls_register(void)
{
	static bool done;

	if (done ||
	    (interceptor.config.mode != CONFIG_FULL && !rtl_stream_asked(RTL_STREAM_HSA_CALL)))
		return;
	if (rtl_stream_register(&call_stream_info, &call_streams.plain) ||
	    rtl_stream_register(&call_debug_stream_info, &call_streams.debug)) {
		call_streams.plain = call_streams.debug = &rtl_stream_none;
		rtl_log(RTL_LEVEL_ERROR, "hsa", "no room for the streams of HSA calls");
		return;
	}
	calls_name_all();
	describe_all();
	done = true;
}

static bool has_calls(void)
{
	return call_streams.plain != &rtl_stream_none;
}

static uint32_t hook_table(struct function_table *table, enum call_table which)
{
	uint32_t known = 0;

	for (uint32_t i = 0; i < call_function_count; i++) {
		void **entry;

		if (call_functions[i].table != which)
			continue;
		entry = calls_entry(table, i);
		if (!entry)
			continue;
		known++;
		if (!*entry || *entry == call_wrappers[i] ||
		    (!has_calls() && !call_is_of_memory(i)))
			continue;
		call_next[i] = *entry;
		*entry = call_wrappers[i];
	}
	return table_entry_count(table) - known;
}

void calls_hook(struct root_table *root)
{
	uint32_t unknown = 0;

	if (!has_calls() && !memory_is_registered())
		return;
	for (enum call_table which = CALL_TABLE_CORE; which <= CALL_TABLE_IMAGE; which++) {
		if (calls_table(root, which))
			unknown += hook_table(calls_table(root, which), which);
	}
	if (unknown && has_calls())
		rtl_log(RTL_LEVEL_INFO, "hsa",
			"%u functions of this HSA runtime are newer than rtl: calls of them are "
			"not traced",
			unknown);
}
