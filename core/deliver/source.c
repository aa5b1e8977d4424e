/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rtl/tracepoint.h>

#include "bus.h"
#include "discard.h"
#include "folder.h"
#include "guard.h"
#include "ids.h"
#include "log.h"
#include "spool_writer.h"

/* Of a ring, made ready at once. */
#define PREPARE_STEP (1ul << 20)

static bool is_this_boot(const struct source *source)
{
	uint8_t id[sizeof source->control->boot_id];

	spool_boot_id(id);
	return !memcmp(id, source->control->boot_id, sizeof id);
}

static void start_reader(struct source *source)
{
	const struct spool_control *control = source->control;
	const struct clock_pair start = {.ticks = control->start_ticks, .ns = control->start_ns};
	uint32_t i, n = control->clock_count;

	reader_init(&source->reader, &start);
	for (i = 0; i < n && i < SPOOL_PAIRS_MAX; i++) {
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

void source_init_local(struct source *source)
{
	memset(source, 0, sizeof *source);
	source->local = true;
	source->process = host_own_process();
	source->control = bus.spool.control;
	start_reader(source);
}

/* The last consumer has died while it gave room back: the rest of that. */
static void finish_release(struct source *source)
{
	struct spool_control *control = source->control;
	uint32_t i;

	if (__atomic_load_n(&control->releasing, __ATOMIC_ACQUIRE) != 1)
		return;
	spool_files_map_rings(&source->files);
	for (i = 0; i < source->files.ring_count; i++) {
		struct ring_header *ring = source->files.rings[i];

		if (ring && ring->release_to - ring->tail <= ring->head - ring->tail)
			ring->tail = ring->release_to;
	}
	for (i = 0; i < SPOOL_STREAMS_MAX; i++)
		if (control->streams[i].delivered < control->streams[i].delivered_next)
			control->streams[i].delivered = control->streams[i].delivered_next;
	/* release: after all of it; done twice, it is the same */
	__atomic_store_n(&control->releasing, 0, __ATOMIC_RELEASE);
}

int source_init_spool(struct source *source, const char *path, bool shared, const char **why)
{
	int err;

	memset(source, 0, sizeof *source);
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
	finish_release(source);
	source->found_gone =
		!shared || folder_process_is_gone(source->files.dir_fd, source->control->pid);
	start_reader(source);
	/* what was recorded is read by its own clock, unless it can be continued from here */
	source->reader.frozen =
		source->reader.clock.count > 1 && (!shared || !is_this_boot(source));
	return 0;
}

/* ---- segments of a recording: one of each ring is mapped at a time, and the one before it */

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

/* What was delivered of them will not be so again. */
static void settle_segments(struct source *source)
{
	uint32_t i;

	for (i = 0; i < source->reader.count && source->files.shared; i++) {
		struct reader_ring *r = &source->reader.list[i];

		/* the one that is read has its tail by reader_release */
		for (; r->next && r->settled + 1 < r->next; r->settled++)
			spool_files_settle_segment(&source->files, r->settled - 1);
	}
}

void source_set_death(struct source *source, uint64_t died_ns, uint64_t realtime_ns)
{
	struct spool_control *control = source->control;

	if (!died_ns || source->died_ns)
		return;
	source->died_ns = control->died_ns = died_ns;
	source->died_realtime_ns = control->died_realtime_ns = realtime_ns;
}

void source_cut_off(struct source *source)
{
	source->cut_off = true;
	source->control->cut_off = 1;
}

/* Lets go of all that is not needed for ledgers. */
static void release(struct source *source)
{
	uint32_t i;

	for (i = 0; source->reader.more && i < source->reader.count; i++)
		drop_segments(&source->reader.list[i]);
	reader_fini(&source->reader);
	if (source->local || !source->control)
		return;
	spool_files_close(&source->files);
	source->control = NULL;
}

struct keep {
	struct source *source;
	uint32_t stream;
};

static void keep_loss(void *user, const char *cause, uint64_t count)
{
	const struct keep *keep = user;
	struct source_loss *loss = calloc(1, sizeof *loss);

	if (!loss)
		return;
	loss->stream = keep->stream;
	loss->count = count;
	snprintf(loss->cause, sizeof loss->cause, "%s", cause);
	loss->next = keep->source->losses;
	keep->source->losses = loss;
}

bool source_is_gone(struct source *source)
{
	if (source->gone || source->local || !source->control)
		return source->gone;
	/* acquire: with the release at the end of the process's bus */
	if (__atomic_load_n(&source->control->finished, __ATOMIC_ACQUIRE) || !source->files.shared)
		source->gone = true;
	else if (folder_process_is_gone(source->files.dir_fd, source->control->pid))
		source->gone = true;
	return source->gone;
}

/* Which of its rings could not be read to the end; returns how many. */
static uint32_t damaged_rings(const struct source *source, uint32_t *first)
{
	uint32_t i, n = 0;

	for (i = 0; i < source->reader.count; i++) {
		const struct reader_ring *r = &source->reader.list[i];

		/* of a recording there is `ring-N` as well */
		if ((!source->files.rings[i] || !r->ring || r->skipped || r->hit ||
		     guard_was_hit(r->ring) || guard_was_hit(r->previous)) &&
		    !n++)
			*first = i;
	}
	return n + source->files.segments_lost;
}

/* Says what could not be read. Returns whether its files are worth keeping for somebody who can. */
static bool say_damage(const struct source *source, bool remove)
{
	uint32_t first = 0, rings = damaged_rings(source, &first);
	bool control = source->control && guard_was_hit(source->control);
	bool keep = control || source->damaged || rings;
	char part[80];

	if (!keep && !source->malformed)
		return false;
	if (control)
		snprintf(part, sizeof part, "control");
	else if (source->damaged)
		snprintf(part, sizeof part, "dict");
	else if (rings)
		snprintf(part, sizeof part, rings > 1 ? "ring-%u and %u more" : "ring-%u", first,
			 rings - 1);
	else
		snprintf(part, sizeof part, "%llu events are not as their streams describe them",
			 (unsigned long long)source->malformed);
	log_line(RTL_LEVEL_WARNING, "spool",
		 "%s is damaged (%s): what could not be read is counted as abandoned%s",
		 source->path, part, keep && remove ? ", and the files stay" : "");
	return keep;
}

void source_close(struct source *source, bool remove)
{
	struct rtl_ledger *finals = calloc(source->stream_count + 1u, sizeof *finals);
	uint32_t i;

	for (i = 0; finals && i < source->stream_count; i++) {
		struct keep keep = {source, i};

		finals[i].struct_size = sizeof finals[i];
		source_ledger(source, i, &finals[i]);
		source_losses(source, i, keep_loss, &keep);
	}
	if (!finals)
		return; /* it just stays open */
	source->finals = finals;
	if (!say_damage(source, remove) && remove)
		spool_remove_folder(source->path);
	release(source);
}

void source_fini(struct source *source)
{
	struct source_resume *resume;
	struct source_loss *loss;

	release(source);
	catalog_fini(&source->catalog);
	while ((resume = source->resume)) {
		source->resume = resume->next;
		free(resume->positions);
		free(resume);
	}
	while ((loss = source->losses)) {
		source->losses = loss->next;
		free(loss);
	}
	free(source->finals);
	free(source->path);
	memset(source, 0, sizeof *source);
}

int source_refresh(struct source *source)
{
	const struct rtl_process *said = &source->catalog.process;
	uint64_t length;
	int err;

	if (source->local)
		return 0;
	length = spool_files_read_dict(&source->files);
	err = catalog_read(&source->catalog, source->files.dict, length);
	if (!err && source->files.dict_short)
		err = RTL_EFORMAT;
	if (!source->process && said->program) {
		source->remote = (struct rtl_process){
			.struct_size = sizeof source->remote,
			.number = source->remote.number, /* the host's */
			.pid = source->control->pid,
			.parent_pid = source->control->parent_pid,
			.start_ns = source->control->start_ns,
			.program = said->program,
			.command = said->command,
			.host_name = said->host_name,
			.spool_id = source->control->spool_id,
		};
		source->process = &source->remote;
	}
	return err;
}

uint32_t source_streams_known(const struct source *source)
{
	return source->local ? stream_count() : source->catalog.stream_count;
}

const struct rtl_stream_info *source_stream(const struct source *source, uint32_t number)
{
	return source->local ? stream_info(number) : source->catalog.streams[number];
}

uint64_t source_stored(const struct source *source, const void *owner, uint32_t ring)
{
	const struct source_resume *resume = source->resume;

	while (resume && resume->owner != owner)
		resume = resume->next;
	return resume && ring < resume->count ? resume->positions[ring] : 0;
}

static struct source_resume *find_resume(struct source *source, const void *owner)
{
	struct source_resume *resume;

	for (resume = source->resume; resume; resume = resume->next)
		if (resume->owner == owner)
			return resume;
	resume = calloc(1, sizeof *resume);
	if (!resume)
		return NULL;
	resume->owner = owner;
	resume->next = source->resume;
	source->resume = resume;
	return resume;
}

int source_resume_at(struct source *source, const void *owner, uint32_t ring, uint64_t position)
{
	struct source_resume *resume;
	uint64_t *positions;

	if (ring >= SPOOL_RINGS_MAX)
		return RTL_EINVAL;
	resume = find_resume(source, owner);
	if (!resume)
		return RTL_ENOMEM;
	if (ring >= resume->count) {
		positions = realloc(resume->positions, (ring + 1) * sizeof *positions);
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

/* Up to where all subscribers have stored a ring's events. */
static uint64_t stored_by_all(const struct source *source, uint32_t ring)
{
	const struct source_resume *resume;
	uint64_t least = UINT64_MAX;
	uint32_t owners = 0;

	for (resume = source->resume; resume; resume = resume->next) {
		uint64_t position = source_stored(source, resume->owner, ring);

		owners++;
		least = position < least ? position : least;
	}
	return owners < source->hearers ? 0 : least;
}

/* Goes over what an earlier host has stored, when the rings are known. What only some of its
 * subscribers have stored is delivered to the others (deliver.c). */
static void skip_stored(struct source *source)
{
	uint32_t i;

	source->resumed = true;
	for (i = 0; i < source->reader.count; i++) {
		uint64_t position = stored_by_all(source, i);

		while (reader_skip(&source->reader, i, position)) {
			uint16_t stream = source->reader.list[i].taken;

			if (stream < source->stream_count)
				source->delivered[stream]++;
		}
	}
}

bool source_begin(struct source *source)
{
	struct ring_header *const *rings = bus.rings;
	const size_t *bytes = NULL;
	uint32_t count;
	bool something;

	reader_take_time(&source->reader);
	if (source->local) {
		/* acquire: with the release of the thread that has made the ring */
		count = __atomic_load_n(&source->control->ring_count, __ATOMIC_ACQUIRE);
	} else {
		spool_files_map_rings(&source->files);
		if (source->control->segment_count) {
			spool_files_find_segments(&source->files);
			source->reader.more = next_segment;
			source->reader.user = source;
		}
		rings = source->files.rings;
		bytes = source->files.ring_bytes;
		count = source->files.ring_count;
	}
	if (source->resume && !source->resumed) {
		reader_add_rings(&source->reader, rings, bytes, count);
		skip_stored(source);
	}
	something = reader_begin(&source->reader, rings, bytes, count);
	if (!source->gone && !source->found_gone)
		source->alive_ticks = source->reader.until;
	if (!source->local && (source->gone || !source->files.shared))
		source->reader.until = UINT64_MAX; /* nothing comes that could be a cause of it */
	return something;
}

void source_prepare(struct source *source)
{
	uint32_t i;

	if (!source->local && !source->files.shared)
		return;
	for (i = 0; i < source->reader.count; i++) {
		const struct reader_ring *r = &source->reader.list[i];
		struct ring_header *ring = r->ring;
		const struct ring_place place = {ring, i,
						 r->usable < r->capacity ? r->usable : r->capacity};
		uint64_t ready = ring ? __atomic_load_n(&ring->ready, __ATOMIC_RELAXED) : 0;

		/* a thread that fills little needs little */
		if (!ring || r->is_segment || ready >= place.bytes ||
		    __atomic_load_n(&ring->head, __ATOMIC_RELAXED) + PREPARE_STEP <= ready)
			continue;
		if (source->local)
			spool_ring_prepare(&bus.spool, ring, ready + PREPARE_STEP);
		else
			ring_prepare(&place, source->files.dir_fd, ready + PREPARE_STEP);
	}
}

void source_add_stream(struct source *source, const struct rtl_stream_info *info)
{
	uint32_t number = source->stream_count++;

	source->streams[number] = info;
	source->delivered[number] =
		__atomic_load_n(&source->control->streams[number].delivered, __ATOMIC_RELAXED);
}

void source_release(struct source *source)
{
	struct spool_control *control = source->control;
	uint32_t i;

	store_clock(source);
	for (i = 0; i < source->stream_count; i++)
		__atomic_store_n(&control->streams[i].delivered_next, source->delivered[i],
				 __ATOMIC_RELAXED);
	reader_announce_release(&source->reader);
	/* release, here and below: in this order, for the one who comes when we are dead */
	__atomic_store_n(&control->releasing, 1, __ATOMIC_RELEASE);
	reader_release(&source->reader);
	settle_segments(source);
	for (i = 0; i < source->stream_count; i++)
		__atomic_store_n(&control->streams[i].delivered, source->delivered[i],
				 __ATOMIC_RELEASE);
	__atomic_store_n(&control->releasing, 0, __ATOMIC_RELEASE);
}

int source_number(const struct source *source, const struct rtl_stream_info *info)
{
	uint32_t i;

	for (i = 0; i < source->stream_count; i++)
		if (source->streams[i] == info)
			return (int)i;
	return -1;
}

void source_want(struct source *source, const struct rtl_stream_info *info,
		 const struct stream_wants *wants, uint8_t mask)
{
	int number = source_number(source, info);

	if (number >= 0 && !source->finals)
		stream_want(&source->control->streams[number].pub, info, wants, mask);
}

static uint64_t published(const struct source *source, uint32_t number)
{
	uint64_t sum = 0;
	uint32_t i, n;

	if (source->local) { /* of all rings: there may be some that cannot be read */
		n = __atomic_load_n(&source->control->ring_count, __ATOMIC_ACQUIRE);
		for (i = 0; i < n; i++)
			sum += __atomic_load_n(&bus.rings[i]->published[number], __ATOMIC_RELAXED);
		return sum;
	}
	for (i = 0; i < source->files.ring_count; i++)
		if (source->files.rings[i])
			sum += __atomic_load_n(&source->files.rings[i]->published[number],
					       __ATOMIC_RELAXED);
	return sum;
}

static void add_up(void *user, const char *cause, uint64_t count)
{
	(void)cause;
	*(uint64_t *)user += count;
}

/* Whether what its publishers had under way will not come any more. */
static bool is_over(const struct source *source)
{
	/* Relaxed: each by itself, as the members beside them are the consumer's, who may hold
	 * another lock. */
	return __atomic_load_n(&source->over, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&source->gone, __ATOMIC_RELAXED) ||
	       (!source->local && !source->files.shared);
}

static uint64_t under_way(const struct spool_pending *entry)
{
	/* acquire: with the releases in rtl/stream.h */
	const uint64_t ended = __atomic_load_n(&entry->pub.ended, __ATOMIC_ACQUIRE);
	const uint64_t begun = __atomic_load_n(&entry->pub.begun, __ATOMIC_ACQUIRE);

	return begun > ended ? begun - ended : 0;
}

static bool is_pending_of(const struct spool_pending *entry, uint32_t number)
{
	/* acquire: with the release in pending.c */
	return __atomic_load_n(&entry->used, __ATOMIC_ACQUIRE) && entry->stream == number;
}

/* Once for each cause, of which there may be many entries. */
static void each_pending(const struct source *source, uint32_t number,
			 void (*fn)(void *user, const char *cause, uint64_t count), void *user)
{
	const struct spool_pending *list = source->control->pending;
	bool done[SPOOL_PENDING_MAX] = {false};

	for (uint32_t i = 0; i < SPOOL_PENDING_MAX; i++) {
		char cause[sizeof list[i].cause + 1] = "";
		uint64_t count = 0;

		if (done[i] || !is_pending_of(&list[i], number))
			continue;
		for (uint32_t j = i; j < SPOOL_PENDING_MAX; j++) {
			if (!is_pending_of(&list[j], number) ||
			    memcmp(list[j].cause, list[i].cause, sizeof list[i].cause) != 0)
				continue;
			count += under_way(&list[j]);
			done[j] = true;
		}
		memcpy(cause, list[i].cause, sizeof list[i].cause);
		if (count)
			fn(user, cause, count);
	}
}

static void each_missed(const struct source *source, uint32_t number,
			void (*fn)(void *user, const char *cause, uint64_t count), void *user)
{
	const struct spool_control *control = source->control;
	/* acquire: with the release in stream.c: entries below are complete */
	uint32_t i, n = __atomic_load_n(&control->loss_count, __ATOMIC_ACQUIRE);
	uint64_t otherwise, open;

	for (i = 0; i < n && i < SPOOL_LOSSES_MAX; i++) {
		uint64_t count = __atomic_load_n(&control->losses[i].count, __ATOMIC_RELAXED);
		char cause[sizeof control->losses[i].cause + 1] = "";

		if (control->losses[i].stream != number || !count)
			continue;
		memcpy(cause, control->losses[i].cause, sizeof control->losses[i].cause);
		fn(user, cause, count);
	}
	otherwise = __atomic_load_n(&control->streams[number].missed_otherwise, __ATOMIC_RELAXED);
	if (otherwise)
		fn(user, "other causes", otherwise);
	if (!is_over(source))
		return;
	each_pending(source, number, fn, user);
	if ((open = source_count_open(source, number)))
		fn(user, "open when the process ended, and not recorded", open);
}

static void each_discarded(const struct source *source, uint32_t number,
			   void (*fn)(void *user, const char *cause, uint64_t count), void *user)
{
	const struct spool_stream *slot = &source->control->streams[number];
	uint32_t i;

	for (i = 0; i < SPOOL_DISCARD_CAUSES; i++) {
		uint64_t count = __atomic_load_n(&slot->discarded[i], __ATOMIC_RELAXED);
		const char *cause = discard_text(i);

		if (count)
			fn(user, cause ? cause : "of a newer version's cause", count);
	}
}

static void each_rotated(const struct source *source, uint32_t number,
			 void (*fn)(void *user, const char *cause, uint64_t count), void *user)
{
	if (source->control->streams[number].rotated)
		fn(user, "no room in the recording", source->control->streams[number].rotated);
}

void source_ledger(const struct source *source, uint32_t number, struct rtl_ledger *ledger)
{
	uint64_t discarded = 0, missed = 0, known;

	if (source->finals || source->ended) {
		*ledger = source->finals ? source->finals[number] : source->last[number];
		return;
	}
	each_discarded(source, number, add_up, &discarded);
	each_missed(source, number, add_up, &missed);
	ledger->discarded = discarded + source->control->streams[number].rotated;
	ledger->missed = missed;
	ledger->delivered = __atomic_load_n(&source->delivered[number], __ATOMIC_RELAXED);
	ledger->abandoned = __atomic_load_n(&source->abandoned[number], __ATOMIC_RELAXED);
	/* read last: what was delivered above had been published before; in a damaged spool
	 * the count may be less */
	ledger->published = published(source, number) + discarded;
	known = ledger->delivered + ledger->discarded + ledger->abandoned;
	if (ledger->published < known)
		ledger->published = known;
}

void source_losses(const struct source *source, uint32_t number,
		   void (*fn)(void *user, const char *cause, uint64_t count), void *user)
{
	const struct source_loss *loss;

	for (loss = source->losses; loss; loss = loss->next)
		if (loss->stream == number)
			fn(user, loss->cause, loss->count);
	if (source->finals)
		return;
	each_discarded(source, number, fn, user);
	each_rotated(source, number, fn, user);
	each_missed(source, number, fn, user);
}

const char *source_string(const struct source *source, uint64_t id)
{
	return source->local ? rtl_string_text(id) : catalog_string(&source->catalog, id);
}

bool source_tracepoint(const struct source *source, uint64_t uid, struct rtl_tracepoint *out,
		       struct rtl_metadata **metadata, uint32_t *room)
{
	return source->local ? ids_tracepoint(uid, out, metadata, room)
			     : catalog_tracepoint(&source->catalog, uid, out, metadata, room);
}
