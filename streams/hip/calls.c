/* SPDX-License-Identifier: MIT */
/* See calls.h. */
#include "calls.h"

#include <pthread.h>
#include <rtl/events.h>
#include <rtl/tracepoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/outside.h"
#include "../common/paused.h"
#include "../common/reports.h"
#include "../events/events.h"
#include "preload.h"
#include "real.h"

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

#define NOT_READY 600 /* hipErrorNotReady: what a query says, not that it failed */

struct hip_streams hip_streams = {.calls = &rtl_stream_none, .debug = &rtl_stream_none};

/* Of each function; 0 until its first recorded call. */
static struct {
	uint64_t uid;                           /* its tracepoint */
	uint64_t name;                          /* string */
	const struct call_enumeration *results; /* NULL: it returns no enum */
	uint32_t value_bytes;                   /* of its arguments */
} known[HIP_FUNCTIONS];

/* Calls of this thread that are open: more than none, and the next may be HIP's own. */
static __thread unsigned depth __attribute__((tls_model("initial-exec")));

/* ---- start */

static bool bare;           /* relaxed: calls are followed for what they submit alone */
static bool internal_calls; /* those that HIP makes to itself are wanted too */

bool hip_mode_has_calls(void)
{
	const char *mode = secure_getenv("RTL_MODE");

	return (mode && (!strcmp(mode, "hip") || !strcmp(mode, "full"))) ||
	       rtl_stream_asked(RTL_STREAM_HIP_CALL);
}

static void add_stream(const struct rtl_stream_info *info, struct rtl_stream **place)
{
	struct rtl_stream *stream = &rtl_stream_none;

	if (rtl_stream_register(info, &stream))
		rtl_log(RTL_LEVEL_ERROR, "hip", "no room for the stream %s", info->name);
	/* release: with the acquire in hip_pair_wanted, the stream is complete before it shows */
	__atomic_store_n(place, stream, __ATOMIC_RELEASE);
}

static void start(void)
{
	const char *internal = secure_getenv("RTL_HIP_INTERNAL");

	internal_calls = internal && !strcmp(internal, "1");
	if (internal && *internal && !internal_calls && strcmp(internal, "0") != 0)
		rtl_log(RTL_LEVEL_ERROR, "hip",
			"RTL_HIP_INTERNAL=%s makes no sense: it takes 0 or 1; the default is used",
			internal);
	if (!hip_mode_has_calls())
		return;
	__atomic_store_n(&hip_streams.follow, true, __ATOMIC_RELAXED);
	add_stream(&hip_call_stream_info, &hip_streams.calls);
	add_stream(&hip_call_debug_stream_info, &hip_streams.debug);
}

void hip_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static __thread bool starting __attribute__((tls_model("initial-exec")));

	if (starting) /* a subscriber that is being loaded uses HIP */
		return;
	starting = true;
	pthread_once(&once, start);
	starting = false;
}

/* ---- functions */

__attribute__((cold, noinline)) static uint64_t make_known(enum hip_id id)
{
	const struct hip_function *function = &hip_functions[id];
	const struct rtl_tracepoint_desc desc = {
		.struct_size = sizeof(desc), .kind = "function", .name = function->name};
	struct call_enumeration *results = hip_enumeration(function->result_type);
	uint64_t uid, name;

	if (rtl_string_intern(function->name, &name) || rtl_tracepoint_register(&desc, &uid))
		return 0;
	(void)rtl_tracepoint_set(uid, "domain", "hip");
	(void)rtl_tracepoint_set(uid, "category", function->category);
	(void)rtl_tracepoint_set(uid, "result", function->result_type);
	call_describe(&function->signature, function->types, uid);
	if (results && call_enumeration_prepare(results))
		__atomic_store_n(&known[id].results, results, __ATOMIC_RELAXED);
	__atomic_store_n(&known[id].value_bytes,
			 call_value_bytes(&function->signature, function->signature.count),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&known[id].name, name, __ATOMIC_RELAXED);
	/* release: with the acquire in uid_of; the others, and definitions, before events */
	__atomic_store_n(&known[id].uid, uid, __ATOMIC_RELEASE);
	return uid;
}

static inline uint64_t uid_of(enum hip_id id)
{
	const uint64_t uid = __atomic_load_n(&known[id].uid, __ATOMIC_ACQUIRE);

	return LIKELY(uid) ? uid : make_known(id);
}

/* ---- events */

/* How a call ended; 0 where it has not. */
struct hip_end {
	uint64_t end_ns;
	uint64_t status; /* string */
	int64_t result;
	uint32_t work;
	uint32_t flags;
	bool succeeded; /* what it writes has been written */
};

static const struct hip_end not_ended = {.flags = RTL_HIP_CALL_UNFINISHED};

static bool has_failed(const struct hip_function *function, int64_t result)
{
	return function->result_kind == 'e' && result != 0 && result != NOT_READY &&
	       strcmp(function->category, "error") != 0;
}

/* What both streams say of a call. tid: 0, or of one that has not ended. */
static inline __attribute__((always_inline)) void
fill(struct rtl_record *record, struct rtl_hip_call *payload, const struct hip_call *call,
     const uint64_t *slots, const struct hip_end *end, uint32_t tid)
{
	const struct hip_function *function = &hip_functions[call->id];

	record->uid = known[call->id].uid;
	record->parent_uid = call->parent_uid;
	record->instance = record->correlation = call->number;
	payload->begin_ns = call->begin_ns;
	payload->end_ns = end->end_ns;
	payload->function = known[call->id].name;
	payload->status = end->status;
	payload->result = end->result;
	payload->parent = call->parent;
	payload->hip_stream = 0;
	payload->device = -1;
	payload->flags = end->flags;
	payload->work = end->work;
	payload->tid = tid;
	if (function->stream >= 0) {
		payload->hip_stream = slots[function->stream];
		payload->flags |= RTL_HIP_CALL_STREAM;
	}
	if (function->device >= 0)
		payload->device = (int32_t)slots[function->device];
}

/* open: what it ends, see rtl_commit_end; 0: nothing. */
static void publish(const struct hip_call *call, uint16_t type, const uint64_t *slots,
		    const struct hip_end *end, uint32_t open)
{
	struct rtl_record *record =
		rtl_reserve(hip_streams.calls, type, sizeof(struct rtl_hip_call));

	if (!record) {
		rtl_open_close(hip_streams.calls, open, call->number);
		return;
	}
	fill(record, rtl_record_payload(record), call, slots, end, 0);
	if (open)
		rtl_commit_end(record, hip_streams.calls, open, call->number);
	else
		rtl_commit(record);
}

static void publish_debug(const struct hip_call *call, uint16_t type, const uint64_t *slots,
			  const struct hip_end *end, uint32_t open)
{
	struct call_values values;
	const uint32_t bytes = call_values_read(&values, &hip_functions[call->id].signature,
						known[call->id].value_bytes, slots, end->succeeded);
	struct rtl_hip_call_debug *payload;
	struct rtl_record *record;

	values.packed = call->is_packed ? call->packed : NULL;
	record = rtl_reserve(hip_streams.debug, type, (uint32_t)sizeof(*payload) + bytes);
	if (!record) {
		rtl_open_close(hip_streams.debug, open, call->number);
		return;
	}
	payload = rtl_record_payload(record);
	fill(record, &payload->call, call, slots, end, 0);
	call_values_fill(&values, payload, sizeof(*payload), &payload->args);
	if (open)
		rtl_commit_end(record, hip_streams.debug, open, call->number);
	else
		rtl_commit(record);
}

/* What is an event if the process ends within the call. */
static inline void keep(struct hip_call *call, const uint64_t *slots)
{
	struct rtl_record *record;

	record = rtl_open_reserve(hip_streams.calls, RTL_FUNCTION_UNFINISHED,
				  sizeof(struct rtl_hip_call), &call->open);
	if (!record)
		return;
	fill(record, rtl_record_payload(record), call, slots, &not_ended, (uint32_t)record->ticks);
	rtl_open_commit(record);
}

static __attribute__((noinline)) void keep_debug(struct hip_call *call, const uint64_t *slots)
{
	struct call_values values;
	struct rtl_hip_call_debug *payload;
	struct rtl_record *record;
	uint32_t bytes;

	(void)call_values_read(&values, &hip_functions[call->id].signature,
			       known[call->id].value_bytes, slots, false);
	call->is_packed = call_values_constant(values.signature);
	if (call->is_packed) {
		call_values_pack(values.signature, slots, call->packed);
		values.packed = call->packed;
	}
	bytes = call_values_fit(&values, RTL_OPEN_PAYLOAD_MAX - sizeof(*payload));
	record = rtl_open_reserve(hip_streams.debug, RTL_FUNCTION_WITH_ARGS_UNFINISHED,
				  (uint32_t)sizeof(*payload) + bytes, &call->open_debug);
	if (!record)
		return;
	payload = rtl_record_payload(record);
	fill(record, &payload->call, call, slots, &not_ended, (uint32_t)record->ticks);
	call_values_fill(&values, payload, sizeof(*payload), &payload->args);
	rtl_open_commit(record);
}

/* Of a call that the user's selection leaves out: what it would have published. */
static void count_left_out(uint16_t plain, uint16_t debug)
{
	if (rtl_enabled(hip_streams.calls, plain))
		rtl_stream_count_left_out(hip_streams.calls, RTL_LEFT_OUT_RANGE, 1);
	if (rtl_enabled(hip_streams.debug, debug))
		rtl_stream_count_left_out(hip_streams.debug, RTL_LEFT_OUT_RANGE, 1);
}

/* What is known already when a call begins. */
__attribute__((cold, noinline)) static void publish_begins(const struct hip_call *call,
							   const uint64_t *slots)
{
	static const struct hip_end none;

	if (call->left_out) {
		count_left_out(RTL_FUNCTION_BEGIN, RTL_FUNCTION_WITH_ARGS_BEGIN);
		return;
	}
	if (rtl_enabled(hip_streams.calls, RTL_FUNCTION_BEGIN))
		publish(call, RTL_FUNCTION_BEGIN, slots, &none, 0);
	if (rtl_enabled(hip_streams.debug, RTL_FUNCTION_WITH_ARGS_BEGIN))
		publish_debug(call, RTL_FUNCTION_WITH_ARGS_BEGIN, slots, &none, 0);
}

/* Where the mode has no calls: what the call submits is counted, and that is all. */
static void begin_bare(struct hip_call *call, enum hip_id id, const uint64_t *slots)
{
	call->id = id;
	call->around = thread_context;
	thread_context.hip_stream =
		hip_functions[id].stream >= 0 ? slots[hip_functions[id].stream] : 0;
	depth++;
}

static void end_bare(const struct hip_call *call)
{
	const uint64_t range = thread_context.range; /* what it has pushed stays */

	depth--;
	thread_context = call->around;
	thread_context.range = range;
}

void hip_follow(void)
{
	/* Where the mode has calls, hip_start follows them. Before the first that is followed. */
	if (hip_mode_has_calls())
		return;
	__atomic_store_n(&bare, true, __ATOMIC_RELAXED);
	/* Release: who follows finds `bare`. */
	__atomic_store_n(&hip_streams.follow, true, __ATOMIC_RELEASE);
}

bool hip_call_begin(struct hip_call *call, enum hip_id id, const uint64_t *slots,
		    const void *caller)
{
	struct rtl_scope around = {.struct_size = sizeof(around)};
	uint64_t uid;

	if (is_paused())
		return false;
	if (UNLIKELY(depth) && !internal_calls && hip_is_internal(caller))
		return false;
	call->is_bare = __atomic_load_n(&bare, __ATOMIC_RELAXED);
	if (UNLIKELY(call->is_bare)) {
		begin_bare(call, id, slots);
		return true;
	}
	uid = uid_of(id);
	call->id = id;
	call->is_packed = false;
	call->parent = call->parent_uid = 0;
	if (!rtl_scope_current(&around)) {
		call->parent =
			UNLIKELY(thread_context.inner) ? thread_context.inner : around.instance;
		call->parent_uid = around.uid;
	}
	call->number = rtl_unique_id();
	call->begin_ticks = rtl_ticks();
	call->begin_ns = rtl_ticks_to_ns(call->begin_ticks);
	call->left_out = is_outside();
	if (UNLIKELY((int)rtl_enabled(hip_streams.calls, RTL_FUNCTION_BEGIN) |
		     (int)rtl_enabled(hip_streams.debug, RTL_FUNCTION_WITH_ARGS_BEGIN)))
		publish_begins(call, slots);
	call->open = call->open_debug = 0;
	if (!call->left_out && rtl_enabled(hip_streams.calls, RTL_FUNCTION_UNFINISHED))
		keep(call, slots);
	if (!call->left_out && rtl_enabled(hip_streams.debug, RTL_FUNCTION_WITH_ARGS_UNFINISHED))
		keep_debug(call, slots);
	call->scope = rtl_scope_push(uid, call->number, call->number);
	call->around = thread_context;
	thread_context.call_ticks = call->begin_ticks;
	thread_context.hip_stream =
		hip_functions[id].stream >= 0 ? slots[hip_functions[id].stream] : 0;
	thread_context.work = 0;
	if (UNLIKELY(call->scope > RTL_SCOPE_DEPTH_MAX))
		thread_context.inner = thread_context.correlation = call->number;
	depth++;
	return true;
}

static inline void leave(const struct hip_call *call)
{
	const uint64_t range = thread_context.range; /* what it has pushed stays */

	thread_context = call->around;
	thread_context.range = range;
	rtl_scope_pop(call->scope);
}

void hip_call_end(const struct hip_call *call, const uint64_t *slots, int64_t result)
{
	const struct hip_function *function = &hip_functions[call->id];

	if (UNLIKELY(reports.call_ended != NULL))
		reports.call_ended(call->id, function->name, slots,
				   function->result_kind == 'e' && !result);
	if (UNLIKELY(call->is_bare)) {
		end_bare(call);
		return;
	}
	const struct hip_end end = {
		.end_ns = rtl_ticks_to_ns(rtl_ticks()),
		.status = call_enumeration_name(known[call->id].results, result),
		.result = result,
		.work = thread_context.work,
		.succeeded = function->result_kind == 'e' && !result,
		.flags = has_failed(function, result) ? RTL_HIP_CALL_FAILED : 0,
	};

	depth--;
	leave(call);
	if (UNLIKELY(call->left_out)) {
		count_left_out(RTL_FUNCTION_END, RTL_FUNCTION_WITH_ARGS_END);
		return;
	}
	if (rtl_enabled(hip_streams.calls, RTL_FUNCTION_END))
		publish(call, RTL_FUNCTION_END, slots, &end, call->open);
	else if (call->open)
		rtl_open_close(hip_streams.calls, call->open, call->number);
	if (rtl_enabled(hip_streams.debug, RTL_FUNCTION_WITH_ARGS_END))
		publish_debug(call, RTL_FUNCTION_WITH_ARGS_END, slots, &end, call->open_debug);
	else if (call->open_debug)
		rtl_open_close(hip_streams.debug, call->open_debug, call->number);
}
