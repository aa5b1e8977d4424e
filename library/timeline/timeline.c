/* SPDX-License-Identifier: MIT */
#include "timeline.h"
#include "array.h"

#include <stdio.h>

/* Beyond all pids of Linux: 22 bits. */
#define GPU_PIDS   0x40000000u
#define OTHER_PIDS (1u << 22)
/* Tracks of a program's process that are no threads, and further lanes. TraceLens wants less than
 * 10^9. */
#define OTHER_TIDS 500000000u
/* Numbers for each of those who go on with a timeline. */
#define RESUME_TIDS 1000000u
#define RESUMES     400u

bool timeline_format_of(const char *path, enum timeline_format *format)
{
	static const char *const suffixes[] = {
		[TIMELINE_JSON] = ".json",
		[TIMELINE_JSON_GZ] = ".json.gz",
		[TIMELINE_PFTRACE] = ".pftrace",
	};

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (output_ends_in(path, suffixes[i])) {
			*format = (enum timeline_format)i;
			return true;
		}
	return false;
}

int timeline_error(const struct timeline *timeline)
{
	return timeline->out_of_memory ? ENOMEM
	       : timeline->file.error  ? timeline->file.error
	       : timeline->state.path  ? timeline->state.error
				       : 0;
}

/* ---- the file ---- */

static const struct timeline_writer *const writers[] = {
	[TIMELINE_JSON] = &timeline_json,
	[TIMELINE_JSON_GZ] = &timeline_json,
	[TIMELINE_PFTRACE] = &timeline_pftrace,
};

static bool open_file(struct timeline *timeline, int fd, enum timeline_format format)
{
	if (!timeline->writer)
		timeline->writer = writers[format];
	timeline->last_process = &timeline->processes;
	timeline->next_gpu_pid = GPU_PIDS;
	timeline->out_of_memory = !file_open(&timeline->file, format == TIMELINE_JSON_GZ, fd);
	return !timeline->out_of_memory;
}

size_t timeline_mark(enum timeline_format format, const char *session,
		     char mark[TIMELINE_MARK_SIZE])
{
	return writers[format]->mark(session, mark);
}

bool timeline_begin(struct timeline *timeline, const char *path, int fd,
		    enum timeline_format format, uint64_t base_ns, int64_t unix_ns,
		    const char *session, bool can_continue)
{
	if (!open_file(timeline, fd, format))
		return false;
	timeline->base_ns = timeline->latest_ns = base_ns;
	timeline->unix_ns = unix_ns;
	snprintf(timeline->session, sizeof(timeline->session), "%s", session);
	timeline->has_state = can_continue;
	if (can_continue) {
		if (!state_init(&timeline->state, path)) {
			timeline->out_of_memory = true;
			return false;
		}
		snprintf(timeline->state.session, sizeof(timeline->state.session), "%s", session);
		timeline->state.base_ns = base_ns;
		timeline->state.unix_ns = unix_ns;
		state_create(&timeline->state);
	}
	if (timeline->writer->begin)
		timeline->writer->begin(timeline, false);
	timeline_commit(timeline);
	return timeline_error(timeline) == 0;
}

bool timeline_continue(struct timeline *timeline, int fd, enum timeline_format format)
{
	struct state *state = &timeline->state;

	if (!open_file(timeline, fd, format))
		return false;
	timeline->base_ns = state->base_ns;
	timeline->unix_ns = state->unix_ns;
	timeline->latest_ns = timeline->left_ns = state->latest_ns;
	state->resumes++;
	timeline->has_state = timeline->resumed = true;
	if (!file_resume(&timeline->file, state->offset))
		return false;
	for (size_t i = 0; i < state->pids.hash.capacity; i++)
		if (map_at(&state->pids, i)->value)
			timeline->out_of_memory |=
				!map_set(&timeline->pids, map_at(&state->pids, i)->value, 1);
	state_create(state);
	timeline->writer->begin(timeline, true);
	timeline_commit(timeline);
	return timeline_error(timeline) == 0;
}

void timeline_commit(struct timeline *timeline)
{
	file_commit(&timeline->file);
	if (timeline->has_state && !timeline->file.error)
		state_commit(&timeline->state, timeline->file.offset, timeline->latest_ns);
}

void timeline_finish(struct timeline *timeline)
{
	size_t length = 0;
	char *tail = NULL;

	if (timeline->writer->end)
		timeline->writer->end(timeline);
	if (timeline->writer->tail)
		tail = timeline->writer->tail(timeline, &length);
	file_finish(&timeline->file, tail, length);
	free(tail);
}

void timeline_forget_ledger(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->loss_count; i++)
		free(timeline->losses[i].cause);
	free(timeline->losses);
	free(timeline->ledgers);
	timeline->losses = NULL;
	timeline->ledgers = NULL;
	timeline->loss_count = timeline->ledger_count = 0;
}

void timeline_fini(struct timeline *timeline, bool done)
{
	for (struct timeline_track *t = timeline->tracks, *next; t; t = next) {
		next = t->next;
		for (uint32_t i = 0; i < t->lane_count; i++) {
			lane_fini(&t->lanes[i]->lane);
			free(t->lanes[i]);
		}
		free(t->lanes);
		free(t);
	}
	for (struct timeline_process *p = timeline->processes; p; p = p->next) {
		map_fini(&p->tracks);
		map_fini(&p->used_tids);
		free(p->name);
	}
	list_free(timeline->processes);
	file_close(&timeline->file);
	if (timeline->has_state || timeline->state.path)
		state_fini(&timeline->state, done);
	timeline_forget_ledger(timeline);
	names_fini(&timeline->names);
	map_fini(&timeline->pids);
	*timeline = (struct timeline){0};
}

void *timeline_alloc(struct timeline *timeline, size_t size)
{
	void *made = calloc(1, size);

	timeline->out_of_memory |= !made;
	return made;
}

struct name *timeline_intern(struct timeline *timeline, const char *text)
{
	struct name *name = names_of(&timeline->names, text, strlen(text));

	timeline->out_of_memory |= !name;
	return name;
}

/* ---- processes ---- */

/* The pid, unless another one has it: then one that no process of Linux has. */
static uint32_t choose_pid(struct timeline *timeline, uint64_t key, bool is_gpu, uint32_t pid)
{
	const uint32_t known =
		timeline->has_state ? (uint32_t)map_get(&timeline->state.pids, key) : 0;

	if (known)
		return known;
	if (is_gpu) {
		do
			pid = timeline->next_gpu_pid++;
		while (map_get(&timeline->pids, pid));
	} else {
		pid = pid % OTHER_PIDS ? pid % OTHER_PIDS : 1;
		while (map_get(&timeline->pids, pid))
			pid += OTHER_PIDS;
	}
	timeline->out_of_memory |= !map_set(&timeline->pids, pid, 1);
	if (timeline->has_state)
		state_set_pid(&timeline->state, key, pid);
	return pid;
}

struct timeline_process *timeline_process(struct timeline *timeline, uint64_t key, bool is_gpu,
					  uint32_t number, const char *name, int sort)
{
	struct timeline_process *process = timeline->processes;

	while (process && (process->key != key || process->is_gpu != is_gpu))
		process = process->next;
	if (process && strcmp(process->name, name) == 0)
		return process;
	if (!process) {
		process = timeline_alloc(timeline, sizeof(*process));
		if (!process)
			return NULL;
		process->key = key;
		process->is_gpu = is_gpu;
		process->number = number;
		/* further lanes of those who left it are not known */
		process->next_tid =
			(is_gpu ? 1 : OTHER_TIDS) + timeline->state.resumes % RESUMES * RESUME_TIDS;
		process->pid = choose_pid(timeline, key, is_gpu, number);
		process->uuid = hash_number(key * 2 + is_gpu) | 1;
		process->sort = sort;
		*timeline->last_process = process;
		timeline->last_process = &process->next;
	}
	free(process->name);
	process->name = strdup(name);
	if (!process->name) {
		timeline->out_of_memory = true;
		return NULL;
	}
	if (timeline->writer->process)
		timeline->writer->process(timeline, process);
	return process;
}

/* ---- tracks ---- */

/* A thread has the number that it has; 0 would be taken for the process. */
static uint32_t choose_tid(struct timeline *timeline, const struct timeline_track *track,
			   uint32_t lane)
{
	struct timeline_process *process = track->process;
	uint32_t tid = (uint32_t)track->number;

	if (track->kind != TIMELINE_THREAD || lane > 0 || tid == 0 || tid >= OTHER_TIDS ||
	    map_get(&process->used_tids, tid))
		do
			tid = process->next_tid++;
		while (map_get(&process->used_tids, tid));
	timeline->out_of_memory |= !map_set(&process->used_tids, tid, 1);
	return tid;
}

static uint64_t state_key(const struct timeline_track *track)
{
	return hash_number(track->process->uuid) + track->key;
}

static struct timeline_lane *add_lane(struct timeline *timeline, struct timeline_track *track,
				      uint32_t tid)
{
	const uint32_t number = track->lane_count;
	struct timeline_lane *lane = calloc(1, sizeof(*lane));
	struct timeline_lane **place = lane ? ARRAY_ADD(track->lanes, track->lane_count) : NULL;

	if (!place) {
		free(lane);
		timeline->out_of_memory = true;
		return NULL;
	}
	lane->tid = tid ? tid : choose_tid(timeline, track, number);
	lane->uuid = hash_number(track->process->uuid + hash_number(track->key) + number) | 1;
	*place = lane;
	timeline->writer->lane(timeline, track, track->lane_count - 1);
	if (timeline->has_state && track->lane_count == 1)
		state_set_track(&timeline->state, state_key(track), lane->tid);
	return lane;
}

/* The first lane as somebody has left it; what is in it is not known. */
static void take_over(struct timeline *timeline, struct timeline_track *track)
{
	const uint32_t tid = timeline->resumed
				     ? (uint32_t)map_get(&timeline->state.tracks, state_key(track))
				     : 0;
	struct timeline_lane *lane = tid ? add_lane(timeline, track, tid) : NULL;

	if (!lane)
		return;
	timeline->out_of_memory |= !map_set(&track->process->used_tids, tid, 1);
	lane_block(&lane->lane, timeline->left_ns);
}

struct timeline_track *timeline_add(struct timeline *timeline, struct timeline_process *process,
				    enum timeline_kind kind, uint64_t number, const char *name)
{
	struct timeline_track *track = timeline_alloc(timeline, sizeof(*track));

	if (!track)
		return NULL;
	track->process = process;
	track->kind = kind;
	track->number = number;
	track->key = hash_number(number) * 8 + kind;
	track->rule = kind != TIMELINE_THREAD    ? LANE_FLAT
		      : timeline->writer->strict ? LANE_STRICT
						 : LANE_NESTED;
	track->name = timeline_intern(timeline, name);
	track->next = timeline->tracks;
	timeline->tracks = track;
	if (!track->name || !map_set(&process->tracks, track->key, (uintptr_t)track)) {
		timeline->out_of_memory = true;
		return NULL;
	}
	process->last = track;
	take_over(timeline, track);
	return track;
}

struct timeline_track *timeline_add_counter(struct timeline *timeline,
					    struct timeline_process *process, uint64_t number,
					    const char *name, const char *unit)
{
	struct timeline_track *track =
		timeline_add(timeline, process, TIMELINE_COUNTER, number, name);

	if (!track)
		return NULL;
	track->unit = timeline_intern(timeline, unit);
	if (!track->unit || (!track->lane_count && !add_lane(timeline, track, 0)))
		return NULL;
	return track;
}

void timeline_rename(struct timeline *timeline, struct timeline_track *track, const char *name)
{
	const struct name *other = timeline_intern(timeline, name);

	if (!other || other == track->name)
		return;
	track->name = other;
	for (uint32_t i = 0; i < track->lane_count; i++)
		timeline->writer->lane(timeline, track, i);
}

/* ---- what happens there ---- */

/* The lane for a slice: the first one in which it has room. */
static struct timeline_lane *find_lane(struct timeline *timeline, struct timeline_track *track,
				       const struct timeline_slice *slice)
{
	struct timeline_lane *lane;

	if (slice->is_mark && track->lane_count)
		return track->lanes[0];
	for (uint32_t i = 0; i < track->lane_count; i++)
		if (lane_take(&track->lanes[i]->lane, slice->begin_ns, slice->end_ns, track->rule))
			return track->lanes[i];
	lane = add_lane(timeline, track, 0);
	if (lane && !slice->is_mark)
		lane_take(&lane->lane, slice->begin_ns, slice->end_ns, track->rule);
	return lane;
}

void timeline_slice(struct timeline *timeline, struct timeline_track *track,
		    const struct timeline_slice *slice)
{
	const bool has_lanes = timeline->writer->lane;
	struct timeline_lane *lane = has_lanes ? find_lane(timeline, track, slice) : NULL;

	if (has_lanes && !lane)
		return;
	if (slice->end_ns > timeline->latest_ns)
		timeline->latest_ns = slice->end_ns;
	timeline->slices++;
	timeline->writer->slice(timeline, track, lane, slice);
}

void timeline_counter(struct timeline *timeline, const struct timeline_track *track,
		      uint64_t time_ns, double value)
{
	timeline->writer->counter(timeline, track, time_ns, value);
}
