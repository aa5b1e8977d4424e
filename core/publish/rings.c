/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include <errno.h>

#include "bus.h"
#include "thread.h"

#define SMALL_RING (64u << 10)
/* Of RTL_BUFFER_TOTAL, kept for threads' first rings; the rest is for full rings and more threads. */
#define FIRST_RINGS ((size_t)128 << 20)
/* Of a spare, what is made ready in one call: some 0.1 ms. */
#define SPARE_STEP (256u << 10)

/* A further ring that is made ready before a thread needs it. */
static struct {
	uint32_t
		wanted; /* a thread has gone on in a further ring since the last one; relaxed: a hint */
	uint32_t busy; /* acquire by who takes it, release by who gives it back */
	/* Of whoever is busy: one that is not ready yet (RING_TAKEN). */
	struct ring_header *ring;
} spare;

/* Whether a ring of an ended thread is drained, and `empty`: its memory given back (reader_give_back); else it has it
 * still, as a ready spare. Acquire: with the consumer's release. */
static bool is_free(const struct ring_header *ring, bool empty)
{
	return __atomic_load_n(&ring->state, __ATOMIC_ACQUIRE) == RING_FREE &&
	       !__atomic_load_n(&ring->ready, __ATOMIC_RELAXED) == empty;
}

/* For that thread, or as a spare. False: the consumer has just begun to give its memory back. */
static bool take_free(struct ring_header *ring, uint32_t tid, enum ring_state as)
{
	uint32_t state = RING_FREE;

	/* acquire: with the release of the consumer, as in is_free */
	if (!__atomic_compare_exchange_n(&ring->state, &state, RING_TAKEN, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return false;
	ring->tid = tid;
	/* release: with the consumer's acquire, which then reads the tid */
	__atomic_store_n(&ring->state, as, __ATOMIC_RELEASE);
	return true;
}

/* As is_free. */
static struct ring_header *reuse_ring(uint32_t tid, bool empty, enum ring_state as)
{
	for (uint32_t i = 0; i < bus.ring_count; i++)
		if (is_free(bus.rings[i], empty) && take_free(bus.rings[i], tid, as))
			return bus.rings[i];
	return NULL;
}

/* The first threads get full rings, later ones a quarter, a sixteenth, or small ones: 128M serve some 680 threads. */
static size_t next_capacity(void)
{
	size_t left = bus.settings.total_bytes - bus.ring_bytes_total;
	uint32_t count = bus.ring_count - bus.grown_count;
	size_t capacity = bus.settings.ring_bytes;

	if (count >= 168)
		capacity = SMALL_RING;
	else if (count >= 40)
		capacity /= 16;
	else if (count >= 8)
		capacity /= 4;
	while (capacity > SMALL_RING && capacity > left)
		capacity /= 2;
	if (capacity < SMALL_RING)
		capacity = SMALL_RING;
	return capacity <= left ? capacity & ~(size_t)4095 : 0;
}

/* Of the total, what is for further rings. */
size_t rings_growth_most(void)
{
	return bus.settings.total_bytes > FIRST_RINGS ? bus.settings.total_bytes - FIRST_RINGS : 0;
}

void rings_tell_budget(void)
{
	struct spool_control *control = bus.spool.control;

	/* all of it until the collector has said how much; it does so when it sees growth_most */
	__atomic_store_n(&control->growth_allowed, rings_growth_most(), __ATOMIC_RELAXED);
	__atomic_store_n(&control->growth_most, rings_growth_most(), __ATOMIC_RELEASE);
}

static size_t further_bytes(void)
{
	return bus.settings.ring_bytes & ~(size_t)4095;
}

/* Whether one further ring may have memory. A session's processes share what each may have, unless the collector
 * died. */
static bool may_hold_more(void)
{
	size_t empty = 0, held;

	if (!bus.collected || fate_collector_died())
		return true;
	for (uint32_t i = 0; i < bus.ring_count; i++)
		if (is_free(bus.rings[i], true))
			empty += bus.rings[i]->capacity;
	held = bus.grown_bytes > empty ? bus.grown_bytes - empty : 0;
	return held + further_bytes() <=
	       __atomic_load_n(&bus.spool.control->growth_allowed, __ATOMIC_RELAXED);
}

/* Capacity of a further ring; 0: the total, or half of what was free of the file system, is used up. */
static size_t grown_capacity(void)
{
	size_t left = bus.settings.total_bytes - bus.ring_bytes_total;
	size_t capacity = further_bytes();

	return capacity <= left && bus.grown_bytes + capacity <= rings_growth_most() &&
			       spool_may_take(&bus.spool, bus.grown_bytes, capacity)
		       ? capacity
		       : 0;
}

/* capacity 0: there is no room for one. */
static struct ring_header *new_ring(uint32_t tid, size_t capacity, enum ring_state as)
{
	struct ring_header *ring;

	if (!capacity || bus.ring_count == SPOOL_RINGS_MAX || !bus.spool.has_files)
		return NULL;
	ring = spool_ring_create(&bus.spool, bus.ring_count, capacity, tid);
	if (!ring)
		return NULL;
	ring->state = as;
	bus.ring_bytes_total += capacity;
	bus.rings[bus.ring_count] = ring;
	/* release: with the acquire in bus_progress; relaxed in publish.c */
	__atomic_store_n(&bus.ring_count, bus.ring_count + 1, __ATOMIC_RELEASE);
	/* release: with the consumer's acquire, which then reads rings[] and the header */
	__atomic_store_n(&bus.spool.control->ring_count, bus.ring_count, __ATOMIC_RELEASE);
	return ring;
}

struct ring_header *rings_take_first(uint32_t tid)
{
	struct ring_header *ring = reuse_ring(tid, false, RING_ACTIVE);

	if (!ring)
		ring = reuse_ring(tid, true, RING_ACTIVE);
	errno = 0;
	return ring ? ring : new_ring(tid, next_capacity(), RING_ACTIVE);
}

/* One without memory: of those that are free, or a new one. */
static struct ring_header *empty_further(uint32_t tid, enum ring_state as)
{
	struct ring_header *ring;

	if (!may_hold_more())
		return NULL;
	ring = reuse_ring(tid, true, as);
	if (ring)
		return ring;
	ring = new_ring(tid, grown_capacity(), as);
	if (ring) {
		bus.grown_bytes += ring->capacity;
		bus.grown_count++;
		__atomic_store_n(&bus.spool.control->growth, bus.grown_bytes, __ATOMIC_RELAXED);
	}
	return ring;
}

/* ---- the spare */

static bool spare_take(void)
{
	return !__atomic_exchange_n(&spare.busy, 1, __ATOMIC_ACQUIRE);
}

static void spare_leave(void)
{
	__atomic_store_n(&spare.busy, 0, __ATOMIC_RELEASE);
}

/* One of which a part is ready, if nobody is at it just now. */
static struct ring_header *unfinished_spare(uint32_t tid)
{
	struct ring_header *ring;

	if (!spare_take())
		return NULL;
	ring = spare.ring;
	spare.ring = NULL;
	if (ring) {
		ring->tid = tid;
		/* release: with the consumer's acquire, which then reads the tid */
		__atomic_store_n(&ring->state, RING_ACTIVE, __ATOMIC_RELEASE);
	}
	spare_leave();
	return ring;
}

struct ring_header *rings_take_further(uint32_t tid)
{
	struct ring_header *ring = reuse_ring(tid, false, RING_ACTIVE);

	if (!ring)
		ring = unfinished_spare(tid);
	if (!ring)
		ring = empty_further(tid, RING_ACTIVE);
	if (ring)
		__atomic_store_n(&spare.wanted, 1, __ATOMIC_RELAXED);
	return ring;
}

static bool has_ready_ring(void)
{
	for (uint32_t i = 0; i < bus.ring_count; i++)
		if (is_free(bus.rings[i], false))
			return true;
	return false;
}

/* Nobody else is at it. */
static void spare_begin(void)
{
	bus_lock();
	if (!has_ready_ring())
		spare.ring = empty_further(0, RING_TAKEN);
	bus_unlock();
}

/* Makes a piece of it ready; returns whether more of it is to do. Nobody else is at it. */
static bool spare_prepare(void)
{
	struct ring_header *ring = spare.ring;
	/* relaxed: no other thread prepares a ring that is taken */
	const uint64_t ready = __atomic_load_n(&ring->ready, __ATOMIC_RELAXED);

	if (spool_ring_prepare(&bus.spool, ring, ready + SPARE_STEP, true) &&
	    __atomic_load_n(&ring->ready, __ATOMIC_RELAXED) < ring->capacity)
		return true;
	/* all of it, or what the disk has room for */
	spare.ring = NULL;
	/* release: with the acquire of the thread that takes it */
	__atomic_store_n(&ring->state, RING_FREE, __ATOMIC_RELEASE);
	return false;
}

static bool spare_go_on(void)
{
	bool is_more = false;
	int state;

	/* what the program calls is not to become a cancellation point */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (!spare.ring)
		spare_begin();
	if (spare.ring)
		is_more = spare_prepare();
	if (!is_more)
		__atomic_store_n(&spare.wanted, 0, __ATOMIC_RELAXED);
	pthread_setcancelstate(state, NULL);
	return is_more;
}

int rtl_room_prepare(void)
{
	int err = errno; /* the program's */
	bool is_more;

	if (!__atomic_load_n(&spare.wanted, __ATOMIC_RELAXED) || thread_locked || !bus_here() ||
	    __atomic_load_n(&bus.state, __ATOMIC_RELAXED) != BUS_RUNNING || !spare_take())
		return 0;
	is_more = spare_go_on();
	spare_leave();
	errno = err;
	return is_more;
}

void rings_forget(void)
{
	spare.ring = NULL;
	__atomic_store_n(&spare.wanted, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&spare.busy, 0, __ATOMIC_RELAXED);
}
