/* SPDX-License-Identifier: MIT */
/* Processes whose spool is mapped: other ones, alive or dead. Of a recording one segment of each ring is
 * mapped at a time, and the one before it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "guard.h"
#include "log.h"
#include "source.h"
#include "spool_writer.h"

/* ---- segments */

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
	uint32_t at = 0;

	while (at < files->segment_count && files->segments[at].ring < ring)
		at++;
	return at;
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

/* ---- the backend */

static int refresh(struct source *source)
{
	const struct rtl_process *said = &source->catalog.process;
	uint64_t length;
	int err;

	length = spool_files_read_dict(&source->files);
	err = catalog_read(&source->catalog, source->files.dict, length);
	if (!err && source->files.dict_short)
		err = RTL_EFORMAT;
	if (!source->process && said->program) {
		source->remote = (struct rtl_process){
			.struct_size = sizeof(source->remote),
			.number = source->remote.number, /* the host's */
			.pid = source->control->pid,
			.parent_pid = source->control->parent_pid,
			.start_ns = source->control->start_ns,
			.program = said->program,
			.command = said->command,
			.host_name = said->host_name,
			.spool_id = source->control->spool_id,
			.rank = said->rank,
			.run = said->run,
		};
		source->process = &source->remote;
	}
	return err;
}

static uint32_t stream_count(const struct source *source)
{
	return source->catalog.stream_count;
}

static const struct rtl_stream_info *stream(const struct source *source, uint32_t number)
{
	return source->catalog.streams[number];
}

static void find_rings(struct source *source)
{
	spool_files_map_rings(&source->files);
	if (source->recorded)
		spool_files_find_segments(&source->files);
}

static struct source_rings rings(const struct source *source)
{
	return (struct source_rings){source->files.rings, source->files.ring_bytes,
				     source->files.ring_count};
}

static void prepare(const struct source *source, uint32_t ring, uint64_t bytes)
{
	const struct reader_ring *r = &source->reader.list[ring];
	const struct ring_place place = {r->ring, ring,
					 r->usable < r->capacity ? r->usable : r->capacity};

	if (source->files.shared && !source->recorded)
		ring_prepare(&place, source->files.dir_fd, bytes, false);
}

static bool has_ended(const struct source *source)
{
	/* acquire: with the release at the end of the process's bus */
	return __atomic_load_n(&source->control->finished, __ATOMIC_ACQUIRE) ||
	       !source->files.shared ||
	       folder_process_is_gone(source->files.dir_fd, source->control->pid);
}

static const char *string(const struct source *source, uint64_t id)
{
	return catalog_string(&source->catalog, id);
}

static bool tracepoint(const struct source *source, uint64_t uid, struct rtl_tracepoint *out,
		       struct rtl_metadata **metadata, uint32_t *room)
{
	return catalog_tracepoint(&source->catalog, uid, out, metadata, room);
}

static void unmap(struct source *source)
{
	for (uint32_t i = 0; i < source->reader.count; i++)
		drop_segments(&source->reader.list[i]);
	if (source->control)
		spool_files_close(&source->files);
	source->control = NULL;
}

static const struct source_ops spool_ops = {.refresh = refresh,
					    .stream_count = stream_count,
					    .stream = stream,
					    .find_rings = find_rings,
					    .rings = rings,
					    .prepare = prepare,
					    .has_ended = has_ended,
					    .string = string,
					    .tracepoint = tracepoint,
					    .unmap = unmap};

/* ---- its begin */

static bool is_this_boot(const struct source *source)
{
	uint8_t id[sizeof(source->control->boot_id)];

	spool_boot_id(id);
	return !memcmp(id, source->control->boot_id, sizeof(id));
}

/* The last consumer has died while it gave room back: the rest of that. */
static void finish_release(struct source *source)
{
	struct spool_control *control = source->control;

	if (__atomic_load_n(&control->releasing, __ATOMIC_ACQUIRE) != 1)
		return;
	spool_files_map_rings(&source->files);
	for (uint32_t i = 0; i < source->files.ring_count; i++) {
		struct ring_header *ring = source->files.rings[i];

		if (ring && ring->release_to - ring->tail <= ring->head - ring->tail)
			ring->tail = ring->release_to;
	}
	for (uint32_t i = 0; i < SPOOL_STREAMS_MAX; i++)
		if (control->streams[i].delivered < control->streams[i].delivered_next)
			control->streams[i].delivered = control->streams[i].delivered_next;
	/* release: after all of it; done twice, it is the same */
	__atomic_store_n(&control->releasing, 0, __ATOMIC_RELEASE);
}

int source_init_spool(struct source *source, const char *path, enum spool_use use, const char **why)
{
	const bool shared = use != SPOOL_READ;
	int err;

	memset(source, 0, sizeof(*source));
	source->path = strdup(path);
	if (!source->path)
		return RTL_ENOMEM;
	err = spool_files_open(&source->files, path, shared, why);
	if (err) {
		free(source->path);
		return err;
	}
	source->control = source->files.control;
	source->start_ns = source->control->start_ns;
	source->died_ns = source->control->died_ns;
	source->died_realtime_ns = source->control->died_realtime_ns;
	source->cut_off = source->control->cut_off != 0;
	source->ops = &spool_ops;
	source->recorded = source->control->segment_count;
	finish_release(source);
	source->found_gone =
		use != SPOOL_COLLECT &&
		(!shared || folder_process_is_gone(source->files.dir_fd, source->control->pid));
	source_start_reader(source);
	source->reader.more = source->recorded ? next_segment : NULL;
	source->reader.user = source;
	/* what was recorded is read by its own clock, unless it can be continued from here */
	source->reader.frozen =
		source->reader.clock.count > 1 && (!shared || !is_this_boot(source));
	return 0;
}

/* ---- its end */

struct keep {
	struct source_loss **list;
	uint32_t stream;
};

static void keep_loss(void *user, const char *cause, uint64_t count)
{
	const struct keep *keep = user;

	source_keep_loss(keep->list, keep->stream, cause, count);
}

/* Of a recording there is `ring-N` as well, but not of rings that only its segments name: what was open
 * in a snapshot. */
static bool ring_is_missing(const struct source *source, uint32_t i)
{
	const uint32_t made = __atomic_load_n(&source->control->ring_count, __ATOMIC_RELAXED);

	return i < made && (!source->files.rings[i] || !source->reader.list[i].ring);
}

/* Which of its rings could not be read to the end; returns how many. */
static uint32_t damaged_rings(const struct source *source, uint32_t *first)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < source->reader.count; i++) {
		const struct reader_ring *r = &source->reader.list[i];

		if ((ring_is_missing(source, i) || r->skipped || r->hit || guard_was_hit(r->ring) ||
		     guard_was_hit(r->previous)) &&
		    !n++)
			*first = i;
	}
	return n + source->files.segments_lost;
}

/* Says what could not be read. Returns whether its files are worth keeping: somebody else may read
 * them. */
static bool say_damage(const struct source *source, bool remove)
{
	uint32_t first = 0, rings = damaged_rings(source, &first);
	bool control = source->control && guard_was_hit(source->control);
	bool keep = control || source->damaged || rings;
	char part[80];

	if (!keep && !source->malformed)
		return false;
	if (control)
		snprintf(part, sizeof(part), "control");
	else if (source->damaged)
		snprintf(part, sizeof(part), "dict");
	else if (rings)
		snprintf(part, sizeof(part), rings > 1 ? "ring-%u and %u more" : "ring-%u", first,
			 rings - 1);
	else
		snprintf(part, sizeof(part), "%llu events are not as their streams describe them",
			 (unsigned long long)source->malformed);
	log_line(RTL_LEVEL_WARNING, "spool",
		 "%s is damaged (%s): what could not be read is counted as abandoned%s",
		 source->path, part, keep && remove ? ", and the files stay" : "");
	return keep;
}

void source_close(struct source *source, bool remove)
{
	for (uint32_t i = 0; i < source->stream_count; i++) {
		struct keep losses = {&source->losses, i}, left_out = {&source->left_out, i};

		source->last[i].struct_size = sizeof(source->last[i]);
		source_ledger(source, i, &source->last[i]);
		source_losses(source, i, keep_loss, &losses);
		source_left_out(source, i, keep_loss, &left_out);
	}
	source_waits(source, &source->waited);
	source->ended = source->closed = true;
	if (!say_damage(source, remove) && remove)
		spool_remove_folder(source->path);
	source->ops->unmap(source);
	reader_fini(&source->reader);
}
