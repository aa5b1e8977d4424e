/* SPDX-License-Identifier: MIT */
/* Dispatches that carry a completion signal of the application: see watch.h. */
#include "watch.h"

#include <pthread.h>
#include <rtl/rocm.h>

#include "collector.h"

#define BUCKETS 256

static struct bucket {
	pthread_mutex_t lock;
	struct slot *first;
} buckets[BUCKETS] = {[0 ... BUCKETS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

_Atomic uint32_t watch_count;

static struct bucket *lock_bucket(uint64_t signal)
{
	struct bucket *bucket = &buckets[(signal * 0x9e3779b97f4a7c15u) >> 56];

	pthread_mutex_lock(&bucket->lock);
	return bucket;
}

static void unlock_bucket(struct bucket *bucket)
{
	pthread_mutex_unlock(&bucket->lock);
}

/* The GPU writes the times before it changes the value, each on its own. */
static uint64_t load_ticks(const uint64_t *ticks)
{
	return __atomic_load_n(ticks, __ATOMIC_ACQUIRE);
}

static int64_t load_value(const amd_signal_t *signal)
{
	return __atomic_load_n(&signal->value, __ATOMIC_ACQUIRE);
}

static void unlink_slot(struct bucket *bucket, struct slot *slot)
{
	for (struct slot **link = &bucket->first; *link; link = &(*link)->watch_next) {
		if (*link == slot) {
			*link = slot->watch_next;
			atomic_fetch_sub_explicit(&watch_count, 1, memory_order_relaxed);
			return;
		}
	}
}

/* The slot is out of the table; from here on it is the harvester's alone. */
static void finish(struct bucket *bucket, struct slot *slot)
{
	unlink_slot(bucket, slot);
	/* Pairs with the acquire in watch_finished and in the harvester's slot_finished. */
	atomic_store_explicit(&slot->done, true, memory_order_release);
}

/* Takes the times from the signal if the dispatch has left them there. */
static bool capture(struct bucket *bucket, struct slot *slot)
{
	const amd_signal_t *signal = (const amd_signal_t *)slot->watched;
	const uint64_t end = load_ticks(&signal->end_ts);

	if (end == slot->end_ticks)
		return false;
	slot->begin_ticks = load_ticks(&signal->start_ts);
	slot->end_ticks = end;
	finish(bucket, slot);
	return true;
}

enum slot_kind watch_enter(struct slot *slot, uint64_t signal)
{
	const amd_signal_t *theirs = (const amd_signal_t *)signal;
	struct bucket *bucket = lock_bucket(signal);
	bool shared = load_value(theirs) != 1 ||
		      atomic_load_explicit(&collector.blind, memory_order_relaxed);

	for (struct slot *other = bucket->first, *next; other; other = next) {
		next = other->watch_next;
		if (other->watched == signal)
			shared |= other->kind == SLOT_RELAY || !capture(bucket, other);
	}
	slot->kind = shared ? SLOT_RELAY : SLOT_WATCH;
	slot->watched = signal;
	slot->looks = 0;
	slot->end_ticks = shared ? 0 : load_ticks(&theirs->end_ts);
	slot->watch_next = bucket->first;
	bucket->first = slot;
	atomic_fetch_add_explicit(&watch_count, 1, memory_order_relaxed);
	/* Before it is submitted: nobody else looks at it yet. */
	atomic_store_explicit(&slot->done, false, memory_order_relaxed);
	unlock_bucket(bucket);
	return shared ? SLOT_RELAY : SLOT_WATCH;
}

void watch_leave(struct slot *slot)
{
	struct bucket *bucket = lock_bucket(slot->watched);

	unlink_slot(bucket, slot);
	unlock_bucket(bucket);
}

/*
 * Without new times, a value that has changed means that they are not coming (profiling was
 * turned off), but the processor may see the value first: so that is believed the second time.
 * With new times, a value that has not changed may mean that it is about to change, or that it
 * was set again.
 */
static bool look(struct bucket *bucket, struct slot *slot)
{
	const amd_signal_t *signal = (const amd_signal_t *)slot->watched;
	const bool dropped = load_value(signal) < 1;
	const bool timed = load_ticks(&signal->end_ts) != slot->end_ticks;

	if (!dropped && !timed)
		return false;
	if (dropped != timed && slot->looks++ == 0)
		return false;
	if (capture(bucket, slot))
		return true;
	slot->begin_ticks = slot->end_ticks = 0;
	finish(bucket, slot);
	return true;
}

bool watch_finished(struct slot *slot)
{
	/* Pairs with the release in finish. */
	if (atomic_load_explicit(&slot->done, memory_order_acquire))
		return true;
	const uint64_t signal = slot->watched;
	struct bucket *bucket = lock_bucket(signal);
	bool finished = atomic_load_explicit(&slot->done, memory_order_acquire);

	if (!finished)
		finished = look(bucket, slot);
	unlock_bucket(bucket);
	return finished;
}

void watch_reused_slowly(uint64_t signal)
{
	struct bucket *bucket = lock_bucket(signal);

	for (struct slot *slot = bucket->first, *next; slot; slot = next) {
		next = slot->watch_next;
		if (slot->watched == signal && slot->kind == SLOT_WATCH)
			(void)capture(bucket, slot);
	}
	unlock_bucket(bucket);
}

void watch_destroyed_slowly(uint64_t signal)
{
	struct bucket *bucket = lock_bucket(signal);

	for (struct slot *slot = bucket->first, *next; slot; slot = next) {
		next = slot->watch_next;
		if (slot->watched != signal)
			continue;
		if (slot->kind == SLOT_RELAY) {
			slot->watched = 0;
		} else if (!capture(bucket, slot)) {
			slot->begin_ticks = slot->end_ticks = 0;
			finish(bucket, slot);
		}
	}
	unlock_bucket(bucket);
}

/*
 * Before a relay gives the signal its times: a dispatch that was submitted earlier, and whose
 * times we have not read yet, must not take them for its own; and a dispatch that ended earlier,
 * but is relayed later, must not overwrite them: the last one's times remain, as on the GPU.
 */
static void tell_others(struct bucket *bucket, const struct slot *relayed, uint64_t signal,
			uint64_t end)
{
	for (struct slot *slot = bucket->first, *next; slot; slot = next) {
		next = slot->watch_next;
		if (slot->watched != signal || slot == relayed)
			continue;
		if (slot->kind == SLOT_WATCH && !capture(bucket, slot))
			slot->end_ticks = end;
		else if (slot->kind == SLOT_RELAY && slot->node == relayed->node &&
			 slot->end_ticks < end)
			slot->end_ticks = end;
	}
}

/* What the packet processor does at the end of a packet: times, then the value, with its event
 * if it has one (the runtime's function raises it). */
static void complete(struct bucket *bucket, const struct slot *slot, uint64_t signal,
		     uint64_t begin, uint64_t end)
{
	amd_signal_t *theirs = (amd_signal_t *)signal;

	if (end > slot->end_ticks) {
		tell_others(bucket, slot, signal, end);
		__atomic_store_n(&theirs->start_ts, begin, __ATOMIC_RELAXED);
		__atomic_store_n(&theirs->end_ts, end, __ATOMIC_RELAXED);
	}
	collector.hsa.signal_subtract((hsa_signal_t){signal}, 1);
}

void watch_relay(struct slot *slot, uint64_t signal, uint64_t begin_ticks, uint64_t end_ticks)
{
	struct bucket *bucket = lock_bucket(signal);

	if (slot->watched)
		complete(bucket, slot, signal, begin_ticks, end_ticks);
	slot->begin_ticks = begin_ticks;
	slot->end_ticks = end_ticks;
	finish(bucket, slot);
	unlock_bucket(bucket);
}
