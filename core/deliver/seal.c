/* SPDX-License-Identifier: MIT */
/*
 * What was open when a process died becomes events: it is appended to the rings that it lies in,
 * where it is delivered, recorded and counted as everything else. Done once: the place is free
 * afterwards, and should we die in between, the ring's head says whether it was done.
 */
#include <string.h>

#include "source.h"

/* A mapped ring into which we write, in the dead thread's place. */
struct sealed {
	struct source *source;
	struct reader_ring *r;
	struct ring_header *ring;
	uint32_t index;
	uint64_t ticks; /* when the process was last known to live */
};

static struct ring_header *ring_of(const struct source *source, uint32_t i)
{
	const struct reader_ring *r = &source->reader.list[i];

	return r->is_segment || !r->ring || i >= source->files.ring_count ? NULL : r->ring;
}

/* Where a record of that size goes; false: there is no room. All that is in the file may be wrong.
 */
static bool find_room(const struct sealed *to, uint64_t step, uint64_t *filler)
{
	const struct reader_ring *r = to->r;
	const uint64_t head = to->ring->head, offset = head % r->capacity;
	const struct ring_place place = {to->ring, to->index,
					 r->usable < r->capacity ? r->usable : r->capacity};
	const uint64_t used = head - r->released;

	*filler = r->capacity - offset < step ? r->capacity - offset : 0;
	if (head % 8 || used > r->capacity || step > r->capacity - used ||
	    *filler > r->capacity - used - step)
		return false;
	if ((*filler ? step : offset + step) > place.bytes || (*filler && offset + 8 > place.bytes))
		return false;
	/* a private copy of the file needs no room on the disk */
	return !to->source->files.shared ||
	       __atomic_load_n(&to->ring->ready, __ATOMIC_ACQUIRE) >= offset + step ||
	       ring_prepare(&place, to->source->files.dir_fd, *filler ? r->capacity : offset + step,
			    false);
}

static bool append(struct sealed *to, struct ring_open *open)
{
	const struct ring_open copy = *(const volatile struct ring_open *)open;
	const uint64_t step = ring_step(copy.record.size);
	struct rtl_record *place;
	uint64_t filler, head;

	if (!ring_open_is_sound(&copy, to->source->stream_count) || !find_room(to, step, &filler))
		return false;
	head = to->ring->head;
	place = (void *)(ring_data(to->ring) + head % to->r->capacity);
	if (filler) {
		place->size = (uint32_t)filler;
		place->stream = RING_FILLER;
		head += filler;
		place = (void *)ring_data(to->ring);
	}
	memcpy(place, &copy.record, copy.record.size);
	place->ticks = to->ticks;
	to->ring->published[copy.record.stream]++;
	/* release, in this order: for the consumer that comes when we are dead */
	__atomic_store_n(&open->until, head + step, __ATOMIC_RELEASE);
	__atomic_store_n(&to->ring->head, head + step, __ATOMIC_RELEASE);
	return true;
}

static uint64_t last_ticks(const struct source *source)
{
	uint64_t ticks = source->alive_ticks;

	for (uint32_t i = 0; i < source->reader.count; i++)
		if (source->reader.list[i].ticks > ticks)
			ticks = source->reader.list[i].ticks;
	return ticks;
}

bool source_seal(struct source *source, bool only_look)
{
	bool something = false;

	/* a process that ended in order has handed in what was open, and its threads may still run */
	if (source->own || source->control->finished)
		return false;
	for (uint32_t i = 0; i < source->reader.count; i++) {
		struct sealed to = {.source = source,
				    .r = &source->reader.list[i],
				    .ring = ring_of(source, i),
				    .index = i,
				    .ticks = last_ticks(source)};

		for (uint32_t k = 0; to.ring && k < RING_OPEN_MAX; k++)
			if (ring_open_is_kept(&to.ring->open[k], to.ring->head))
				something |= only_look || append(&to, &to.ring->open[k]);
	}
	return something;
}
