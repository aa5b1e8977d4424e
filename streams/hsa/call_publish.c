/* SPDX-License-Identifier: MIT */
/*
 * Events of rtl.hsa.call and rtl.hsa.call.debug: what the wrappers of HSA functions call around the
 * real ones.
 *
 * Arguments are read where the application can no longer be hurt by it: values that a function
 * has written only after it has succeeded, texts by a system call that fails where reading would
 * crash.
 *
 * Threads: the caller's, any. No locks. An event may wait for room in a ring, but for the runtime's
 * own handler thread, on which completions depend: there it is discarded, and counted.
 */
#include <rtl/events.h>
#include <string.h>

#include "../common/paused.h"
#include "../common/text.h"
#include "../common/value.h"
#include "calls.h"
#include "handler_thread.h"

/* The name of a number of an enumeration; 0: it has none. */
static uint64_t enumerator(uint32_t enumeration, int32_t value)
{
	uint32_t low = call_enums[enumeration].first;
	uint32_t high = low + call_enums[enumeration].count;

	/* Most count from 0. */
	if (value >= 0 && (uint32_t)value < high - low &&
	    call_enumerators[low + (uint32_t)value].value == value)
		return call_enumerator_ids[low + (uint32_t)value];
	while (low < high) {
		const uint32_t middle = (low + high) / 2;

		if (call_enumerators[middle].value == value)
			return call_enumerator_ids[middle];
		if (call_enumerators[middle].value < value)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

uint64_t calls_status_string(int status)
{
	return enumerator(call_status_enum, status);
}

/* Whether an argument has been written: then its value stands in the place of its address. */
static inline bool written(const struct call_argument *argument, bool succeeded, uint64_t value)
{
	return argument->out_bytes && succeeded && value;
}

static void load_written(const struct call_function *f, uint64_t *values, uint64_t *addresses)
{
	for (uint32_t i = 0; i < f->argument_count; i++) {
		const struct call_argument *argument = &call_arguments[f->first_argument + i];

		addresses[i] = values[i];
		if (written(argument, true, values[i]))
			values[i] = value_load(values[i], argument->out_bytes,
					       argument->kind == RTL_KIND_INT);
	}
}

static inline void set_arg(struct rtl_arg *arg, const struct call_argument *argument,
			   uint64_t value, bool is_written)
{
	arg->value.number = value;
	arg->kind = argument->out_bytes && !is_written ? RTL_KIND_ADDRESS : argument->kind;
	arg->flags = is_written ? RTL_ARG_OUT : 0;
	arg->reserved = 0;
	if (argument->enumeration && arg->kind == RTL_KIND_INT) {
		const uint64_t name = enumerator(argument->enumeration, (int32_t)value);

		if (name) {
			arg->value.number = name;
			arg->kind = RTL_KIND_STRING;
		}
	}
}

/* The texts of a call: of arguments in the order in which they stand there. */
static uint32_t read_texts(const struct call_function *f, const uint64_t *values, bool succeeded,
			   struct text *texts)
{
	uint32_t count = 0, bytes = 0;

	for (uint32_t i = 0; i < f->argument_count && count < CALL_TEXTS; i++) {
		const struct call_argument *argument = &call_arguments[f->first_argument + i];

		if (argument->kind != RTL_KIND_TEXT)
			continue;
		if (argument->out_bytes && !succeeded)
			texts[count].there = false;
		else
			text_read(&texts[count], values[i]);
		bytes += texts[count].there ? texts[count].length : 0;
		count++;
	}
	return bytes;
}

static void set_text(struct rtl_arg *arg, const struct text *text, void *payload, uint32_t *end)
{
	if (!text->there) {
		arg->kind = RTL_KIND_ADDRESS;
		return;
	}
	arg->value.text = (struct rtl_text){*end, text->length};
	arg->flags |= text->cut ? RTL_ARG_CUT : 0;
	memcpy((char *)payload + *end, text->bytes, text->length);
	*end += text->length;
}

/* addresses: the arguments as they were; NULL: nothing has been written. */
static void fill_args(const struct call_function *f, struct rtl_hsa_call_debug *payload,
		      const uint64_t *values, const uint64_t *addresses, const struct text *texts)
{
	struct rtl_arg *args = (struct rtl_arg *)(payload + 1);
	uint32_t end = (uint32_t)(sizeof(*payload) + f->argument_count * sizeof(*args));

	payload->args =
		(struct rtl_text){sizeof(*payload), f->argument_count * (uint32_t)sizeof(*args)};
	for (uint32_t i = 0; i < f->argument_count; i++) {
		const struct call_argument *argument = &call_arguments[f->first_argument + i];

		args[i].name = call_argument_ids[f->first_argument + i];
		set_arg(&args[i], argument, values[i],
			addresses && written(argument, true, addresses[i]));
		if (__builtin_expect(argument->kind == RTL_KIND_TEXT, 0))
			set_text(&args[i], texts++, payload, &end);
	}
}

static struct rtl_record *reserve(struct rtl_stream *stream, uint16_t type, uint32_t size)
{
	return __builtin_expect(handler_thread_is_this(), 0)
		       ? rtl_try_reserve(stream, type, size)
		       : rtl_reserve_in_scope(stream, type, size);
}

static inline uint32_t debug_size(const struct call_function *f, uint32_t text_bytes)
{
	return (uint32_t)(sizeof(struct rtl_hsa_call_debug) +
			  f->argument_count * sizeof(struct rtl_arg) + text_bytes);
}

static __attribute__((noinline, cold)) void publish_begins(uint32_t number, uint64_t instance,
							   const uint64_t *values)
{
	const struct call_function *f = &call_functions[number];
	const struct call_function_ids *ids = &call_function_ids[number];
	struct text texts[CALL_TEXTS];
	struct rtl_record *record = NULL;

	if (rtl_enabled(call_streams.plain, RTL_FUNCTION_BEGIN))
		record = reserve(call_streams.plain, RTL_FUNCTION_BEGIN,
				 sizeof(struct rtl_hsa_call));
	if (record) {
		record->uid = ids->uid;
		record->instance = instance;
		*(struct rtl_hsa_call *)rtl_record_payload(record) =
			(struct rtl_hsa_call){.function = ids->name};
		rtl_commit(record);
	}
	if (!rtl_enabled(call_streams.debug, RTL_FUNCTION_WITH_ARGS_BEGIN))
		return;
	const uint32_t bytes = f->text_count ? read_texts(f, values, false, texts) : 0;

	record = reserve(call_streams.debug, RTL_FUNCTION_WITH_ARGS_BEGIN, debug_size(f, bytes));
	if (record) {
		struct rtl_hsa_call_debug *payload = rtl_record_payload(record);

		record->uid = ids->uid;
		record->instance = instance;
		payload->call = (struct rtl_hsa_call){.function = ids->name};
		fill_args(f, payload, values, NULL, texts);
		rtl_commit(record);
	}
}

/* The frame of the outermost wrapper on this thread whose function does not call back; NULL: none.
 * Calls within it have frames below. One that has not, finds what a longjmp has left. */
static __thread const char *own_ground __attribute__((tls_model("initial-exec")));

static inline bool is_of_the_runtime(const char *frame)
{
	return __builtin_expect(own_ground != NULL, 0) && frame < own_ground;
}

struct call call_begin(uint32_t number, const uint64_t *values)
{
	const char *frame = __builtin_frame_address(0);
	struct call call = {0};

	if (is_paused() || is_of_the_runtime(frame))
		return call;
	own_ground = call_functions[number].calls_back ? NULL : frame;
	call.instance = rtl_unique_id();

	if (__builtin_expect(rtl_enabled(call_streams.plain, RTL_FUNCTION_BEGIN) ||
				     rtl_enabled(call_streams.debug, RTL_FUNCTION_WITH_ARGS_BEGIN),
			     0))
		publish_begins(number, call.instance, values);
	call.begin_ticks = rtl_ticks();
	return call;
}

/* end_ticks 0: the record's. */
static inline void fill_end(struct rtl_record *record, struct rtl_hsa_call *payload,
			    const struct call *call, uint32_t number, uint64_t end_ticks,
			    uint64_t result)
{
	const struct call_function *f = &call_functions[number];

	record->uid = call_function_ids[number].uid;
	record->instance = call->instance;
	payload->begin_ns = rtl_ticks_to_ns(call->begin_ticks);
	payload->end_ns = rtl_ticks_to_ns(end_ticks ? end_ticks : record->ticks);
	payload->function = call_function_ids[number].name;
	payload->status = f->has_status ? enumerator(call_status_enum, (int32_t)result) : 0;
	payload->result = (int64_t)result;
}

static void publish_end_debug(const struct call *call, uint32_t number, uint64_t *values,
			      uint64_t end_ticks, uint64_t result)
{
	const struct call_function *f = &call_functions[number];
	const bool succeeded = f->has_status && !(uint32_t)result;
	uint64_t addresses[CALL_ARGUMENTS];
	struct text texts[CALL_TEXTS];
	struct rtl_record *record;
	uint32_t bytes = 0;

	if (f->out_count && succeeded)
		load_written(f, values, addresses);
	if (f->text_count)
		bytes = read_texts(f, values, succeeded, texts);
	record = reserve(call_streams.debug, RTL_FUNCTION_WITH_ARGS_END, debug_size(f, bytes));
	if (!record)
		return;
	struct rtl_hsa_call_debug *payload = rtl_record_payload(record);

	fill_end(record, &payload->call, call, number, end_ticks, result);
	fill_args(f, payload, values, f->out_count && succeeded ? addresses : NULL, texts);
	rtl_commit(record);
}

void call_end(const struct call *call, uint32_t number, uint64_t *values, uint64_t result)
{
	/* Where work lies between the call's end and the record, the end is read here. */
	uint64_t end_ticks = call_functions[number].text_count ? rtl_ticks() : 0;
	struct rtl_record *record;

	if (!call->begin_ticks)
		return;
	own_ground = NULL;

	if (rtl_enabled(call_streams.plain, RTL_FUNCTION_END)) {
		record = reserve(call_streams.plain, RTL_FUNCTION_END, sizeof(struct rtl_hsa_call));
		if (record) {
			end_ticks = end_ticks ? end_ticks : record->ticks;
			fill_end(record, rtl_record_payload(record), call, number, end_ticks,
				 result);
			rtl_commit(record);
		}
	}
	if (rtl_enabled(call_streams.debug, RTL_FUNCTION_WITH_ARGS_END))
		publish_end_debug(call, number, values, end_ticks, result);
}
