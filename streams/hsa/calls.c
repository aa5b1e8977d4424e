/* SPDX-License-Identifier: MIT */
#include "calls.h"

#include <stdlib.h>

#include "events/events.h"
#include "interceptor.h"
#include "memory.h"
#include "parts.h"

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
	for (uint32_t i = 0; i < TABLE_FUNCTIONS; i++) {
		call_function_ids[i].uid = interceptor_tracepoint(
			"function", call_functions[i].name, "libhsa-runtime64", 0);
		call_function_ids[i].name = interceptor_string(call_functions[i].name);
	}
	if (call_enumeration_prepare(calls_statuses()))
		statuses = calls_statuses();
}

/* Libraries of kernels ask for properties by the million; HIP reads a queue's indexes and takes a place in it for each
 * packet, whose dispatch is recorded. */
static bool only_asks(const char *name)
{
	return strstr(name, "_get_info") || strstr(name, "_index_") ||
	       !strncmp(name, "hsa_signal_load_", strlen("hsa_signal_load_"));
}

static void describe_all(void)
{
	const bool all = rtl_stream_asked(RTL_STREAM_HSA_CALL);

	for (uint32_t i = 0; i < TABLE_FUNCTIONS; i++) {
		const struct call_signature *signature = &call_functions[i].signature;

		call_describe(signature, call_functions[i].types, call_function_ids[i].uid);
		call_function_ids[i].value_bytes = call_value_bytes(signature, signature->count);
		call_function_ids[i].left_out = !all && only_asks(call_functions[i].name);
	}
}

/* If the mode, or RTL_STREAMS, asks for calls. */
static void register_streams(void)
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

/* How many functions the runtime's tables have. */
static uint32_t count_entries(const struct root_table *root)
{
	const bool has_image = root->version.size > offsetof(struct root_table, image);

	return table_entry_count(root->core) + table_entry_count(root->amd) +
	       (has_image && root->image ? table_entry_count(root->image) : 0);
}

/* Puts the wrappers into the runtime's tables: after all other hooks. Those that nobody asks for, with mode or
 * streams, are left out. */
static void hook(struct root_table *root)
{
	uint32_t known = 0;

	if (!has_calls() && !memory_is_registered())
		return;
	for (uint32_t i = 0; i < TABLE_FUNCTIONS; i++) {
		void **entry = table_entry(root, i);

		known += entry != NULL;
		if (!entry || !*entry || *entry == call_wrappers[i] ||
		    (!has_calls() && !call_is_of_memory(i)))
			continue;
		call_next[i] = *entry;
		*entry = call_wrappers[i];
	}
	if (has_calls() && count_entries(root) > known)
		rtl_log(RTL_LEVEL_INFO, "hsa",
			"%u functions of this HSA runtime are newer than rtl: calls of them are "
			"not traced",
			count_entries(root) - known);
}

static const struct hsa_part calls_part = {
	.register_streams = register_streams,
	.hook = hook,
};

/* Wrappers of calls stand outermost, around the hooks of all others. */
const struct hsa_part *const hsa_parts[] = {
	&objects_part, &harvest_part, &counter_part, &submit_part, &report_part, &calls_part, NULL};
