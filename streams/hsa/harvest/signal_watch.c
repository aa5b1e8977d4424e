/* SPDX-License-Identifier: MIT */
#include "signal_watch.h"

#include <errno.h>

#include "interceptor.h"

struct signal_watch_bucket signal_watch_buckets[WATCH_BUCKETS];

static __attribute__((cold, noinline)) void lock_patiently(struct signal_watch_bucket *bucket)
{
	const int saved = errno;

	while (!futex_take_spinning(&bucket->lock, 1))
		futex_nap(&bucket->lock);
	errno = saved;
}

static inline struct signal_watch_bucket *lock_bucket(uint64_t signal)
{
	struct signal_watch_bucket *bucket = signal_watch_bucket_of(signal);

	if (__builtin_expect(!futex_take(&bucket->lock, 1), 0))
		lock_patiently(bucket);
	return bucket;
}

static inline void unlock_bucket(struct signal_watch_bucket *bucket)
{
	futex_give_up(&bucket->lock);
}

void signal_watch_forked(void)
{
	for (int i = 0; i < WATCH_BUCKETS; i++)
		signal_watch_buckets[i] = (struct signal_watch_bucket){.first = NULL};
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

struct times {
	uint64_t begin, end;
	enum slot_times by;
};

/* Whether the times in the signal are newer than those that it had when the slot was entered. */
static bool new_times(const struct slot *slot, struct times *times)
{
	const amd_signal_t *signal = (const amd_signal_t *)slot->watched;
	const bool is_copy = slot->kind->is_copy;
	const struct shared_signal *shared = is_copy ? shared_signal(slot->watched) : NULL;

	times->end = shared ? load_ticks(&shared->sdma_end) : 0;
	if (times->end && times->end != slot->before.sdma_end) {
		times->begin = load_ticks(&shared->sdma_begin);
		times->by = SLOT_TIMES_SDMA;
		return true;
	}
	times->end = load_ticks(&signal->end_ts);
	times->begin = load_ticks(&signal->start_ts);
	times->by = is_copy ? SLOT_TIMES_KERNEL : SLOT_TIMES_NONE;
	return times->end != slot->before.end && (shared || !is_copy);
}

/* The slot is out of the table, with its times; from here on it is the harvester's alone. */
static void finish(struct signal_watch_bucket *bucket, struct slot *slot, struct times times)
{
	if (slot->spoilt)
		times = (struct times){0};
	slot->ticks.begin = times.begin;
	slot->ticks.end = times.end;
	slot->times_by = (uint8_t)times.by;
	unlink_slot(bucket, slot);
	/* Pairs with the acquire in signal_watch_finished and in slot_is_done. */
	__atomic_store_n(&slot->done, true, __ATOMIC_RELEASE);
}

/* Takes the times from the signal if the dispatch or copy has left them there. */
static bool capture(struct signal_watch_bucket *bucket, struct slot *slot)
{
	struct times times;

	if (!new_times(slot, &times))
		return false;
	finish(bucket, slot, times);
	return true;
}

/* Whether one of them is under way with that signal: then nobody can tell whose its times are. Takes the times of
 * those that are not. */
static __attribute__((noinline)) bool is_under_way(struct signal_watch_bucket *bucket,
						   uint64_t signal)
{
	bool found = false;

	for (struct slot *other = bucket->first, *next; other; other = next) {
		next = other->watch_next;
		if (other->watched == signal && !capture(bucket, other))
			found = other->spoilt = true;
	}
	return found;
}

static void watch(struct signal_watch_bucket *bucket, struct slot *slot, uint64_t signal)
{
	const struct shared_signal *shared = slot->kind->is_copy ? shared_signal(signal) : NULL;

	slot->before.end = load_ticks(&((const amd_signal_t *)signal)->end_ts);
	slot->before.sdma_end = shared ? load_ticks(&shared->sdma_end) : 0;
	slot->value = (uint8_t)load_value((const amd_signal_t *)signal);
	slot->looked_over = slot->spoilt = false;
	slot->watched = signal;
	slot->watch_next = bucket->first;
	/* Relaxed would do for signal_watch_is_used; release: complete in a child that is forked now, too. */
	__atomic_store_n(&bucket->first, slot, __ATOMIC_RELEASE);
	/* Before it is submitted: nobody else looks at it yet. */
	__atomic_store_n(&slot->done, false, __ATOMIC_RELAXED);
}

bool signal_watch_enter(struct slot *slot, const struct slot_kinds *kinds, uint64_t signal)
{
	struct signal_watch_bucket *bucket = lock_bucket(signal);
	/* Several may be to come to the end with another value; rocprofiler-sdk waits for -1. */
	bool shared = (load_value((const amd_signal_t *)signal) | 1) != 1;

	if (__builtin_expect(bucket->first != NULL, 0))
		shared |= is_under_way(bucket, signal);
	slot->kind = shared ? &kinds->over : &kinds->watched;
	if (shared)
		slot_set_over(slot);
	else
		watch(bucket, slot, signal);
	unlock_bucket(bucket);
	return !shared;
}

void signal_watch_leave(struct slot *slot)
{
	struct signal_watch_bucket *bucket = lock_bucket(slot->watched);

	unlink_slot(bucket, slot);
	unlock_bucket(bucket);
}

void signal_watch_abandon(struct slot *slot, bool looked_at)
{
	if (!looked_at)
		signal_watch_leave(slot);
}

/* A changed value without new times means that none come (profiling was turned off), but the processor may see the
 * value first: it is believed the second time. New times with an unchanged value: it is about to change, or was set
 * again. */
static bool look(struct signal_watch_bucket *bucket, struct slot *slot)
{
	const amd_signal_t *signal = (const amd_signal_t *)slot->watched;
	const bool dropped = load_value(signal) < slot->value;
	struct times times;
	const bool timed = new_times(slot, &times);

	if (!dropped && !timed)
		return false;
	if (dropped != timed && !slot->looked_over) {
		slot->looked_over = true;
		return false;
	}
	finish(bucket, slot, timed ? times : (struct times){0});
	return true;
}

bool signal_watch_finished(struct slot *slot)
{
	/* Pairs with the release in finish. */
	if (__atomic_load_n(&slot->done, __ATOMIC_ACQUIRE))
		return true;
	const uint64_t signal = slot->watched;
	struct signal_watch_bucket *bucket = lock_bucket(signal);
	bool finished = __atomic_load_n(&slot->done, __ATOMIC_ACQUIRE);

	if (!finished)
		finished = look(bucket, slot);
	unlock_bucket(bucket);
	return finished;
}

bool signal_watch_seems_over(struct slot *slot)
{
	/* Pairs with the release in finish. */
	if (__atomic_load_n(&slot->done, __ATOMIC_ACQUIRE))
		return true;
	const uint64_t signal = slot->watched;
	struct times times;
	struct signal_watch_bucket *bucket = lock_bucket(signal);
	/* As long as it is not done, the signal exists. */
	const bool over = __atomic_load_n(&slot->done, __ATOMIC_ACQUIRE) ||
			  load_value((const amd_signal_t *)signal) < slot->value ||
			  new_times(slot, &times);

	unlock_bucket(bucket);
	return over;
}

void signal_watch_used_slowly(uint64_t signal, bool is_destroyed)
{
	struct signal_watch_bucket *bucket = lock_bucket(signal);

	for (struct slot *slot = bucket->first, *next; slot; slot = next) {
		next = slot->watch_next;
		if (slot->watched == signal && !capture(bucket, slot) && is_destroyed)
			finish(bucket, slot, (struct times){0});
	}
	unlock_bucket(bucket);
}

static hsa_status_t signal_destroy(hsa_signal_t signal)
{
	signal_watch_destroyed(signal.handle);
	return interceptor.hsa.signal_destroy(signal);
}

void signal_watch_hook(struct root_table *root)
{
	table_hook(root, ENTRY_hsa_signal_destroy, (void *)signal_destroy, NULL);
}
