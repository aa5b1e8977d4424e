/* SPDX-License-Identifier: MIT */
/* What a harvester harvests: see harvest_queues.h. */
#include "harvest_queues.h"

#include "agents.h"
#include "copy_publish.h"
#include "harvest.h"
#include "interceptor.h"
#include "publish.h"
#include "queue.h"
#include "relay.h"
#include "signal_watch.h"

/* How many unfinished slots in a row end the look at a queue; now and then it goes on. */
#define LOOK_AHEAD     64
#define FULL_LOOK_EACH 8
/* A helper looks at all copies, which end in any order, where there are not more. */
#define COPIES_ALL 1024
/* Slots that a queue gets before it needs them. */
#define SLOTS_SOON 1024

/* New queues, a stack: release by harvest_queues_add, acquire by adopt. */
static _Atomic(struct queue *) added;

void harvest_queues_add(struct queue *queue)
{
	struct queue *first = atomic_load_explicit(&added, memory_order_relaxed);

	do {
		queue->next_added = first;
		/* Release: the queue is complete. Pairs with adopt's acquire. */
	} while (!atomic_compare_exchange_weak_explicit(&added, &first, queue, memory_order_release,
							memory_order_relaxed));
}

void harvest_queues_forget(void)
{
	atomic_store_explicit(&added, NULL, memory_order_relaxed);
}

void harvest_queues_adopt(struct harvest_queues *queues)
{
	struct queue *queue = atomic_exchange_explicit(&added, NULL, memory_order_acquire);

	while (queue) {
		struct queue *next = queue->next_added;

		queue->next_harvested = queues->first;
		queues->first = queue;
		queue = next;
	}
}

/* Whether the dispatch has ended; then its times are in the slot. */
static bool slot_finished(struct slot *slot)
{
	const amd_signal_t *signal;

	switch (slot->kind) {
	case SLOT_OWN:
		signal = (const amd_signal_t *)slot->signal;
		/* The GPU writes the times first. */
		if (__atomic_load_n(&signal->value, __ATOMIC_ACQUIRE) >= 1)
			return false;
		slot->begin_ticks = signal->start_ts;
		slot->end_ticks = signal->end_ts;
		return true;
	case SLOT_WATCH:
		return signal_watch_finished(slot);
	default:
		/* Pairs with the release in signal_watch.c's finish. */
		return atomic_load_explicit(&slot->done, memory_order_acquire);
	}
}

static void prefetch(const struct slot_pool *pool, uint32_t number)
{
	if (number == SLOT_NONE)
		return;
	__builtin_prefetch(&pool->slots[number]);
	__builtin_prefetch((const char *)&pool->slots[number] + 64);
}

/* Takes a slot out of the list; `before` is SLOT_NONE for the first. */
static void take_out(struct slot_pool *pool, uint32_t before, uint32_t number)
{
	const uint32_t next = pool->slots[number].next;

	if (before == SLOT_NONE)
		pool->first = next;
	else
		pool->slots[before].next = next;
	if (pool->last == number)
		pool->last = before;
	pool->pending--;
}

/* The slot's dispatch has ended: publishes it, and makes the slot free, if it is still ours. */
static void harvest_slot(struct queue *queue, struct slot *slot)
{
	const uint64_t taken = atomic_load_explicit(&queue->taken, memory_order_relaxed);

	if (slot->packet_id >= taken)
		atomic_store_explicit(&queue->taken, slot->packet_id + 1, memory_order_relaxed);
	if (queue->copies)
		copy_publish_end(slot);
	else
		publish_end(queue, slot);
	if (queue->copies || slot->what != SLOT_SILENT)
		rtl_pending_end(queue->pending, 1);
	if (!harvest_left())
		slots_recycle(&queue->pool, slot);
}

/* What is published in a pass: no more than this, and, unless it may wait, while there is room. */
struct allowed {
	uint32_t most;
	bool may_wait;
	int left; /* 0: nothing was left out; 1: there was more than `most`; what rtl_room says */
};

static bool may_publish(struct allowed *allowed, const struct queue *queue, const struct slot *slot)
{
	if (allowed->may_wait)
		return true;
	allowed->left = allowed->most ? publish_room(queue, slot) : 1;
	allowed->most--;
	return !allowed->left;
}

/*
 * Publishes what has finished; returns how many that were. Unless it is to look at all of it, it
 * leaves out what cannot have begun: what a barrier before it keeps waiting.
 */
static uint32_t harvest_finished(struct queue *queue, bool all, struct allowed *allowed)
{
	struct slot_pool *pool = &queue->pool;
	uint32_t before = SLOT_NONE, number = pool->first, finished = 0, in_a_row = 0;
	bool behind = false; /* an unfinished one that a barrier waits for */

	while (number != SLOT_NONE && (all || in_a_row < LOOK_AHEAD)) {
		struct slot *slot = &pool->slots[number];
		const uint32_t next = slot->next;

		behind |= slot->behind_barrier && before != SLOT_NONE;
		if (behind && !all && !queue->disordered)
			break;
		prefetch(pool, next);
		if (slot_finished(slot)) {
			if (!may_publish(allowed, queue, slot))
				break;
			queue->disordered |= behind;
			take_out(pool, before, number);
			harvest_slot(queue, slot);
			if (harvest_left())
				break;
			finished++;
			in_a_row = 0;
		} else {
			before = number;
			in_a_row++;
		}
		number = next;
	}
	return finished;
}

static void grow(struct queue *queue)
{
	struct slot_pool *pool = &queue->pool;

	if (pool->count < SLOTS_SOON)
		slots_grow(pool, SLOTS_SOON - pool->count);
	else if (slots_free(pool) < pool->count / 2)
		slots_grow(pool, pool->count);
}

/* Whether the process is at its end, at which its threads may go on: they look at what they have
 * submitted to know whether there is room for more (room.c). */
static bool stays_watched(const struct queue *queue)
{
	return atomic_load_explicit(&interceptor.state, memory_order_relaxed) ==
		       INTERCEPTOR_ENDED &&
	       !atomic_load_explicit(&queue->dead, memory_order_relaxed);
}

/* Gives up what is left of a queue, and says how much that was. A relay's slot stays: the
 * runtime may still complete it. Returns whether nothing is left. */
static bool abandon(struct queue *queue, const char *cause)
{
	const bool watched = stays_watched(queue);
	struct slot_pool *pool = &queue->pool;
	uint32_t before = SLOT_NONE, number, lost = 0;
	bool empty = true;

	(void)slots_collect(pool);
	number = pool->first;
	while (number != SLOT_NONE) {
		struct slot *slot = &pool->slots[number];
		const uint32_t next = slot->next;

		lost += queue->copies || slot->what != SLOT_SILENT;
		if (slot->kind == SLOT_RELAY) {
			empty = false;
			before = number;
		} else {
			if (slot->kind == SLOT_WATCH && !watched)
				signal_watch_leave(slot);
			take_out(pool, before, number);
		}
		number = next;
	}
	if (lost)
		rtl_stream_count_missed(queue->copies ? interceptor.copies : interceptor.stream,
					cause, lost);
	rtl_pending_end(queue->pending, lost);
	return empty;
}

/* What mode lite has passed on since the last time: counting each by itself would cost the
 * submitting thread more than the rest. */
static void count_lite(struct queue *queue)
{
	const uint64_t lite = atomic_load_explicit(&queue->lite, memory_order_relaxed);

	if (lite == queue->lite_counted)
		return;
	rtl_stream_count_missed(interceptor.stream, "mode lite: dispatch has a completion signal",
				lite - queue->lite_counted);
	rtl_pending_end(queue->pending, lite - queue->lite_counted);
	queue->lite_counted = lite;
}

/* Frees queues that have been destroyed. */
static void bury(struct harvest_queues *queues, struct allowed *allowed)
{
	for (struct queue **link = &queues->first; *link;) {
		struct queue *queue = *link;

		/* Pairs with the release in queue_destroy: what was submitted has been. */
		if (!atomic_load_explicit(&queue->dead, memory_order_acquire)) {
			link = &queue->next_harvested;
			continue;
		}
		(void)slots_collect(&queue->pool);
		(void)harvest_finished(queue, true, allowed);
		if (harvest_left() || allowed->left)
			return;
		*link = queue->next_harvested;
		count_lite(queue);
		if (abandon(queue, "queue destroyed before the dispatch had finished"))
			queue_free(queue);
	}
}

/* Recording was started: what describes later events and was published while nobody listened comes
 * once more. */
static void announce(struct harvest_queues *queues)
{
	const bool wanted = rtl_enabled(interceptor.stream, RTL_METADATA);

	if (wanted && !queues->wanted)
		agents_publish();
	queues->wanted = wanted;
}

static void look_at(struct harvest_queues *queues, struct queue *queue, bool all, bool *progress,
		    struct allowed *allowed)
{
	*progress |= slots_collect(&queue->pool) != 0;
	*progress |= harvest_finished(queue, all, allowed) != 0;
	if (harvest_left())
		return;
	count_lite(queue);
	grow(queue);
	queues->under_way += queue->pool.pending;
	atomic_store_explicit(&queue->unfinished, queue->pool.pending, memory_order_relaxed);
}

bool harvest_queues_pass(struct harvest_queues *queues, uint32_t number, bool may_wait, bool *all)
{
	struct allowed allowed = {.most = UINT32_MAX, .may_wait = may_wait};
	bool progress = false;

	announce(queues);
	if (harvest_left())
		return false;
	harvest_queues_adopt(queues);
	bury(queues, &allowed);
	if (!harvest_left())
		relay_rescue();
	queues->under_way = 0;
	for (struct queue *queue = queues->first; queue && !harvest_left();
	     queue = queue->next_harvested)
		look_at(queues, queue, number % FULL_LOOK_EACH == 0, &progress, &allowed);
	if (!harvest_left())
		relay_grow();
	*all = !allowed.left;
	return progress;
}

static bool is_pending(const struct queue *queue)
{
	const struct slot_pool *pool = &queue->pool;

	return pool->pending ||
	       atomic_load_explicit(&pool->submit_tail, memory_order_relaxed) != pool->submit_head;
}

bool harvest_queues_pending(const struct harvest_queues *queues)
{
	if (atomic_load_explicit(&added, memory_order_relaxed))
		return true;
	for (struct queue *queue = queues->first; queue; queue = queue->next_harvested) {
		if (is_pending(queue))
			return true;
	}
	return false;
}

int harvest_queues_help(struct harvest_queues *queues, uint32_t most)
{
	struct allowed allowed = {.most = most};

	if (atomic_load_explicit(&added, memory_order_relaxed))
		harvest_queues_adopt(queues);
	for (struct queue *queue = queues->first; queue && !allowed.left;
	     queue = queue->next_harvested) {
		if (!is_pending(queue))
			continue;
		(void)slots_collect(&queue->pool);
		(void)harvest_finished(queue, queue->copies && queue->pool.pending <= COPIES_ALL,
				       &allowed);
		if (harvest_left())
			return 0;
		atomic_store_explicit(&queue->unfinished, queue->pool.pending,
				      memory_order_relaxed);
	}
	return allowed.left;
}

bool harvest_queues_waiting(const struct harvest_queues *queues)
{
	if (atomic_load_explicit(&added, memory_order_relaxed))
		return true;
	for (struct queue *queue = queues->first; queue; queue = queue->next_harvested) {
		if (atomic_load_explicit(&queue->pool.submit_tail, memory_order_relaxed) !=
			    queue->pool.submit_head ||
		    atomic_load_explicit(&queue->dead, memory_order_relaxed))
			return true;
	}
	return false;
}

void harvest_queues_abandon(struct harvest_queues *queues, const char *cause)
{
	for (struct queue *queue = queues->first; queue; queue = queue->next_harvested) {
		count_lite(queue);
		(void)abandon(queue, cause);
	}
	queues->first = NULL;
	queues->under_way = 0;
}
