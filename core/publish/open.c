/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include "bus.h"
#include "clock.h"
#include "writer.h"

/* A handle tells the ring, plus 1, and the place in it. 0 is never one. */
#define OPEN_UNKEPT 0xffffffffu /* only counted */

/* ---- a place */

static uint64_t *unkept(struct rtl_stream *stream)
{
	return &((struct spool_stream *)(void *)stream)->open_unkept;
}

/* Once the process has ended it is missed. */
static struct rtl_record *only_count(struct rtl_stream *stream, uint32_t *handle)
{
	if (stream == &rtl_stream_none)
		return NULL;
	__atomic_fetch_add(unkept(stream), 1, __ATOMIC_RELAXED);
	*handle = OPEN_UNKEPT;
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

/* A ring for a thread that has none; false: none, or a signal handler has interrupted rtl. */
static bool take_ring(void)
{
	return !publish_interrupts() && !publish_find_room(0) && writer_self()->ring;
}

static inline bool is_wanted(const struct rtl_stream *stream, uint16_t type)
{
	return __atomic_load_n(&stream->wanted[type & 0xff], __ATOMIC_RELAXED) & SPOOL_WANT_RECORD;
}

/* At a place of the writer's ring. */
static inline struct rtl_record *take_place(struct writer *writer, struct ring_header *ring,
					    uint32_t place, const struct rtl_stream *stream,
					    uint16_t type, uint32_t payload_size, uint32_t *handle)
{
	struct rtl_record *record = &ring->open[place].record;

	/* An earlier signal handler has closed what it opened; a later one takes another place. */
	writer->open_next = place + 1;
	BARRIER();
	*handle = (ring->index + 1) << 8 | place;
	record->size = (uint32_t)sizeof(*record) + payload_size;
	record->stream = (uint16_t)stream->number;
	record->type = type;
	record->ticks = ring->tid;
	return record;
}

static __attribute__((noinline, cold)) struct rtl_record *
open_reserve_slow(struct rtl_stream *stream, uint16_t type, uint32_t payload_size, uint32_t *handle)
{
	struct writer *writer = writer_self();
	struct ring_header *ring;
	uint32_t place = 0;

	*handle = 0;
	if (!is_wanted(stream, type))
		return NULL;
	if (payload_size > RTL_OPEN_PAYLOAD_MAX)
		return only_count(stream, handle);
	if (writer->busy || !writer->ring) {
		if (!take_ring())
			return is_wanted(stream, type) ? only_count(stream, handle) : NULL;
		if (!is_wanted(stream, type)) /* a child's bus has wants of its own */
			return NULL;
		writer = writer_self();
	}
	ring = writer->ring;
	while (place < RING_OPEN_MAX &&
	       ring_open_is_kept(&ring->open[place], writer_position(writer)))
		place++;
	if (place < RING_OPEN_MAX)
		return take_place(writer, ring, place, stream, type, payload_size, handle);
	return only_count(stream, handle);
}

/* The place that was closed last is mostly the one. */
struct rtl_record *rtl_open_reserve(struct rtl_stream *stream, uint16_t type, uint32_t payload_size,
				    uint32_t *handle)
{
	struct writer *writer = writer_self();
	struct ring_header *ring = writer->ring;
	uint32_t place;

	if (UNLIKELY(!is_wanted(stream, type) || payload_size > RTL_OPEN_PAYLOAD_MAX ||
		     writer->busy || !ring))
		return open_reserve_slow(stream, type, payload_size, handle);
	place = writer->open_next;
	if (UNLIKELY(place >= RING_OPEN_MAX ||
		     ring_open_is_kept(&ring->open[place], writer_position(writer))))
		return open_reserve_slow(stream, type, payload_size, handle);
	return take_place(writer, ring, place, stream, type, payload_size, handle);
}

/* ---- its end */

static struct ring_header *ring_of_another(uint32_t index)
{
	/* acquire: with the release of the thread that has made it; in a child none is there */
	if (!bus_here() ||
	    index >= __atomic_load_n(&bus.spool.control->ring_count, __ATOMIC_ACQUIRE))
		return NULL;
	return bus.rings[index];
}

/* NULL: it is closed already, or belongs to a parent. */
static struct ring_open *find(const struct writer *writer, uint32_t handle, uint64_t instance)
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

void rtl_open_close(struct rtl_stream *stream, uint32_t handle, uint64_t instance)
{
	struct writer *writer = writer_self();
	struct ring_open *open;

	if (!handle)
		return;
	if (UNLIKELY(handle == OPEN_UNKEPT)) {
		forget_unkept(stream);
		return;
	}
	open = find(writer, handle, instance);
	if (!open)
		return;
	/* release: with the acquire of the thread that takes it next; we have read it */
	__atomic_store_n(&open->until, 0, __ATOMIC_RELEASE);
	if (LIKELY(writer->ring && open == &writer->ring->open[handle & 0xff]))
		writer->open_next = handle & 0xff;
}

/* ---- the end of the process */

/* A copy of what is kept there, which becomes ours; false: it has ended. Publishing has stopped, so a thread that
 * closes it now publishes nothing. */
static bool take_over(struct ring_header *ring, struct ring_open *open, struct ring_open *copy)
{
	uint64_t kept = RING_OPEN_KEPT;

	/* acquire: with the release in rtl_commit */
	if (!ring_open_is_kept(open, __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE)))
		return false;
	memcpy(copy, open, sizeof(*copy));
	return __atomic_compare_exchange_n(&open->until, &kept, 0, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED) &&
	       copy->record.instance == open->record.instance &&
	       copy->record.size <= sizeof(copy->record) + RTL_OPEN_PAYLOAD_MAX;
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
