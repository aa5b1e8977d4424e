/* SPDX-License-Identifier: MIT */
/* Hooks of the copy functions: see copies.h. */
#include "copies.h"

#include <pthread.h>
#include <rtl/events.h>
#include <rtl/scope.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/call_context.h"
#include "../../common/fork_lock.h"
#include "../../common/paused.h"
#include "agents.h"
#include "copy_publish.h"
#include "harvest.h"
#include "interceptor.h"
#include "queue.h"
#include "relay.h"
#include "signal_watch.h"

/* Most copies under way or not yet published; slots become memory when they are needed. */
#define SLOTS_MOST     16384
#define SLOTS_AT_FIRST 256

static struct {
	pthread_mutex_t lock; /* of the pool's producer side; of `count` */
	/* Release when it is complete, acquire by who uses it; NULL: nothing was wanted yet. */
	_Atomic(struct queue *) pool;
	uint64_t count;
	/* Profiling of copies is on by our doing. Relaxed: a fact by itself. */
	atomic_bool profiled;
	bool reversed; /* HSA_REV_COPY_DIR: the runtime takes the agents the other way round */
} copies = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(copies, copies.lock);

bool copies_wanted(void)
{
	return interceptor_on() && !is_paused() &&
	       (rtl_enabled(interceptor.copies, RTL_TRANSFER_END) ||
		rtl_enabled(interceptor.copies, RTL_TRANSFER_BEGIN));
}

/* ---- the pool ---- */

static struct queue *make_pool(void)
{
	struct queue *pool = aligned_alloc(64, (sizeof(*pool) + 63) / 64 * 64);

	if (!pool)
		return NULL;
	memset(pool, 0, sizeof(*pool));
	pool->copies = true;
	pool->pending = rtl_stream_pending(interceptor.copies, QUEUE_PENDING_CAUSE);
	if (slots_init_bare(&pool->pool, SLOTS_MOST, SLOTS_AT_FIRST) || harvest_start()) {
		queue_free(pool);
		return NULL;
	}
	return pool;
}

static void enable_profiling(void)
{
	if (interceptor.hsa.async_copy_enable && !interceptor.hsa.async_copy_enable(true))
		atomic_store_explicit(&copies.profiled, true, memory_order_relaxed);
	else
		rtl_log(RTL_LEVEL_WARNING, "hsa", "no times of copies: profiling is refused");
}

static __attribute__((cold, noinline)) struct queue *start_pool(void)
{
	const char *reversed = getenv("HSA_REV_COPY_DIR");
	struct queue *pool;

	agents_init();
	pthread_mutex_lock(&copies.lock);
	pool = atomic_load_explicit(&copies.pool, memory_order_relaxed);
	if (!pool && (pool = make_pool())) {
		copies.reversed = reversed && !strcmp(reversed, "1");
		enable_profiling();
		harvest_add(pool);
		atomic_store_explicit(&copies.pool, pool, memory_order_release);
	}
	pthread_mutex_unlock(&copies.lock);
	return pool;
}

static struct slot *take(struct queue *pool)
{
	struct slot *slot;

	pthread_mutex_lock(&copies.lock);
	slot = slot_take(&pool->pool);
	if (slot) {
		slot->packet_id = ++copies.count;
		rtl_pending_begin(pool->pending, 1);
	}
	pthread_mutex_unlock(&copies.lock);
	return slot;
}

/* As for a dispatch: slots whose copies have ended are worth a wait for the harvester. */
static __attribute__((cold, noinline)) struct slot *wait_for_slot(struct queue *pool)
{
	const uint64_t deadline = rtl_clock_ns() + interceptor.config.wait_ms * 1000000ull;
	const uint32_t passes = harvest_passes();
	struct slot *slot = NULL;

	if (!interceptor.config.wait_ms || relay_is_runtime_thread())
		return NULL;
	do {
		harvest_wait_pass();
		slot = take(pool);
	} while (!slot && harvest_passes() - passes < 3 && rtl_clock_ns() < deadline &&
		 interceptor_on());
	return slot;
}

static void submit(struct slot *slot)
{
	struct queue *pool = atomic_load_explicit(&copies.pool, memory_order_relaxed);
	const uint64_t now_ticks = slot->submit_ticks;

	pthread_mutex_lock(&copies.lock);
	slot_submit(&pool->pool, slot);
	pthread_mutex_unlock(&copies.lock);
	harvest_notify(now_ticks);
}

void copies_forget(void)
{
	struct queue *pool = atomic_load_explicit(&copies.pool, memory_order_relaxed);

	if (pool) {
		slots_forget(&pool->pool);
		queue_release_pending(pool);
	}
	atomic_store_explicit(&copies.pool, NULL, memory_order_relaxed);
	atomic_store_explicit(&copies.profiled, false, memory_order_relaxed);
}

/* ---- a copy ---- */

static uint8_t direction_of(const struct agent *src, const struct agent *dst)
{
	if (src && dst)
		return src == dst ? RTL_HSA_COPY_DEVICE_TO_DEVICE : RTL_HSA_COPY_PEER;
	if (src)
		return RTL_HSA_COPY_DEVICE_TO_HOST;
	return dst ? RTL_HSA_COPY_HOST_TO_DEVICE : RTL_HSA_COPY_HOST_TO_HOST;
}

static void fill(struct slot *slot, const struct copy *copy)
{
	const struct agent *src = agents_find(copy->src_agent);
	const struct agent *dst = agents_find(copy->dst_agent);
	/* Whose engine the runtime takes: the source's, if it is a GPU. */
	const struct agent *first = copies.reversed ? dst : src;
	const struct agent *doer = first ? first : copies.reversed ? src : dst;
	struct rtl_scope scope = {.struct_size = sizeof(scope)};

	slot->is_copy = true;
	slot->behind_barrier = false;
	slot->flags = 0;
	slot->looks = 0;
	slot->watched = 0;
	slot->src = copy->src;
	slot->dst = copy->dst;
	slot->bytes = copy->bytes;
	slot->src_node = (uint16_t)(src ? src->node : 0);
	slot->dst_node = (uint16_t)(dst ? dst->node : 0);
	slot->node = (uint16_t)(doer ? doer->node : 0);
	slot->direction = direction_of(src, dst);
	slot->copy_function = copy->function;
	slot->engine = copy->engine;
	slot->parts = copy->parts;
	memcpy(slot->grid, copy->extent, sizeof(slot->grid));
	slot->submit_tid = rtl_thread_id();
	slot->in_scope = !rtl_scope_current(&scope);
	slot->correlation = 0;
	if (slot->in_scope) {
		slot->correlation =
			thread_context.correlation ? thread_context.correlation : scope.correlation;
		slot->scope = scope.uid;
		slot->scope_instance = scope.instance;
		slot->call_ticks = thread_context.call_ticks;
		slot->hip_stream = thread_context.hip_stream;
		slot->range = thread_context.range;
		thread_context.work++;
	}
	call_context_note(slot->correlation);
	slot->submit_ticks = rtl_ticks();
}

static void over(struct slot *slot)
{
	slot->kind = SLOT_OVER;
	/* Relaxed: it is not submitted yet, which releases it. */
	atomic_store_explicit(&slot->done, true, memory_order_relaxed);
}

/* The signal for the copy to complete: the application's, or a relay's. */
static void choose_signal(struct slot *slot, hsa_signal_t *signal, bool fixed)
{
	uint64_t relay;

	slot->flags |= RTL_HSA_COPY_APP_SIGNAL;
	if (signal_watch_enter_copy(slot, signal->handle) == SLOT_WATCH)
		return;
	relay = fixed ? 0 : relay_take(slot, RELAY_NO_LANE);
	if (relay) {
		signal->handle = relay;
		return;
	}
	/* It writes its times over those of the others, or they theirs over its own. */
	signal_watch_leave(slot);
	signal_watch_spoil(signal->handle);
	slot->flags |= RTL_HSA_COPY_NO_TIME;
	over(slot);
}

struct slot *copies_begin(const struct copy *copy, hsa_signal_t *signal, bool fixed)
{
	/* Acquire: pairs with the release in start_pool. */
	struct queue *pool = atomic_load_explicit(&copies.pool, memory_order_acquire);
	struct slot *slot = NULL;

	if (__builtin_expect(!pool, 0))
		pool = start_pool();
	if (pool && !(slot = take(pool)))
		slot = wait_for_slot(pool);
	if (!slot) {
		rtl_stream_count_missed(interceptor.copies,
					pool ? "too many copies under way" : "no memory", 1);
		signal_watch_reused(signal->handle);
		return NULL;
	}
	fill(slot, copy);
	choose_signal(slot, signal, fixed);
	if (rtl_enabled(interceptor.copies, RTL_TRANSFER_BEGIN))
		copy_publish_begin(slot);
	return slot;
}

/* It was refused: nothing will complete its signal. */
static __attribute__((cold, noinline)) void refused(struct slot *slot, hsa_status_t status)
{
	signal_watch_leave(slot);
	if (slot->kind == SLOT_RELAY)
		relay_untake(slot);
	slot->flags |= RTL_HSA_COPY_FAILED;
	slot->end_ticks = (uint64_t)status;
	over(slot);
}

void copies_end(struct slot *slot, hsa_status_t status)
{
	if (__builtin_expect(status != HSA_STATUS_SUCCESS, 0))
		refused(slot, status);
	submit(slot);
}

/*
 * Whether the hook has something to do but to call the runtime. A copy of nothing is none: the
 * runtime does not even complete its signal. One without a signal it refuses.
 */
static bool traced(uint64_t bytes, hsa_signal_t signal)
{
	if (copies_wanted() && interceptor.config.mode != CONFIG_LITE && bytes && signal.handle)
		return true;
	signal_watch_reused(signal.handle);
	return false;
}

void copies_untraced(uint64_t bytes, uint32_t count, hsa_status_t status)
{
	if (__builtin_expect(interceptor.config.mode == CONFIG_LITE, 0) && bytes && !status &&
	    copies_wanted())
		rtl_stream_count_missed(interceptor.copies, "mode lite: copies are not traced",
					count);
}

/* After the runtime was called. */
static void ended(struct slot *slot, uint64_t bytes, hsa_status_t status)
{
	if (slot)
		copies_end(slot, status);
	else
		copies_untraced(bytes, 1, status);
}

/* ---- hooks ---- */

static hsa_status_t async_copy(void *dst, hsa_agent_t dst_agent, const void *src,
			       hsa_agent_t src_agent, size_t size, uint32_t dep_count,
			       const hsa_signal_t *deps, hsa_signal_t completion)
{
	struct slot *slot = NULL;
	hsa_status_t status;

	if (traced(size, completion))
		slot = copies_begin(&(struct copy){.src = (uintptr_t)src,
						   .dst = (uintptr_t)dst,
						   .bytes = size,
						   .src_agent = src_agent,
						   .dst_agent = dst_agent,
						   .parts = 1,
						   .function = RTL_HSA_COPY_LINEAR},
				    &completion, false);
	status = interceptor.hsa.async_copy(dst, dst_agent, src, src_agent, size, dep_count, deps,
					    completion);
	ended(slot, size, status);
	return status;
}

static hsa_status_t async_copy_on_engine(void *dst, hsa_agent_t dst_agent, const void *src,
					 hsa_agent_t src_agent, size_t size, uint32_t dep_count,
					 const hsa_signal_t *deps, hsa_signal_t completion,
					 uint32_t engine, bool force_sdma)
{
	struct slot *slot = NULL;
	hsa_status_t status;

	if (traced(size, completion))
		slot = copies_begin(&(struct copy){.src = (uintptr_t)src,
						   .dst = (uintptr_t)dst,
						   .bytes = size,
						   .src_agent = src_agent,
						   .dst_agent = dst_agent,
						   .engine = engine,
						   .parts = 1,
						   .function = RTL_HSA_COPY_LINEAR},
				    &completion, false);
	status = interceptor.hsa.async_copy_on_engine(dst, dst_agent, src, src_agent, size,
						      dep_count, deps, completion, engine,
						      force_sdma);
	ended(slot, size, status);
	return status;
}

static uint64_t first_byte(const hsa_pitched_ptr_t *area, const hsa_dim3_t *at)
{
	return (uintptr_t)area->base + at->x + at->y * area->pitch + at->z * area->slice;
}

/* The agent is the GPU's that does it; what is beyond it is taken for the host's, or, from
 * device to device, for its own: nobody says. */
static struct copy rect_copy(const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset,
			     const hsa_pitched_ptr_t *src, const hsa_dim3_t *src_offset,
			     const hsa_dim3_t *range, hsa_agent_t agent,
			     hsa_amd_copy_direction_t direction)
{
	static const hsa_agent_t host;
	const bool is_from_host = direction == hsaHostToDevice || direction == hsaHostToHost;
	const bool is_to_host = direction == hsaDeviceToHost || direction == hsaHostToHost;

	return (struct copy){.src = first_byte(src, src_offset),
			     .dst = first_byte(dst, dst_offset),
			     .bytes = (uint64_t)range->x * range->y * range->z,
			     .src_agent = is_from_host ? host : agent,
			     .dst_agent = is_to_host ? host : agent,
			     .extent = {range->x, range->y, range->z},
			     .parts = 1,
			     .function = RTL_HSA_COPY_RECT};
}

static hsa_status_t async_copy_rect(const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset,
				    const hsa_pitched_ptr_t *src, const hsa_dim3_t *src_offset,
				    const hsa_dim3_t *range, hsa_agent_t agent,
				    hsa_amd_copy_direction_t direction, uint32_t dep_count,
				    const hsa_signal_t *deps, hsa_signal_t completion)
{
	const bool whole = dst && dst_offset && src && src_offset && range;
	const uint64_t bytes = whole ? (uint64_t)range->x * range->y * range->z : 0;
	struct slot *slot = NULL;
	hsa_status_t status;

	if (traced(bytes, completion)) {
		const struct copy copy =
			rect_copy(dst, dst_offset, src, src_offset, range, agent, direction);

		slot = copies_begin(&copy, &completion, false);
	}
	status = interceptor.hsa.async_copy_rect(dst, dst_offset, src, src_offset, range, agent,
						 direction, dep_count, deps, completion);
	ended(slot, bytes, status);
	return status;
}

/* The GPU that owns the memory; 0 if that is the host's. */
static hsa_agent_t owner_of(const void *memory)
{
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};

	if (interceptor.hsa.pointer_info &&
	    !interceptor.hsa.pointer_info(memory, &info, NULL, NULL, NULL) &&
	    info.type != HSA_EXT_POINTER_TYPE_UNKNOWN && agents_find(info.agentOwner))
		return info.agentOwner;
	return (hsa_agent_t){0};
}

/* Whether a synchronous one is to be traced; then it is in the slot, and its time runs. */
static bool call_begin(struct slot *slot, const void *src, const void *dst, uint64_t bytes,
		       uint8_t function)
{
	struct copy copy = {.src = (uintptr_t)src,
			    .dst = (uintptr_t)dst,
			    .bytes = bytes,
			    .parts = 1,
			    .function = function};

	if (!bytes || !copies_wanted())
		return false;
	agents_init();
	copy.dst_agent = owner_of(dst);
	copy.src_agent = function == RTL_HSA_COPY_FILL ? copy.dst_agent : owner_of(src);
	if (!copy.src_agent.handle && !copy.dst_agent.handle)
		return false;
	memset(slot, 0, sizeof(*slot));
	fill(slot, &copy);
	return true;
}

static void call_end(struct slot *slot, hsa_status_t status)
{
	const uint64_t end_ticks = rtl_ticks();

	if (interceptor.config.mode == CONFIG_LITE) {
		copies_untraced(slot->bytes, 1, status);
		return;
	}
	pthread_mutex_lock(&copies.lock);
	slot->packet_id = ++copies.count;
	pthread_mutex_unlock(&copies.lock);
	slot->flags |= RTL_HSA_COPY_BLIT;
	if (status == HSA_STATUS_SUCCESS) {
		slot->flags |= RTL_HSA_COPY_CALL_TIME;
		copy_publish_call(slot, end_ticks);
		return;
	}
	slot->flags = RTL_HSA_COPY_FAILED;
	slot->end_ticks = (uint64_t)status;
	copy_publish_end(slot);
}

static hsa_status_t memory_copy(void *dst, const void *src, size_t size)
{
	struct slot slot;
	const bool is_traced = call_begin(&slot, src, dst, size, RTL_HSA_COPY_LINEAR);
	const hsa_status_t status = interceptor.hsa.memory_copy(dst, src, size);

	if (is_traced)
		call_end(&slot, status);
	return status;
}

static hsa_status_t memory_fill(void *memory, uint32_t value, size_t count)
{
	struct slot slot;
	const bool is_traced = call_begin(&slot, (const void *)(uintptr_t)value, memory,
					  count * sizeof(value), RTL_HSA_COPY_FILL);
	hsa_status_t status;

	if (is_traced)
		slot.direction = RTL_HSA_COPY_NONE;
	status = interceptor.hsa.memory_fill(memory, value, count);
	if (is_traced)
		call_end(&slot, status);
	return status;
}

/* Without profiling there are no times. With it, what asked for none has some in its signals,
 * which does not hurt. */
static hsa_status_t async_copy_enable(bool enable)
{
	if (!enable && interceptor_on() &&
	    atomic_load_explicit(&copies.profiled, memory_order_relaxed)) {
		rtl_log(RTL_LEVEL_INFO, "hsa",
			"profiling of copies stays enabled, they are traced");
		enable = true;
	}
	return interceptor.hsa.async_copy_enable(enable);
}

static void hook(void **entry, void *original, void *function)
{
	if (original)
		*entry = function;
}

void copies_hook(struct root_table *root)
{
	hook(table_amd(root->amd, AMD_MEMORY_ASYNC_COPY), (void *)interceptor.hsa.async_copy,
	     (void *)async_copy);
	hook(table_amd(root->amd, AMD_MEMORY_ASYNC_COPY_ON_ENGINE),
	     (void *)interceptor.hsa.async_copy_on_engine, (void *)async_copy_on_engine);
	hook(table_amd(root->amd, AMD_MEMORY_ASYNC_COPY_RECT),
	     (void *)interceptor.hsa.async_copy_rect, (void *)async_copy_rect);
	hook(table_amd(root->amd, AMD_MEMORY_ASYNC_BATCH_COPY),
	     (void *)interceptor.hsa.async_batch_copy, (void *)copy_batch);
	hook(table_core(root->core, CORE_MEMORY_COPY), (void *)interceptor.hsa.memory_copy,
	     (void *)memory_copy);
	hook(table_amd(root->amd, AMD_MEMORY_FILL), (void *)interceptor.hsa.memory_fill,
	     (void *)memory_fill);
	hook(table_amd(root->amd, AMD_PROFILING_ASYNC_COPY_ENABLE),
	     (void *)interceptor.hsa.async_copy_enable, (void *)async_copy_enable);
}
