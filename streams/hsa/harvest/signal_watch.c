/* SPDX-License-Identifier: MIT */
/* Dispatches and copies that carry a completion signal of the application: see signal_watch.h. */
#include "signal_watch.h"

#include <rtl/events.h>

#include "../../common/fork_lock.h"
#include "interceptor.h"

struct signal_watch_bucket signal_watch_buckets[WATCH_BUCKETS] = {
	[0 ... WATCH_BUCKETS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};
FORK_LOCKS(buckets, signal_watch_buckets[0].lock, WATCH_BUCKETS,
	   sizeof(struct signal_watch_bucket));

static struct signal_watch_bucket *lock_bucket(uint64_t signal)
{
	struct signal_watch_bucket *bucket = signal_watch_bucket_of(signal);

	pthread_mutex_lock(&bucket->lock);
	return bucket;
}

uint32_t signal_watch_entries(void)
{
	uint32_t count = 0;

	for (int i = 0; i < WATCH_BUCKETS; i++) {
		pthread_mutex_lock(&signal_watch_buckets[i].lock);
		for (const struct slot *s = signal_watch_buckets[i].first; s; s = s->watch_next)
			count++;
		pthread_mutex_unlock(&signal_watch_buckets[i].lock);
	}
	return count;
}

static void unlock_bucket(struct signal_watch_bucket *bucket)
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

static void unlink_slot(struct signal_watch_bucket *bucket, struct slot *slot)
{
	for (struct slot **link = &bucket->first; *link; link = &(*link)->watch_next) {
		if (*link == slot) {
			/* Relaxed: see signal_watch_is_used. */
			__atomic_store_n(link, slot->watch_next, __ATOMIC_RELAXED);
			return;
		}
	}
}

/* The slot is out of the table; from here on it is the harvester's alone. */
static void finish(struct signal_watch_bucket *bucket, struct slot *slot)
{
	unlink_slot(bucket, slot);
	/* Pairs with the acquire in signal_watch_finished and in the harvester's slot_finished. */
	atomic_store_explicit(&slot->done, true, memory_order_release);
}

/* What the runtime has at the place of a signal (SharedSignal in its core/inc/signal.h). */
struct shared_signal {
	amd_signal_t signal;
	uint64_t sdma_begin;
	uint64_t object;
	uint64_t id;
	uint64_t reserved;
	uint64_t sdma_end;
};
_Static_assert(offsetof(struct shared_signal, sdma_begin) == 64, "SharedSignal");
_Static_assert(offsetof(struct shared_signal, sdma_end) == 96, "SharedSignal");
#define SHARED_SIGNAL_ID 0x71fcca6a3d5d5276u

/* NULL: it is not as we know it. */
static struct shared_signal *shared_signal(uint64_t handle)
{
	struct shared_signal *shared = (struct shared_signal *)handle;

	return shared->id == SHARED_SIGNAL_ID ? shared : NULL;
}

/* The times that a copy has left in its signal, if they are not those from before. */
static bool copy_times(const struct slot *slot, uint64_t *begin, uint64_t *end, uint32_t *how)
{
	const struct shared_signal *shared = shared_signal(slot->watched);

	if (!shared)
		return false;
	*end = load_ticks(&shared->sdma_end);
	if (*end && *end != slot->begin_ticks) {
		*begin = load_ticks(&shared->sdma_begin);
		*how = RTL_HSA_COPY_SDMA;
		return true;
	}
	*end = load_ticks(&shared->signal.end_ts);
	*begin = load_ticks(&shared->signal.start_ts);
	*how = RTL_HSA_COPY_BLIT;
	return *end != slot->end_ticks;
}

static bool capture_copy(struct signal_watch_bucket *bucket, struct slot *slot)
{
	uint64_t begin, end;
	uint32_t how;

	if (!copy_times(slot, &begin, &end, &how))
		return false;
	slot->begin_ticks = begin;
	slot->end_ticks = end;
	slot->flags |= how;
	finish(bucket, slot);
	return true;
}

/* Whether the times in the signal are newer than those that it had when the slot was entered. */
static bool has_times(const struct slot *slot)
{
	const amd_signal_t *signal = (const amd_signal_t *)slot->watched;
	uint64_t begin, end;
	uint32_t how;

	return slot->is_copy ? copy_times(slot, &begin, &end, &how)
			     : load_ticks(&signal->end_ts) != slot->end_ticks;
}

/* Takes the times from the signal if the dispatch or copy has left them there. */
static bool capture(struct signal_watch_bucket *bucket, struct slot *slot)
{
	if (slot->is_copy)
		return capture_copy(bucket, slot);
	const amd_signal_t *signal = (const amd_signal_t *)slot->watched;
	const uint64_t end = load_ticks(&signal->end_ts);

	if (end == slot->end_ticks)
		return false;
	slot->begin_ticks = load_ticks(&signal->start_ts);
	slot->end_ticks = end;
	finish(bucket, slot);
	return true;
}

static void link_slot(struct signal_watch_bucket *bucket, struct slot *slot, uint64_t signal)
{
	slot->watched = signal;
	slot->watch_next = bucket->first;
	/* Relaxed would do for signal_watch_is_used; release: see fork_lock.h. */
	__atomic_store_n(&bucket->first, slot, __ATOMIC_RELEASE);
	/* Before it is submitted: nobody else looks at it yet. */
	atomic_store_explicit(&slot->done, false, memory_order_relaxed);
}

enum slot_kind signal_watch_enter(struct slot *slot, uint64_t signal, bool behind_relays)
{
	const amd_signal_t *theirs = (const amd_signal_t *)signal;
	struct signal_watch_bucket *bucket = lock_bucket(signal);
	bool shared = behind_relays || load_value(theirs) != 1 ||
		      atomic_load_explicit(&interceptor.blind, memory_order_relaxed);

	for (struct slot *other = bucket->first, *next; other; other = next) {
		next = other->watch_next;
		if (other->watched == signal)
			shared |= other->kind == SLOT_RELAY || !capture(bucket, other);
	}
	slot->kind = shared ? SLOT_RELAY : SLOT_WATCH;
	slot->looks = 0;
	slot->end_ticks = shared ? 0 : load_ticks(&theirs->end_ts);
	link_slot(bucket, slot, signal);
	unlock_bucket(bucket);
	return shared ? SLOT_RELAY : SLOT_WATCH;
}

/*
 * A dispatch under way on the signal does not matter to a copy, nor do relayed copies: they give
 * the signal their times only while none of ours that it would be mixed up with is under way.
 */
enum slot_kind signal_watch_enter_copy(struct slot *slot, uint64_t signal)
{
	const struct shared_signal *shared = shared_signal(signal);
	struct signal_watch_bucket *bucket = lock_bucket(signal);
	bool taken = false;

	for (struct slot *other = bucket->first, *next; other; other = next) {
		next = other->watch_next;
		if (other->watched == signal && other->kind == SLOT_WATCH)
			taken |= !capture(bucket, other) && other->is_copy;
	}
	/* Without its times there is no use in a relay, and no way to tell the application. */
	slot->kind = taken && shared ? SLOT_RELAY : SLOT_WATCH;
	slot->looks = 0;
	slot->begin_ticks = slot->end_ticks = 0;
	if (slot->kind == SLOT_WATCH && shared) {
		slot->begin_ticks = load_ticks(&shared->sdma_end);
		slot->end_ticks = load_ticks(&shared->signal.end_ts);
	}
	link_slot(bucket, slot, signal);
	unlock_bucket(bucket);
	return (enum slot_kind)slot->kind;
}

void signal_watch_spoil(uint64_t signal)
{
	struct signal_watch_bucket *bucket = lock_bucket(signal);

	for (struct slot *slot = bucket->first, *next; slot; slot = next) {
		next = slot->watch_next;
		if (slot->watched == signal && slot->kind == SLOT_WATCH && slot->is_copy &&
		    !capture(bucket, slot))
			slot->flags |= RTL_HSA_COPY_NO_TIME;
	}
	unlock_bucket(bucket);
}

void signal_watch_leave(struct slot *slot)
{
	struct signal_watch_bucket *bucket = lock_bucket(slot->watched);

	unlink_slot(bucket, slot);
	unlock_bucket(bucket);
}

/*
 * Without new times, a value that has changed means that they are not coming (profiling was
 * turned off), but the processor may see the value first: so that is believed the second time.
 * With new times, a value that has not changed may mean that it is about to change, or that it
 * was set again.
 */
static bool look(struct signal_watch_bucket *bucket, struct slot *slot)
{
	const amd_signal_t *signal = (const amd_signal_t *)slot->watched;
	const bool dropped = load_value(signal) < 1;
	const bool timed = has_times(slot);

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

bool signal_watch_finished(struct slot *slot)
{
	/* Pairs with the release in finish. */
	if (atomic_load_explicit(&slot->done, memory_order_acquire))
		return true;
	const uint64_t signal = slot->watched;
	struct signal_watch_bucket *bucket = lock_bucket(signal);
	bool finished = atomic_load_explicit(&slot->done, memory_order_acquire);

	if (!finished)
		finished = look(bucket, slot);
	unlock_bucket(bucket);
	return finished;
}

bool signal_watch_seems_over(struct slot *slot)
{
	/* Pairs with the release in finish. */
	if (atomic_load_explicit(&slot->done, memory_order_acquire))
		return true;
	if (slot->kind != SLOT_WATCH)
		return false;
	const uint64_t signal = slot->watched;
	struct signal_watch_bucket *bucket = lock_bucket(signal);
	/* As long as it is not done, the signal exists. */
	const bool over = atomic_load_explicit(&slot->done, memory_order_acquire) ||
			  load_value((const amd_signal_t *)signal) < 1 || has_times(slot);

	unlock_bucket(bucket);
	return over;
}

void signal_watch_reused_slowly(uint64_t signal)
{
	struct signal_watch_bucket *bucket = lock_bucket(signal);

	for (struct slot *slot = bucket->first, *next; slot; slot = next) {
		next = slot->watch_next;
		if (slot->watched == signal && slot->kind == SLOT_WATCH)
			(void)capture(bucket, slot);
	}
	unlock_bucket(bucket);
}

void signal_watch_destroyed_slowly(uint64_t signal)
{
	struct signal_watch_bucket *bucket = lock_bucket(signal);

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
static void tell_others(struct signal_watch_bucket *bucket, const struct slot *relayed,
			uint64_t signal, uint64_t end)
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
static void complete(struct signal_watch_bucket *bucket, const struct slot *slot, uint64_t signal,
		     uint64_t begin, uint64_t end)
{
	amd_signal_t *theirs = (amd_signal_t *)signal;

	if (end > slot->end_ticks) {
		tell_others(bucket, slot, signal, end);
		__atomic_store_n(&theirs->start_ts, begin, __ATOMIC_RELAXED);
		__atomic_store_n(&theirs->end_ts, end, __ATOMIC_RELAXED);
	}
	interceptor.hsa.signal_subtract((hsa_signal_t){signal}, 1);
}

void signal_watch_relay(struct slot *slot, uint64_t signal, uint64_t begin_ticks,
			uint64_t end_ticks)
{
	struct signal_watch_bucket *bucket = lock_bucket(signal);

	if (slot->watched)
		complete(bucket, slot, signal, begin_ticks, end_ticks);
	slot->begin_ticks = begin_ticks;
	slot->end_ticks = end_ticks;
	finish(bucket, slot);
	unlock_bucket(bucket);
}

/* Whether a copy under way writes its times to the signal by itself. */
static bool copy_under_way(struct signal_watch_bucket *bucket, uint64_t signal)
{
	bool found = false;

	for (struct slot *slot = bucket->first, *next; slot; slot = next) {
		next = slot->watch_next;
		if (slot->watched == signal && slot->kind == SLOT_WATCH && slot->is_copy)
			found |= !capture(bucket, slot);
	}
	return found;
}

/*
 * Gives the signal the times of a relayed copy, where the engine would have written them. If
 * another copy is under way there, it will end later, and its times are the ones to stay.
 */
static void give_times(struct signal_watch_bucket *bucket, const struct slot *slot, uint64_t signal,
		       uint64_t begin, uint64_t end)
{
	struct shared_signal *theirs = shared_signal(signal);
	const bool by_sdma = slot->flags & RTL_HSA_COPY_SDMA;
	uint64_t *at = by_sdma ? &theirs->sdma_end : &theirs->signal.end_ts;

	if (copy_under_way(bucket, signal) || load_ticks(at) >= end)
		return;
	__atomic_store_n(by_sdma ? &theirs->sdma_begin : &theirs->signal.start_ts, begin,
			 __ATOMIC_RELAXED);
	__atomic_store_n(at, end, __ATOMIC_RELAXED);
}

void signal_watch_relay_copy(struct slot *slot, uint64_t signal, uint64_t relay)
{
	struct signal_watch_bucket *bucket = lock_bucket(signal);
	struct shared_signal *ours = shared_signal(relay);
	const bool by_sdma = ours->sdma_end != 0;

	slot->begin_ticks = by_sdma ? ours->sdma_begin : ours->signal.start_ts;
	slot->end_ticks = by_sdma ? ours->sdma_end : ours->signal.end_ts;
	slot->flags |= by_sdma ? RTL_HSA_COPY_SDMA : RTL_HSA_COPY_BLIT;
	ours->sdma_begin = ours->sdma_end = 0;
	if (slot->watched) {
		if (slot->end_ticks)
			give_times(bucket, slot, signal, slot->begin_ticks, slot->end_ticks);
		interceptor.hsa.signal_subtract((hsa_signal_t){signal}, 1);
	}
	finish(bucket, slot);
	unlock_bucket(bucket);
}
