/* SPDX-License-Identifier: MIT */
#include "calls.h"

#include <pthread.h>
#include <rtl/events.h>
#include <rtl/tracepoint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/shared.h"
#include "../hsa/harvest/harvest.h"
#include "events/events.h"
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
	uint64_t success;                       /* string of the result 0; 0: it has none */
	uint32_t value_bytes;                   /* of its arguments */
} __attribute__((aligned(64))) known[HIP_FUNCTIONS];

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
			"invalid RTL_HIP_INTERNAL=%s (expected 0 or 1); using the default",
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
	if (results && call_enumeration_prepare(results)) {
		__atomic_store_n(&known[id].success, call_enumeration_name(results, 0),
				 __ATOMIC_RELAXED);
		__atomic_store_n(&known[id].results, results, __ATOMIC_RELAXED);
	}
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

/* How a call ended. */
struct hip_end {
	uint64_t end_ns;
	uint64_t status; /* string */
	int64_t result;
	uint32_t work;
	uint32_t flags;
	bool succeeded; /* what it writes has been written */
};

static __attribute__((cold, noinline)) uint32_t
flags_of_failure(const struct hip_function *function, int64_t result)
{
	return function->result_kind == 'e' && result != NOT_READY &&
			       strcmp(function->category, "error") != 0
		       ? RTL_HIP_CALL_FAILED
		       : 0;
}

/* What both streams say of a call. end: NULL if it has not ended. */
static inline __attribute__((always_inline)) void
fill(struct rtl_record *record, const struct hip_call *call, const struct hip_end *end)
{
	struct rtl_hip_call *payload = rtl_record_payload(record);

	memcpy(&record->uid, &call->image, sizeof(call->image));
	if (!end)
		return;
	payload->end_ns = end->end_ns;
	payload->status = end->status;
	payload->result = end->result;
	payload->work = end->work;
	if (UNLIKELY(end->flags))
		payload->flags |= end->flags;
}

/* An event if the process ends within the call. */
static inline void fill_open(struct rtl_record *record, const struct hip_call *call)
{
	struct rtl_hip_call *payload = rtl_record_payload(record);

	fill(record, call, NULL);
	payload->flags |= RTL_HIP_CALL_UNFINISHED;
	payload->tid = (uint32_t)record->ticks;
}

/* The record ends what is open, if anything is. */
static inline __attribute__((always_inline)) void
commit(struct rtl_record *record, struct rtl_stream *stream, uint32_t open, uint64_t instance)
{
	if (!record)
		rtl_open_close(stream, open, instance);
	else if (open)
		rtl_commit_end(record, stream, open, instance);
	else
		rtl_commit(record);
}

/* end: NULL if it begins. */
static inline __attribute__((always_inline)) void publish(const struct hip_call *call,
							  uint16_t type, const struct hip_end *end)
{
	struct rtl_record *record =
		rtl_reserve(hip_streams.calls, type, sizeof(struct rtl_hip_call));

	if (record)
		fill(record, call, end);
	commit(record, hip_streams.calls, end ? call->open : 0, call->image.instance);
}

_Static_assert(sizeof(struct rtl_hip_call_debug) + 8 + 8 * CALL_ARGUMENTS <= RTL_OPEN_PAYLOAD_MAX,
	       "all arguments but texts are kept");

/* open: to be set, where the event is kept; NULL: it is one. values: room for them, if there are texts among them;
 * else NULL. */
static inline __attribute__((always_inline)) void
publish_values(const struct hip_call *call, uint16_t type, const struct hip_end *end,
	       uint32_t *open, struct call_values *values)
{
	const struct call_signature *signature = &hip_functions[call->id].signature;
	const bool succeeded = end && end->succeeded;
	const uint32_t bytes = known[call->id].value_bytes;
	struct rtl_hip_call_debug *payload;
	struct rtl_record *record;
	uint32_t room = bytes;

	if (values)
		room = call_values_read(values, signature, bytes, call->packed, succeeded);
	if (values && open)
		room = call_values_fit(values, RTL_OPEN_PAYLOAD_MAX - sizeof(*payload));
	record = open ? rtl_open_reserve(hip_streams.debug, type, (uint32_t)sizeof(*payload) + room,
					 open)
		      : rtl_reserve(hip_streams.debug, type, (uint32_t)sizeof(*payload) + room);
	if (record) {
		payload = rtl_record_payload(record);
		if (open)
			fill_open(record, call);
		else
			fill(record, call, end);
		if (values)
			call_values_fill(values, payload, sizeof(*payload), &payload->args);
		else
			call_values_put(signature, call->packed, bytes, succeeded, payload,
					sizeof(*payload), &payload->args);
	}
	if (!open)
		commit(record, hip_streams.debug, end ? call->open_debug : 0, call->image.instance);
	else if (record)
		rtl_open_commit(record);
}

static __attribute__((noinline)) void publish_texts(const struct hip_call *call, uint16_t type,
						    const struct hip_end *end, uint32_t *open)
{
	struct call_values values;

	publish_values(call, type, end, open, &values);
}

static inline __attribute__((always_inline)) void
publish_debug(const struct hip_call *call, uint16_t type, const struct hip_end *end, uint32_t *open)
{
	if (UNLIKELY(hip_functions[call->id].signature.has_texts))
		publish_texts(call, type, end, open);
	else
		publish_values(call, type, end, open, NULL);
}

static __attribute__((noinline)) void keep(struct hip_call *call)
{
	struct rtl_record *record = rtl_open_reserve(hip_streams.calls, RTL_FUNCTION_UNFINISHED,
						     sizeof(struct rtl_hip_call), &call->open);

	if (!record)
		return;
	fill_open(record, call);
	rtl_open_commit(record);
}

/* Of a call that the user's selection leaves out: what it would have published. */
static __attribute__((cold, noinline)) void count_left_out(uint16_t plain, uint16_t debug)
{
	if (rtl_enabled(hip_streams.calls, plain))
		rtl_stream_count_left_out(hip_streams.calls, RTL_LEFT_OUT_RANGE, 1);
	if (rtl_enabled(hip_streams.debug, debug))
		rtl_stream_count_left_out(hip_streams.debug, RTL_LEFT_OUT_RANGE, 1);
}

/* What is known already when a call begins. */
static __attribute__((cold, noinline)) void publish_begins(const struct hip_call *call)
{
	if (call->left_out) {
		count_left_out(RTL_FUNCTION_BEGIN, RTL_FUNCTION_WITH_ARGS_BEGIN);
		return;
	}
	if (rtl_enabled(hip_streams.calls, RTL_FUNCTION_BEGIN))
		publish(call, RTL_FUNCTION_BEGIN, NULL);
	if (rtl_enabled(hip_streams.debug, RTL_FUNCTION_WITH_ARGS_BEGIN))
		publish_debug(call, RTL_FUNCTION_WITH_ARGS_BEGIN, NULL, NULL);
}

/* ---- what the thread is within */

static inline void enter(struct hip_call *call)
{
	call->around = thread_context;
	thread_context.hip_stream = call->image.call.hip_stream;
	thread_context.depth++;
}

static inline void leave(const struct hip_call *call)
{
	const uint64_t range = thread_context.range; /* what it has pushed stays */

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

/* ---- a call */

/* What it is, where, and when. Returns its ticks. */
static inline uint64_t fill_image(struct hip_call *call, enum hip_id id, uint64_t uid)
{
	struct hip_call_image *image = &call->image;
	uint64_t parent = 0, parent_uid = 0, ticks;
	struct rtl_scope around;

	around.struct_size = sizeof(around);
	if (!rtl_scope_current(&around)) {
		parent = UNLIKELY(thread_context.inner) ? thread_context.inner : around.instance;
		parent_uid = around.uid;
	}
	image->uid = uid;
	image->parent_uid = parent_uid;
	image->instance = image->correlation = rtl_unique_id();
	image->call.parent = parent;
	image->call.function = known[id].name;
	image->call.end_ns = image->call.status = 0;
	image->call.result = 0;
	image->call.work = image->call.tid = 0;
	ticks = rtl_ticks();
	image->call.begin_ns = rtl_ticks_to_ns(ticks);
	return ticks;
}

/* What is an event if the process ends within the call. */
static inline void keep_open(struct hip_call *call)
{
	call->open = call->open_debug = 0;
	if (UNLIKELY(call->left_out))
		return;
	if (UNLIKELY(rtl_enabled(hip_streams.calls, RTL_FUNCTION_UNFINISHED)))
		keep(call);
	if (rtl_enabled(hip_streams.debug, RTL_FUNCTION_WITH_ARGS_UNFINISHED))
		publish_debug(call, RTL_FUNCTION_WITH_ARGS_UNFINISHED, NULL, &call->open_debug);
}

bool hip_call_begin(struct hip_call *call, enum hip_id id, const void *caller)
{
	uint64_t uid, ticks;

	if (is_paused())
		return false;
	if (UNLIKELY(thread_context.depth) && !internal_calls && hip_is_internal(caller))
		return false;
	call->id = id;
	call->is_bare = __atomic_load_n(&bare, __ATOMIC_RELAXED);
	/* Where the mode has no calls: what the call submits is counted, and that is all. */
	if (UNLIKELY(call->is_bare)) {
		enter(call);
		return true;
	}
	harvest_attend();
	uid = uid_of(id);
	ticks = fill_image(call, id, uid);
	call->left_out = is_outside();
	if (UNLIKELY((int)rtl_enabled(hip_streams.calls, RTL_FUNCTION_BEGIN) |
		     (int)rtl_enabled(hip_streams.debug, RTL_FUNCTION_WITH_ARGS_BEGIN)))
		publish_begins(call);
	keep_open(call);
	call->scope = rtl_scope_push(uid, call->image.instance, call->image.instance);
	enter(call);
	thread_context.call_ticks = ticks;
	thread_context.work = 0;
	if (UNLIKELY(call->scope > RTL_SCOPE_DEPTH_MAX))
		thread_context.inner = thread_context.correlation = call->image.instance;
	return true;
}

static __attribute__((cold, noinline)) void report(const struct hip_call *call, int64_t result)
{
	const struct hip_function *function = &hip_functions[call->id];
	uint64_t slots[CALL_ARGUMENTS];

	call_values_unpack(&function->signature, call->packed, slots);
	reports.call_ended(call->id, function->name, slots,
			   function->result_kind == 'e' && !result);
}

static __thread uint64_t last_work __attribute__((tls_model("initial-exec")));

__attribute__((visibility("default"))) uint64_t rtl_rocm_last_work(void)
{
	return last_work;
}

void hip_call_end(const struct hip_call *call, int64_t result)
{
	const enum hip_id id = call->id;
	const struct hip_function *function = &hip_functions[id];
	struct hip_end end;

	if (UNLIKELY(reports.call_ended != NULL))
		report(call, result);
	if (UNLIKELY(call->is_bare)) {
		leave(call);
		return;
	}
	end.end_ns = rtl_ticks_to_ns(rtl_ticks());
	end.result = result;
	end.work = thread_context.work;
	end.status = known[id].success;
	end.succeeded = function->result_kind == 'e';
	end.flags = 0;
	if (UNLIKELY(result)) {
		end.status = call_enumeration_name(known[id].results, result);
		end.succeeded = false;
		end.flags = flags_of_failure(function, result);
	}
	if (end.work)
		last_work = call->image.correlation;
	leave(call);
	rtl_scope_pop(call->scope);
	if (UNLIKELY(call->left_out)) {
		count_left_out(RTL_FUNCTION_END, RTL_FUNCTION_WITH_ARGS_END);
		return;
	}
	if (UNLIKELY(rtl_enabled(hip_streams.calls, RTL_FUNCTION_END)))
		publish(call, RTL_FUNCTION_END, &end);
	else if (UNLIKELY(call->open))
		rtl_open_close(hip_streams.calls, call->open, call->image.instance);
	if (rtl_enabled(hip_streams.debug, RTL_FUNCTION_WITH_ARGS_END))
		publish_debug(call, RTL_FUNCTION_WITH_ARGS_END, &end, NULL);
	else if (call->open_debug)
		rtl_open_close(hip_streams.debug, call->open_debug, call->image.instance);
}
