/* SPDX-License-Identifier: MIT */
/* See open.h. */
#include "open.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "bus.h"
#include "clock.h"
#include "writer.h"

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
/* Orders our stores for a signal handler on this thread, and costs nothing. */
#define BARRIER() __asm__ volatile("" ::: "memory")

/* What an open thing is closed by: its ring and its place there. 0 is none of them. */
#define UNKEPT 0xffffffffu /* only counted */

static inline uint32_t handle_of(const struct ring_header *ring, uint32_t place)
{
	return (ring->index + 1) << 8 | place;
}

/* ---- a place */

static uint64_t *unkept(struct rtl_stream *stream)
{
	return &((struct spool_stream *)(void *)stream)->open_unkept;
}

/* Once the process has ended it is missed. */
static struct rtl_record *only_count(struct rtl_stream *stream, uint32_t *handle)
{
	if (stream == &rtl_stream_none || bus.parents)
		return NULL;
	__atomic_fetch_add(unkept(stream), 1, __ATOMIC_RELAXED);
	*handle = UNKEPT;
	return NULL;
}

static void forget_unkept(struct rtl_stream *stream)
{
	uint64_t count;

	if (!bus_here()) /* a child, and it is its parent's */
		return;
	count = __atomic_load_n(unkept(stream), __ATOMIC_RELAXED);
	/* a child's control page is new: there may be none */
	while (count && !__atomic_compare_exchange_n(unkept(stream), &count, count - 1, false,
						     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* A ring for a thread that has none; false: it cannot be had, or this is a signal handler that has
 * interrupted rtl. */
static bool take_ring(void)
{
	struct writer *writer = writer_self;
	int err = errno, state; /* the program's */
	bool taken = false;

	if (writer_locked || (writer->in_use && writer->busy))
		return false;
	/* what the program calls is not to become a cancellation point */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (!writer->in_use && bus_start())
		goto out;
	writer = writer_self;
	if (!writer->in_use && !(writer = writer_attach()))
		goto out;
	writer->busy = 1;
	BARRIER();
	taken = writer->ring || writer_take_ring(writer);
	BARRIER();
	writer->busy = 0;
out:
	pthread_setcancelstate(state, NULL);
	errno = err;
	return taken;
}

static inline bool is_free(const struct ring_open *open)
{
	/* acquire: with the release in rtl_open_close, by another thread maybe */
	return __atomic_load_n(&open->state, __ATOMIC_ACQUIRE) == RING_OPEN_FREE;
}

/* The first free place of the ring, mostly where the last one was closed; RING_OPEN_MAX: none. */
static inline uint32_t find_place(const struct writer *writer)
{
	uint32_t i = writer->open_next;

	if (LIKELY(i < RING_OPEN_MAX && is_free(&writer->ring->open[i])))
		return i;
	for (i = 0; i < RING_OPEN_MAX && !is_free(&writer->ring->open[i]); i++)
		;
	return i;
}

static inline bool is_wanted(const struct rtl_stream *stream, uint16_t type)
{
	return __atomic_load_n(&stream->wanted[type & 0xff], __ATOMIC_RELAXED) & SPOOL_WANT_RECORD;
}

struct rtl_record *rtl_open_reserve(struct rtl_stream *stream, uint16_t type, uint32_t payload_size,
				    uint32_t *handle)
{
	struct writer *writer = writer_self;
	struct ring_open *open;
	uint32_t place;

	*handle = 0;
	if (!is_wanted(stream, type))
		return NULL;
	if (UNLIKELY(payload_size > RTL_OPEN_PAYLOAD_MAX))
		return only_count(stream, handle);
	if (UNLIKELY(writer->busy || !writer->ring)) {
		if (!take_ring())
			return is_wanted(stream, type) ? only_count(stream, handle) : NULL;
		if (!is_wanted(stream, type)) /* a child's bus has wants of its own */
			return NULL;
		writer = writer_self;
	}
	writer->busy = 1;
	BARRIER(); /* from here on no signal handler takes the place that we see */
	place = find_place(writer);
	if (UNLIKELY(place == RING_OPEN_MAX)) {
		writer->busy = 0;
		return only_count(stream, handle);
	}
	open = &writer->ring->open[place];
	writer->open_next = place + 1;
	*handle = handle_of(writer->ring, place);
	__atomic_store_n(&open->state, RING_OPEN_TAKEN, __ATOMIC_RELAXED);
	open->ends_at = 0;
	open->record.size = (uint32_t)sizeof open->record + payload_size;
	open->record.stream = (uint16_t)stream->number;
	open->record.type = type;
	open->record.uid = 0;
	open->record.parent_uid = 0;
	open->record.instance = 0;
	open->record.correlation = 0;
	return &open->record;
}

void rtl_open_commit(struct rtl_record *record)
{
	struct ring_open *open =
		(struct ring_open *)(void *)((char *)record - offsetof(struct ring_open, record));

	/* release: with the acquire of who reads it after the end; what it holds is complete */
	__atomic_store_n(&open->state, RING_OPEN_KEPT, __ATOMIC_RELEASE);
	BARRIER();
	writer_self->busy = 0;
}

/* ---- its end */

static __attribute__((noinline, cold)) struct ring_header *ring_of_another(uint32_t index)
{
	/* acquire: with the release of the thread that has made it; in a child none is there */
	if (!bus_here() ||
	    index >= __atomic_load_n(&bus.spool.control->ring_count, __ATOMIC_ACQUIRE))
		return NULL;
	return bus.rings[index];
}

/* NULL: it is closed already, or that of a parent. */
static inline struct ring_open *find(const struct writer *writer, uint32_t handle,
				     uint64_t instance)
{
	struct ring_header *ring = writer->ring;
	struct ring_open *open;

	if (UNLIKELY(!ring || ring->index != (handle >> 8) - 1))
		ring = ring_of_another((handle >> 8) - 1);
	if (UNLIKELY(!ring || (handle & 0xff) >= RING_OPEN_MAX))
		return NULL;
	open = &ring->open[handle & 0xff];
	return open->record.instance == instance ? open : NULL;
}

static inline void close_place(struct writer *writer, struct ring_open *open, uint32_t handle)
{
	/* release: with the acquire in is_free; we have read what will be overwritten */
	__atomic_store_n(&open->state, RING_OPEN_FREE, __ATOMIC_RELEASE);
	if (LIKELY(writer->ring && open == &writer->ring->open[handle & 0xff]))
		writer->open_next = handle & 0xff;
}

void rtl_open_close(struct rtl_stream *stream, uint32_t handle, uint64_t instance)
{
	struct writer *writer = writer_self;
	struct ring_open *open;

	if (!handle)
		return;
	if (UNLIKELY(handle == UNKEPT)) {
		forget_unkept(stream);
		return;
	}
	open = find(writer, handle, instance);
	if (open)
		close_place(writer, open, handle);
}

void rtl_commit_end(struct rtl_record *record, struct rtl_stream *stream, uint32_t handle,
		    uint64_t instance)
{
	struct writer *writer = writer_self;
	struct ring_open *open;

	if (UNLIKELY(!handle || handle == UNKEPT)) {
		rtl_commit(record);
		rtl_open_close(stream, handle, instance);
		return;
	}
	open = find(writer, handle, instance);
	/* the commit closes it where the head is that of its own ring */
	if (LIKELY(open && (uint8_t *)record == writer->cursor &&
		   open == &writer->ring->open[handle & 0xff]))
		__atomic_store_n(&open->ends_at, writer->position + ring_step(record->size),
				 __ATOMIC_RELAXED); /* commit's release keeps it before the head */
	rtl_commit(record);
	if (LIKELY(open != NULL))
		close_place(writer, open, handle);
}

/* ---- the end of the process */

/* A copy of what is kept there, which becomes ours; false: it has ended. Its thread may be about to
 * close it: then it publishes nothing, as nobody wants it any more. */
static bool take_over(struct ring_header *ring, struct ring_open *open, struct ring_open *copy)
{
	uint32_t kept = RING_OPEN_KEPT;

	/* acquire: with the release in rtl_commit */
	if (!ring_open_is_kept(open, __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE)))
		return false;
	memcpy(copy, open, sizeof *copy);
	return __atomic_compare_exchange_n(&open->state, &kept, RING_OPEN_FREE, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED) &&
	       copy->record.instance == open->record.instance &&
	       copy->record.size <= sizeof copy->record + RTL_OPEN_PAYLOAD_MAX;
}

void open_hand_in(void)
{
	/* acquire: with the release of the thread that has made the ring */
	const uint32_t n = __atomic_load_n(&bus.spool.control->ring_count, __ATOMIC_ACQUIRE);
	struct ring_open copy;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < RING_OPEN_MAX; k++) {
			if (!take_over(bus.rings[i], &bus.rings[i]->open[k], &copy))
				continue;
			copy.record.ticks = clock_ticks();
			publish_copy(&copy.record);
		}
}
