/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a ring, made ready at once. */
#define PREPARE_STEP (1ul << 20)

void source_start_reader(struct source *source)
{
	const struct spool_control *control = source->control;
	const struct clock_pair start = {.ticks = control->start_ticks, .ns = control->start_ns};
	uint32_t n = control->clock_count;

	reader_init(&source->reader, &start);
	for (uint32_t i = 0; i < n && i < SPOOL_PAIRS_MAX; i++) {
		const struct clock_pair pair = {.ticks = control->clock[i].ticks,
						.ns = control->clock[i].ns};

		clock_line_add(&source->reader.clock, &pair);
		source->alive_ticks = pair.ticks;
	}
	if (!source->alive_ticks)
		source->alive_ticks = start.ticks;
}

/* Leaves word of how ticks became ns. */
static void store_clock(struct source *source)
{
	const struct clock_line *line = &source->reader.clock;
	struct spool_control *control = source->control;
	uint32_t i;

	for (i = 0; i < line->count && i < SPOOL_PAIRS_MAX; i++)
		control->clock[i] = (struct spool_pair){line->pairs[i].ticks, line->pairs[i].ns};
	control->clock_count = i;
}

void source_init_own(struct source *source, const struct source_ops *ops,
		     const struct rtl_process *process, struct spool_control *control)
{
	memset(source, 0, sizeof(*source));
	source->ops = ops;
	source->own = true;
	source->process = process;
	source->control = control;
	source_start_reader(source);
}

bool source_is_gone(struct source *source)
{
	if (source->gone || !source->ops->has_ended || !source->control)
		return source->gone;
	source->gone = source->ops->has_ended(source);
	/* we may have had no processor for long, and what was open was so until its end */
	if (source->gone && !source->found_gone)
		source->alive_ticks = clock_ticks();
	return source->gone;
}

void source_keep_loss(struct source_loss **list, uint32_t stream, const char *cause, uint64_t count)
{
	struct source_loss *loss = calloc(1, sizeof(*loss));

	if (!loss)
		return;
	loss->stream = stream;
	loss->count = count;
	snprintf(loss->cause, sizeof(loss->cause), "%s", cause);
	loss->next = *list;
	*list = loss;
}

static void free_losses(struct source_loss *loss)
{
	while (loss) {
		struct source_loss *next = loss->next;

		free(loss);
		loss = next;
	}
}

void source_fini(struct source *source)
{
	struct source_resume *resume;

	if (source->ops->unmap)
		source->ops->unmap(source);
	reader_fini(&source->reader);
	catalog_fini(&source->catalog);
	while ((resume = source->resume)) {
		source->resume = resume->next;
		free(resume->positions);
		free(resume);
	}
	free_losses(source->losses);
	free_losses(source->left_out);
	free(source->path);
	memset(source, 0, sizeof(*source));
}

static struct source_resume *find_resume(const struct source *source, const void *owner)
{
	struct source_resume *resume = source->resume;

	while (resume && resume->owner != owner)
		resume = resume->next;
	return resume;
}

uint64_t source_stored(const struct source *source, const void *owner, uint32_t ring)
{
	const struct source_resume *resume = find_resume(source, owner);

	return resume && ring < resume->count ? resume->positions[ring] : 0;
}

int source_resume_at(struct source *source, const void *owner, uint32_t ring, uint64_t position)
{
	struct source_resume *resume;
	uint64_t *positions;

	if (ring >= SPOOL_RINGS_MAX)
		return RTL_EINVAL;
	resume = find_resume(source, owner);
	if (!resume) {
		resume = calloc(1, sizeof(*resume));
		if (!resume)
			return RTL_ENOMEM;
		resume->owner = owner;
		resume->next = source->resume;
		source->resume = resume;
	}
	if (ring >= resume->count) {
		positions = realloc(resume->positions, (ring + 1) * sizeof(*positions));
		if (!positions)
			return RTL_ENOMEM;
		resume->positions = positions;
		while (resume->count <= ring)
			positions[resume->count++] = 0;
	}
	if (position > resume->positions[ring])
		resume->positions[ring] = position;
	return 0;
}

/* Which rings there are is looked at after the pass's time. */
static struct source_rings find_rings(struct source *source)
{
	if (source->ops->find_rings)
		source->ops->find_rings(source);
	return source->ops->rings(source);
}

bool source_begin(struct source *source)
{
	struct source_rings rings;
	bool something;

	reader_take_time(&source->reader);
	rings = find_rings(source);
	something = reader_begin(&source->reader, rings.list, rings.bytes, rings.count);
	if (!source->gone && !source->found_gone)
		source->alive_ticks = source->reader.until;
	if (!source->own && (source->gone || !source->files.shared))
		source->reader.until = UINT64_MAX; /* nothing comes that could be a cause of it */
	return something;
}

/* Relaxed: a hint. */
static bool is_in_use(const struct ring_header *ring)
{
	const uint32_t state = __atomic_load_n(&ring->state, __ATOMIC_RELAXED);

	return state != RING_FREE && state != RING_TAKEN;
}

void source_prepare(struct source *source)
{
	if (!source->ops->prepare)
		return;
	for (uint32_t i = 0; i < source->reader.count; i++) {
		const struct reader_ring *r = &source->reader.list[i];
		uint64_t usable = r->usable < r->capacity ? r->usable : r->capacity;
		uint64_t ready = r->ring ? __atomic_load_n(&r->ring->ready, __ATOMIC_RELAXED) : 0;

		/* a thread that fills little needs little */
		/* one that is free may have given its memory back; a spare is made ready by its process */
		if (r->ring && ready < usable && is_in_use(r->ring) &&
		    __atomic_load_n(&r->ring->head, __ATOMIC_RELAXED) + PREPARE_STEP > ready)
			source->ops->prepare(source, i, ready + PREPARE_STEP);
	}
}

void source_add_stream(struct source *source, const struct rtl_stream_info *info)
{
	uint32_t number = source->stream_count++;

	source->streams[number] = info;
	if (source->control)
		source->delivered[number] = __atomic_load_n(
			&source->control->streams[number].delivered, __ATOMIC_RELAXED);
}

/* What was delivered of a recording will not be so again. */
static void settle_segments(struct source *source)
{
	for (uint32_t i = 0; i < source->reader.count && source->files.shared; i++) {
		struct reader_ring *r = &source->reader.list[i];

		/* the one that is read has its tail by reader_release */
		for (; r->next && r->settled + 1 < r->next; r->settled++)
			spool_files_settle_segment(&source->files, r->settled - 1);
	}
}

void source_release(struct source *source)
{
	struct spool_control *control = source->control;

	store_clock(source);
	for (uint32_t i = 0; i < source->stream_count; i++)
		__atomic_store_n(&control->streams[i].delivered_next, source->delivered[i],
				 __ATOMIC_RELAXED);
	reader_announce_release(&source->reader);
	/* release, here and below: in this order, for the consumer that comes when we are dead */
	__atomic_store_n(&control->releasing, 1, __ATOMIC_RELEASE);
	reader_release(&source->reader);
	settle_segments(source);
	for (uint32_t i = 0; i < source->stream_count; i++)
		__atomic_store_n(&control->streams[i].delivered, source->delivered[i],
				 __ATOMIC_RELEASE);
	__atomic_store_n(&control->releasing, 0, __ATOMIC_RELEASE);
}

int source_number(const struct source *source, const struct rtl_stream_info *info)
{
	for (uint32_t i = 0; i < source->stream_count; i++)
		if (source->streams[i] == info)
			return (int)i;
	return -1;
}

void source_want(struct source *source, const struct rtl_stream_info *info,
		 const struct stream_wants *wants, uint8_t mask)
{
	int number = source_number(source, info);

	if (number >= 0 && !source->closed)
		stream_want(&source->control->streams[number].pub, info, wants, mask);
}

/* ---- what was open when a process died becomes events: it is appended to the rings that it lies in,
 * where it is delivered, recorded and counted as everything else. Done once: the place is free
 * afterwards, and should we die in between, the ring's head says whether it was done. */

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
