/* SPDX-License-Identifier: MIT */
/*
 * Events of rtl.hsa.call and rtl.hsa.call.debug: what the wrappers of HSA functions call around the
 * real ones.
 *
 * Threads: the caller's, any. No locks. An event may wait for room in a ring, but for the runtime's
 * own handler thread, on which completions depend: there it is discarded, and counted.
 */
#include <rtl/events.h>

#include "../call/pack.h"
#include "../common/shared.h"
#include "calls.h"
#include "interceptor.h"

static struct rtl_record *reserve(struct rtl_stream *stream, uint16_t type, uint32_t size)
{
	return __builtin_expect(handler_thread_is_this(), 0)
		       ? rtl_try_reserve(stream, type, size)
		       : rtl_reserve_in_scope(stream, type, size);
}

/* The instance of a call that the user's selection leaves out, or a getter. */
#define LEFT_OUT 0u

/* What such a call would have published. */
static __attribute__((noinline, cold)) void count_left_out(uint32_t number, uint16_t plain,
							   uint16_t debug)
{
	const uint32_t why =
		call_function_ids[number].left_out ? RTL_LEFT_OUT_GETTER : RTL_LEFT_OUT_RANGE;

	if (rtl_enabled(call_streams.plain, plain))
		rtl_stream_count_left_out(call_streams.plain, why, 1);
	if (rtl_enabled(call_streams.debug, debug))
		rtl_stream_count_left_out(call_streams.debug, why, 1);
}

/* What is known when it begins. */
static inline void fill(struct rtl_record *record, struct rtl_hsa_call *payload, uint32_t number,
			uint64_t instance)
{
	record->uid = call_function_ids[number].uid;
	record->instance = instance;
	*payload = (struct rtl_hsa_call){.function = call_function_ids[number].name};
}

/* And when it has ended. end_ticks 0: the record's. */
static inline void fill_end(const struct rtl_record *record, struct rtl_hsa_call *payload,
			    const struct call *call, uint32_t number, uint64_t end_ticks,
			    uint64_t result)
{
	payload->begin_ns = rtl_ticks_to_ns(call->begin_ticks);
	payload->end_ns = rtl_ticks_to_ns(end_ticks ? end_ticks : record->ticks);
	payload->status =
		call_functions[number].has_status ? calls_status_string((int32_t)result) : 0;
	payload->result = (int64_t)result;
}

/* With its arguments, at its begin or its end. */
static void publish_debug(uint16_t type, const struct call *call, uint32_t number,
			  const struct call_pack *pack, uint64_t end_ticks, uint64_t result)
{
	const struct call_function *f = &call_functions[number];
	const bool ends = type == RTL_FUNCTION_WITH_ARGS_END;
	struct rtl_hsa_call_debug *payload;
	struct rtl_record *record;
	struct call_values args;
	uint32_t bytes;

	bytes = call_values_read(&args, &f->signature, call_function_ids[number].value_bytes,
				 pack->to, ends && f->has_status && !(uint32_t)result);
	record = reserve(call_streams.debug, type, (uint32_t)sizeof(*payload) + bytes);
	if (!record)
		return;
	payload = rtl_record_payload(record);
	fill(record, &payload->call, number, call->instance);
	if (ends)
		fill_end(record, &payload->call, call, number, end_ticks, result);
	call_values_fill(&args, payload, sizeof(*payload), &payload->args);
	rtl_commit(record);
}

static __attribute__((noinline, cold)) void publish_begins(const struct call *call, uint32_t number,
							   const struct call_pack *pack)
{
	struct rtl_record *record = NULL;

	if (call->instance == LEFT_OUT) {
		count_left_out(number, RTL_FUNCTION_BEGIN, RTL_FUNCTION_WITH_ARGS_BEGIN);
		return;
	}
	if (rtl_enabled(call_streams.plain, RTL_FUNCTION_BEGIN))
		record = reserve(call_streams.plain, RTL_FUNCTION_BEGIN,
				 sizeof(struct rtl_hsa_call));
	if (record) {
		fill(record, rtl_record_payload(record), number, call->instance);
		rtl_commit(record);
	}
	if (rtl_enabled(call_streams.debug, RTL_FUNCTION_WITH_ARGS_BEGIN))
		publish_debug(RTL_FUNCTION_WITH_ARGS_BEGIN, call, number, pack, 0, 0);
}

/* The frame of the outermost wrapper on this thread whose function does not call back; NULL: none.
 * Calls within it have frames below. One that has not, finds what a longjmp has left. */
static __thread const char *own_ground __attribute__((tls_model("initial-exec")));

static inline bool is_of_the_runtime(const char *frame)
{
	return __builtin_expect(own_ground != NULL, 0) && frame < own_ground;
}

struct call call_begin(uint32_t number, const struct call_pack *pack)
{
	const char *frame = __builtin_frame_address(0);
	struct call call = {0};

	if (is_paused() || is_of_the_runtime(frame))
		return call;
	own_ground = call_functions[number].calls_back ? NULL : frame;
	call.instance =
		call_function_ids[number].left_out || is_outside() ? LEFT_OUT : rtl_unique_id();

	if (__builtin_expect(rtl_enabled(call_streams.plain, RTL_FUNCTION_BEGIN) ||
				     rtl_enabled(call_streams.debug, RTL_FUNCTION_WITH_ARGS_BEGIN),
			     0))
		publish_begins(&call, number, pack);
	call.begin_ticks = rtl_ticks();
	return call;
}

void call_end(const struct call *call, uint32_t number, const struct call_pack *pack,
	      uint64_t result)
{
	/* Where work lies between the call's end and the record, the end is read here. */
	uint64_t end_ticks = call_functions[number].signature.has_texts ? rtl_ticks() : 0;
	struct rtl_record *record;

	if (!call->begin_ticks)
		return;
	own_ground = NULL;

	if (__builtin_expect(call->instance == LEFT_OUT, 0)) {
		count_left_out(number, RTL_FUNCTION_END, RTL_FUNCTION_WITH_ARGS_END);
		return;
	}
	if (rtl_enabled(call_streams.plain, RTL_FUNCTION_END)) {
		record = reserve(call_streams.plain, RTL_FUNCTION_END, sizeof(struct rtl_hsa_call));
		if (record) {
			end_ticks = end_ticks ? end_ticks : record->ticks;
			fill(record, rtl_record_payload(record), number, call->instance);
			fill_end(record, rtl_record_payload(record), call, number, end_ticks,
				 result);
			rtl_commit(record);
		}
	}
	if (rtl_enabled(call_streams.debug, RTL_FUNCTION_WITH_ARGS_END))
		publish_debug(RTL_FUNCTION_WITH_ARGS_END, call, number, pack, end_ticks, result);
}
