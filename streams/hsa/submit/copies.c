/* SPDX-License-Identifier: MIT */
/* Copies: see copies.h. The hooks: copy_hooks.c, copy_batch.c. */
#include "copies.h"

#include <pthread.h>
#include <rtl/events.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/shared.h"
#include "../../common/threads.h"
#include "agents.h"
#include "harvest.h"
#include "interceptor.h"
#include "signal_watch.h"
#include "source.h"
#include "submitters.h"
#include "system_clock.h"
#include "turn.h"

/* Most copies under way or not yet published; slots become memory when they are needed. */
#define SLOTS_MOST     16384
#define SLOTS_AT_FIRST 256

static struct {
	pthread_mutex_t lock; /* of the pool's producer side; of `count` */
	/* Release when it is complete, acquire by who uses it; NULL: nothing was wanted yet. */
	struct source *source;
	uint64_t count;
	/* Profiling of copies is on by our doing. Relaxed: a fact by itself. */
	bool profiled;
} copies = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(copies, copies.lock);

bool copies_wanted(void)
{
	return interceptor_on() && !is_paused() &&
	       (rtl_enabled(interceptor.copies, RTL_TRANSFER_END) ||
		rtl_enabled(interceptor.copies, RTL_TRANSFER_BEGIN));
}

bool copies_traced(void)
{
	return interceptor.config.mode != CONFIG_LITE && copies_wanted();
}

/* ---- events ---- */

struct copy_slot {
	struct slot slot;
	struct copy_call call;
	uint64_t uid, agent_uid; /* for who finds the process dead */
} __attribute__((aligned(64)));

#define RECORD_FACT(from_, to_) SLOT_RECORD_FACT(struct copy_slot, from_, to_)
#define FACT(from_, to_, ...)                                                                      \
	SLOT_FACT(struct copy_slot, call.copy.from_, struct rtl_hsa_copy, to_, __VA_ARGS__)

/* As publish_copy has them. */
static const struct rtl_slot_fact facts[] = {
	RECORD_FACT(uid, uid),
	RECORD_FACT(agent_uid, parent_uid),
	RECORD_FACT(call.copy.number, instance),
	FACT(submit_ticks, submit_ns, .how = RTL_SLOT_TICKS),
	FACT(bytes, bytes),
	FACT(src, src),
	FACT(dst, dst),
	FACT(signal, signal),
	FACT(node, gpu),
	FACT(src_node, src_gpu),
	FACT(dst_node, dst_gpu),
	FACT(direction, direction),
	FACT(function, kind),
	FACT(engine, engine),
	FACT(submit_tid, submit_tid),
	FACT(flags, flags),
	FACT(extent[0], extent_x),
	FACT(extent[1], extent_y),
	FACT(extent[2], extent_z),
	FACT(parts, parts),
	SLOT_SCOPE_FACTS(struct copy_slot, call.in_scope, call.scope, struct rtl_hsa_copy),
};

static void describe_slots(const struct source *source)
{
	struct {
		struct rtl_record record;
		struct rtl_hsa_copy payload;
	} event = {.record = {.size = sizeof(event), .type = RTL_TRANSFER_UNFINISHED},
		   .payload = {.flags = RTL_HSA_COPY_UNFINISHED}};

	slots_describe(&source->pool, interceptor.copies, facts, sizeof(facts) / sizeof(*facts),
		       &event.record);
}

static struct copy_slot *copy_slot_of(struct slot *slot)
{
	return (struct copy_slot *)slot;
}

/* When the engine worked, if that is known. A thread of the runtime's takes times of the system
 * clock. */
static struct work_times times_of(const struct copy_slot *slot)
{
	const uint64_t begin = slot->slot.ticks.begin, end = slot->slot.ticks.end;
	const struct agent *agent = agents_find_node(slot->call.copy.node);
	struct work_times times;

	if (!begin || !end)
		return (struct work_times){0, 0};
	/* The end first: the runtime may take a new calibration for it, which serves both. */
	times.end_ns = agent ? system_clock_gpu_ns(agent->handle, end) : system_clock_ns(end);
	times.begin_ns = agent ? system_clock_gpu_ns(agent->handle, begin) : system_clock_ns(begin);
	return times.begin_ns && times.end_ns ? times : (struct work_times){0, 0};
}

/* A begin or an end, if somebody wants it. */
static void publish(uint16_t type, const struct copy_call *call, struct work_times times)
{
	if (!rtl_enabled(interceptor.copies, type))
		return;
	if (call->left_out)
		rtl_stream_count_left_out(interceptor.copies, RTL_LEFT_OUT_RANGE, 1);
	else
		publish_copy(type, &call->copy, call->in_scope ? &call->scope : NULL, times);
}

static uint32_t flags_of(const struct slot *slot)
{
	static const uint32_t by[] = {
		[SLOT_TIMES_SDMA] = RTL_HSA_COPY_SDMA, [SLOT_TIMES_KERNEL] = RTL_HSA_COPY_BLIT};

	return by[slot->times_by];
}

/* Of the slot's kind, and of what was refused or has no times. */
static void publish_end(struct source *source, struct slot *slot)
{
	struct copy_slot *of = copy_slot_of(slot);
	const struct work_times times = times_of(of);

	of->call.copy.flags |= flags_of(slot);
	if (!times.end_ns && !(of->call.copy.flags & RTL_HSA_COPY_FAILED))
		of->call.copy.flags |= RTL_HSA_COPY_NO_TIME;
	turn_out();
	publish(RTL_TRANSFER_END, &of->call, times);
	turn_in();
}

static void publish_unfinished(struct source *source, struct slot *slot)
{
	struct copy_call *call = &copy_slot_of(slot)->call;

	call->copy.flags |= RTL_HSA_COPY_UNFINISHED;
	if (!call->left_out)
		publish(RTL_TRANSFER_UNFINISHED, call, (struct work_times){0, 0});
}

static const struct slot_kinds copy_kinds =
	SLOT_KINDS(.is_copy = true, .stream = &interceptor.copies, .end_type = RTL_TRANSFER_END,
		   .payload_bytes = sizeof(struct rtl_hsa_copy), .publish = publish_end,
		   .unfinished = publish_unfinished);

/* ---- the pool ---- */

static struct source *make_source(void)
{
	static const struct source_kind kind = {
		.stream = &interceptor.copies, .in_any_order = true, .free = source_free};
	struct source *source = source_create(sizeof(*source), &kind);

	if (!source)
		return NULL;
	if (slots_init(&source->pool, sizeof(struct copy_slot), SLOTS_MOST, SLOTS_AT_FIRST, true) ||
	    harvest_start()) {
		source_free(source);
		return NULL;
	}
	describe_slots(source);
	return source;
}

static void enable_profiling(void)
{
	if (interceptor.hsa.async_copy_enable && !interceptor.hsa.async_copy_enable(true))
		__atomic_store_n(&copies.profiled, true, __ATOMIC_RELAXED);
	else
		rtl_log(RTL_LEVEL_WARNING, "hsa", "no times of copies: profiling is refused");
}

static __attribute__((cold, noinline)) struct source *start_source(void)
{
	struct source *source;

	agents_init();
	HOLD_LOCK(&copies.lock);
	source = __atomic_load_n(&copies.source, __ATOMIC_RELAXED);
	if (!source && (source = make_source())) {
		enable_profiling();
		harvest_add(source);
		__atomic_store_n(&copies.source, source, __ATOMIC_RELEASE);
	}
	return source;
}

static struct slot *take(void *source)
{
	struct source *from = source;
	struct slot *slot;

	HOLD_LOCK(&copies.lock);
	slot = slot_take(&from->pool);
	if (slot) {
		copy_slot_of(slot)->call.copy.number = ++copies.count;
		rtl_pending_begin(from->pending, 1);
	}
	return slot;
}

/* ---- a copy ---- */

/* Just before it begins. Returns the GPU that does it; NULL: none. */
static const struct agent *fill(struct copy_call *call, const struct copy_request *request)
{
	const struct agent *src = agents_find(request->src_agent);
	const struct agent *dst = agents_find(request->dst_agent);
	/* Whose engine the runtime takes: the source's, if it is a GPU. */
	const struct agent *doer = src ? src : dst;
	struct copy *copy = &call->copy;
	struct submitter submitter;

	*copy = (struct copy){
		.number = copy->number,
		.src = request->src,
		.dst = request->dst,
		.bytes = request->bytes,
		.engine = request->engine,
		.parts = request->parts,
		.node = (uint16_t)(doer ? doer->node : 0),
		.src_node = (uint16_t)(src ? src->node : 0),
		.dst_node = (uint16_t)(dst ? dst->node : 0),
		.function = request->function,
	};
	copy->direction = copy_direction(copy->src_node, copy->dst_node);
	memcpy(copy->extent, request->extent, sizeof(copy->extent));
	submitter_fill(&submitter);
	if (submitter.in_scope) {
		call->scope = submitter.scope;
		thread_context.work++;
	}
	call->in_scope = submitter.in_scope;
	call->left_out = is_outside();
	copy->submit_tid = submitter.tid;
	copy->submit_ticks = rtl_ticks();
	return doer;
}

struct copy_slot *copies_begin(const struct copy_request *request, uint64_t signal)
{
	/* Acquire: pairs with the release in start_source. */
	struct source *source = __atomic_load_n(&copies.source, __ATOMIC_ACQUIRE);
	struct copy_slot *slot = NULL;
	const struct agent *agent;
	struct copy *copy;

	if (__builtin_expect(!source, 0))
		source = start_source();
	if (source && !(slot = copy_slot_of(take(source))))
		slot = copy_slot_of(harvest_wait_for_slot(take, source));
	if (!slot) {
		rtl_stream_count_missed(interceptor.copies,
					source ? "too many copies under way" : "no memory", 1);
		signal_watch_reused(signal);
		return NULL;
	}
	agent = fill(&slot->call, request);
	copy = &slot->call.copy;
	copy->signal = signal;
	copy->flags |= RTL_HSA_COPY_APP_SIGNAL | (request->waits ? RTL_HSA_COPY_WAITED : 0);
	(void)signal_watch_enter(&slot->slot, &copy_kinds, signal);
	slot->uid = publish_copy_path(copy);
	slot->agent_uid = agent ? agent->uid : 0;
	publish(RTL_TRANSFER_BEGIN, &slot->call, (struct work_times){0, 0});
	/* Release: a reader of the spool finds the facts above. */
	__atomic_store_n(&slot->slot.under_way, !slot->call.left_out, __ATOMIC_RELEASE);
	return slot;
}

/* It was refused: nothing will complete its signal. */
static __attribute__((cold, noinline)) void refused(struct copy_slot *slot, hsa_status_t status)
{
	if (slot->slot.kind->signal == SLOT_WATCHED)
		signal_watch_leave(&slot->slot);
	slot->call.copy.flags |= RTL_HSA_COPY_FAILED;
	slot->call.copy.status = (uint32_t)status;
	slot->slot.kind = &copy_kinds.over;
	slot_set_over(&slot->slot);
}

void copies_end(struct copy_slot *slot, hsa_status_t status)
{
	struct source *source = __atomic_load_n(&copies.source, __ATOMIC_RELAXED);
	const uint64_t now_ticks = slot->call.copy.submit_ticks;

	if (__builtin_expect(status != HSA_STATUS_SUCCESS, 0))
		refused(slot, status);
	pthread_mutex_lock(&copies.lock);
	slot_submit(&source->pool, &slot->slot);
	pthread_mutex_unlock(&copies.lock);
	harvest_notify(now_ticks);
}

void copies_untraced(uint64_t bytes, uint32_t count, hsa_status_t status)
{
	if (__builtin_expect(interceptor.config.mode == CONFIG_LITE, 0) && bytes && !status &&
	    copies_wanted())
		rtl_stream_count_missed(interceptor.copies, "mode lite: copies are not traced",
					count);
}

/* ---- synchronous ones ---- */

void copies_call_begin(struct copy_call *call, const struct copy_request *request)
{
	call->copy.number = 0;
	(void)fill(call, request);
}

void copies_call_end(struct copy_call *call, hsa_status_t status)
{
	struct work_times times = {0, 0};
	const uint64_t end_ticks = rtl_ticks();
	struct copy *copy = &call->copy;

	if (interceptor.config.mode == CONFIG_LITE) {
		copies_untraced(copy->bytes, 1, status);
		return;
	}
	pthread_mutex_lock(&copies.lock);
	copy->number = ++copies.count;
	pthread_mutex_unlock(&copies.lock);
	if (status == HSA_STATUS_SUCCESS) {
		copy->flags = RTL_HSA_COPY_BLIT | RTL_HSA_COPY_CALL_TIME;
		times.begin_ns = rtl_ticks_to_ns(copy->submit_ticks);
		times.end_ns = rtl_ticks_to_ns(end_ticks);
	} else {
		copy->flags = RTL_HSA_COPY_FAILED;
		copy->status = (uint32_t)status;
	}
	publish(RTL_TRANSFER_END, call, times);
}

bool copies_are_profiled(void)
{
	return __atomic_load_n(&copies.profiled, __ATOMIC_RELAXED);
}
