/* SPDX-License-Identifier: MIT */
/* Recordings: one segment of each ring is mapped at a time, and the one before it. */
#include "source.h"

static void drop_previous(struct reader_ring *r)
{
	if (r->previous)
		r->hit |= spool_files_unmap_segment(r->previous, r->previous_bytes);
	r->previous = NULL;
}

static void drop_segments(struct reader_ring *r)
{
	drop_previous(r);
	if (r->is_segment)
		r->hit |= spool_files_unmap_segment(r->ring, r->bytes);
	r->is_segment = false;
	r->ring = NULL;
}

/* The first segment of a ring, or of one behind it. */
static uint32_t first_segment(const struct spool_files *files, uint32_t ring)
{
	uint32_t low = 0, high = files->segment_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (files->segments[middle].ring < ring)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool next_segment(void *user, uint32_t ring, struct reader_ring *r)
{
	struct source *source = user;
	const struct spool_files *files = &source->files;
	struct ring_header *header;
	uint32_t at;
	size_t bytes;

	if (!r->next)
		r->next = r->settled = first_segment(files, ring) + 1;
	at = r->next - 1;
	if (at >= files->segment_count || files->segments[at].ring != ring)
		return false;
	header = spool_files_map_segment(files, at, &bytes);
	r->next++;
	if (!header) {
		r->skipped += files->segments[at].length;
		return true; /* perhaps the one behind it */
	}
	if (r->is_segment && r->given) {
		drop_previous(r);
		r->previous = r->ring;
		r->previous_bytes = r->bytes;
	} else if (r->is_segment) { /* a record of the previous one may be the last given out */
		r->hit |= spool_files_unmap_segment(r->ring, r->bytes);
	}
	r->given = false;
	r->is_segment = true;
	r->ring = header;
	r->bytes = bytes;
	reader_take_segment(r, header, bytes, files->segments[at].origin);
	return true;
}

void source_recording_find_rings(struct source *source)
{
	spool_files_map_rings(&source->files);
	spool_files_find_segments(&source->files);
	source->reader.more = next_segment;
	source->reader.user = source;
}

/* What was delivered of them will not be so again. */
void source_recording_settle(struct source *source)
{
	for (uint32_t i = 0; i < source->reader.count && source->files.shared; i++) {
		struct reader_ring *r = &source->reader.list[i];

		/* the one that is read has its tail by reader_release */
		for (; r->next && r->settled + 1 < r->next; r->settled++)
			spool_files_settle_segment(&source->files, r->settled - 1);
	}
}

void source_recording_unmap(struct source *source)
{
	for (uint32_t i = 0; i < source->reader.count; i++)
		drop_segments(&source->reader.list[i]);
}
