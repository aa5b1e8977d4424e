/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "folder.h"
#include "guard.h"
#include "log.h"
#include "spool_writer.h"

/* How long a process that has ended in order may live on, and count. */
#define LINGER_NS 1000000000u
/* Bytes of a ring that are prepared at a time. */
#define PREPARE_STEP (1ul << 20)

/* By what the control page says of the clock. */
static void start_reader(struct source *source)
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
	start_reader(source);
}

void source_keep_loss(void *user, const char *cause, uint64_t count)
{
	const struct source_keep *keep = user;
	struct source_loss *loss = calloc(1, sizeof(*loss));

	if (!loss)
		return;
	loss->stream = keep->stream;
	loss->count = count;
	snprintf(loss->cause, sizeof(loss->cause), "%s", cause);
	loss->next = *keep->list;
	*keep->list = loss;
}

static void free_losses(struct source_loss *loss)
{
	while (loss) {
		struct source_loss *next = loss->next;

		free(loss);
		loss = next;
	}
}

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

static void unmap(struct source *source)
{
	for (uint32_t i = 0; i < source->reader.count; i++)
		drop_segments(&source->reader.list[i]);
	if (source->control)
		spool_files_close(&source->files);
	source->control = NULL;
}

void source_fini(struct source *source)
{
	struct source_resume *resume;

	if (!source->own)
		unmap(source);
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

bool source_begin(struct source *source)
{
	struct source_rings rings;
	bool something;

	reader_take_time(&source->reader);
	/* which rings there are is looked at after the pass's time */
	if (!source->own)
		spool_files_map_rings(&source->files);
	if (source->recorded)
		spool_files_find_segments(&source->files);
	rings = source->ops->rings(source);
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
		uint64_t ready = r->ring ? __atomic_load_n(&r->ring->ready, __ATOMIC_RELAXED) : 0;

		/* a thread that fills little needs little; a free ring may have given its memory back; its
		 * process prepares a spare */
		if (r->ring && ready < reader_bytes(r) && is_in_use(r->ring) &&
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

/* ---- what was open when a process died is appended to its ring, as any event. Done once: the place is free then, and
 * should we die in between, the ring's head tells whether it was done. */

/* We write into mapped rings, in the dead threads' place. */
struct sealing {
	struct source *source;
	uint64_t ticks; /* when the process was last known to live */
	bool only_look, something;
};

struct ring_header *source_ring(const struct source *source, uint32_t i)
{
	const struct reader_ring *r = &source->reader.list[i];

	return r->is_segment || !r->ring || i >= source->files.ring_count ? NULL : r->ring;
}

/* Where a record of that size goes; false: there is no room. All that is in the file may be wrong. */
static bool find_room(const struct source *source, uint32_t index, uint64_t step, uint64_t *filler)
{
	const struct reader_ring *r = &source->reader.list[index];
	const uint64_t head = r->ring->head, offset = head % r->capacity;
	const struct ring_place place = {r->ring, index, reader_bytes(r)};
	const uint64_t used = head - r->released;

	*filler = r->capacity - offset < step ? r->capacity - offset : 0;
	if (head % 8 || used > r->capacity || step > r->capacity - used ||
	    *filler > r->capacity - used - step)
		return false;
	if ((*filler ? step : offset + step) > place.bytes || (*filler && offset + 8 > place.bytes))
		return false;
	/* a private copy of the file needs no room on the disk */
	return !source->files.shared ||
	       __atomic_load_n(&r->ring->ready, __ATOMIC_ACQUIRE) >= offset + step ||
	       ring_prepare(&place, source->files.dir_fd, *filler ? r->capacity : offset + step,
			    false);
}

/* False: it is no event that can be, the ring is not to be had, or it has no room. */
static bool append(const struct sealing *to, uint32_t index, struct ring_open *open)
{
	struct ring_header *ring = source_ring(to->source, index);
	const struct reader_ring *r = &to->source->reader.list[index];
	const struct ring_open copy = *(const volatile struct ring_open *)open;
	const uint64_t step = ring_step(copy.record.size);
	struct rtl_record *place;
	uint64_t filler, head;

	if (!ring || !ring_open_is_sound(&copy, to->source->stream_count))
		return false;
	/* the pages of events are mapped to be read */
	mprotect(ring_data(ring), reader_bytes(r), PROT_READ | PROT_WRITE);
	if (!find_room(to->source, index, step, &filler))
		return false;
	head = ring->head;
	place = (void *)(ring_data(ring) + head % r->capacity);
	if (filler) {
		place->size = (uint32_t)filler;
		place->stream = RING_FILLER;
		head += filler;
		place = (void *)ring_data(ring);
	}
	memcpy(place, &copy.record, copy.record.size);
	place->ticks = to->ticks;
	ring->published[copy.record.stream]++;
	open->sealed = 1;
	/* release, in this order: for the consumer that comes when we are dead */
	__atomic_store_n(&open->until, head + step, __ATOMIC_RELEASE);
	__atomic_store_n(&ring->head, head + step, __ATOMIC_RELEASE);
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

/* Of a slot, in the first ring that has room. Whoever wanted the ends wants it. */
static void seal_slot(void *user, struct ring_open *event, uint8_t *under_way)
{
	struct sealing *sealing = user;
	struct source *source = sealing->source;
	bool done = sealing->only_look;

	if (!done)
		*under_way = 0; /* first: should we die in between, it is not there twice */
	for (uint32_t i = 0; i < source->reader.count && !done; i++)
		done = append(sealing, i, event);
	if (!done)
		*under_way = 1;
	sealing->something |= done;
}

bool source_seal(struct source *source, bool only_look)
{
	struct sealing sealing = {source, last_ticks(source), only_look, false};

	/* a process that ended in order has handed in what was open, and its threads may still run */
	if (source->own || source->control->finished)
		return false;
	for (uint32_t i = 0; i < source->reader.count; i++) {
		struct ring_header *ring = source_ring(source, i);

		for (uint32_t k = 0; ring && k < RING_OPEN_MAX; k++)
			if (ring_open_is_kept(&ring->open[k], ring->head))
				sealing.something |=
					only_look || append(&sealing, i, &ring->open[k]);
	}
	if (source->files.shared) /* else it would not be noted that it was done */
		source_each_slot(source, seal_slot, &sealing);
	return sealing.something;
}

/* ---- a spool or recording of another process. Of a recording one segment of each ring, and the one before, is
 * mapped */

/* ---- segments */

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
	source->taken_bytes += files->segments[at].length;
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

int source_refresh(struct source *source)
{
	const struct rtl_process *said = &source->catalog.process;
	uint64_t length;
	int err;

	if (source->own)
		return 0;
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

static struct source_rings rings(const struct source *source)
{
	return (struct source_rings){source->files.rings, source->files.ring_bytes,
				     source->files.ring_count};
}

static void prepare(const struct source *source, uint32_t ring, uint64_t bytes)
{
	const struct reader_ring *r = &source->reader.list[ring];
	const struct ring_place place = {r->ring, ring, reader_bytes(r)};

	if (source->files.shared && !source->recorded)
		ring_prepare(&place, source->files.dir_fd, bytes, false);
}

/* Threads of a process that has ended in order may go on, and count what they do as missed. */
static bool has_ended(struct source *source)
{
	if (!source->files.shared ||
	    folder_process_is_gone(source->files.dir_fd, source->control->pid))
		return true;
	/* acquire: with the release at the end of the process's bus */
	if (!__atomic_load_n(&source->control->finished, __ATOMIC_ACQUIRE))
		return false;
	if (!source->finished_ns)
		source->finished_ns = clock_ns();
	return clock_ns() - source->finished_ns > LINGER_NS;
}

bool source_is_gone(struct source *source)
{
	if (source->gone || source->own || !source->control)
		return source->gone;
	source->gone = has_ended(source);
	/* we may have had no processor for long, and what was open was so until its end */
	if (source->gone && !source->found_gone)
		source->alive_ticks = clock_ticks();
	return source->gone;
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

static const struct source_ops spool_ops = {.stream_count = stream_count,
					    .stream = stream,
					    .rings = rings,
					    .prepare = prepare,
					    .string = string,
					    .tracepoint = tracepoint};

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
	if (use == SPOOL_ATTACH)
		source_begin_anew(source);
	source->found_gone =
		use != SPOOL_COLLECT &&
		(!shared || folder_process_is_gone(source->files.dir_fd, source->control->pid));
	start_reader(source);
	source->reader.more = source->recorded ? next_segment : NULL;
	source->reader.user = source;
	/* what was recorded is read by its own clock, unless it can be continued from here */
	source->reader.frozen =
		source->reader.clock.count > 1 && (!shared || !is_this_boot(source));
	return 0;
}

/* ---- its end */

/* A recording has `ring-N` as well, but not of rings that only segments name: what was open in a snapshot. */
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

/* Says what could not be read. Returns whether its files are worth keeping for somebody else. */
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
		struct source_keep losses = {&source->losses, i}, left_out = {&source->left_out, i};

		source->last[i].struct_size = sizeof(source->last[i]);
		source_ledger(source, i, &source->last[i]);
		source_losses(source, i, source_keep_loss, &losses);
		source_left_out(source, i, source_keep_loss, &left_out);
	}
	source_waits(source, &source->waited);
	source->ended = source->closed = true;
	if (!say_damage(source, remove) && remove)
		spool_remove_folder(source->path);
	unmap(source);
	reader_fini(&source->reader);
}
