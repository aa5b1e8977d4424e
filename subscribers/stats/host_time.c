/* SPDX-License-Identifier: MIT */
/* See host_time.h. */
#include "host_time.h"

#include "array.h"
#include "model.h"

#define LANE_LEAST 256u
#define LANE_MOST  65536u
#define SPANS_MOST (2u << 20) /* of all lanes together; each may have LANE_LEAST */
#define OPEN_MOST  4096u
#define STEPS_MOST 65536u
#define PARTS_MOST 4096u

struct host_thread *host_thread(struct host_time *time, const struct summary_process *process,
				uint32_t tid)
{
	const uint64_t key = hash_number((uintptr_t)process) + tid;
	struct host_thread *thread = map_pointer(&time->by_id, key);

	if (thread)
		return thread;
	thread = map_make(&time->by_id, key, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->process = process;
	thread->tid = tid;
	thread->next = time->threads;
	time->threads = thread;
	return thread;
}

/* ---- lanes */

size_t lane_find(const struct lane *lane, uint64_t time_ns)
{
	return lane->count
		       ? first_later(&lane->spans->end, lane->count, sizeof(*lane->spans), time_ns)
		       : 0;
}

/* Up to when nobody asks any more. */
static uint64_t told_until(const struct host_time *time)
{
	uint64_t told = UINT64_MAX;

	for (const struct gpu_time *gpu = time->gpus; gpu; gpu = gpu->next)
		told = gpu_time_told(gpu) < told ? gpu_time_told(gpu) : told;
	return time->gpus ? told : 0;
}

/* Makes room in a full lane. */
static void thin(const struct host_time *time, struct lane *lane)
{
	const uint64_t told = told_until(time);
	const size_t gone = lane_find(lane, told);
	struct span *spans = lane->spans;
	size_t half;

	if (gone)
		lane->forgotten = spans[gone - 1].end;
	lane->count -= gone;
	memmove(spans, spans + gone, lane->count * sizeof(*spans));
	if (gone > lane->room / 4)
		return;
	half = lane->count / 4;
	for (size_t i = 0; i < half; i++) {
		const struct span *a = &spans[2 * i], *b = a + 1;

		spans[i] = (struct span){a->begin, b->end, a->in_ns + b->in_ns,
					 a->what == b->what ? a->what : NULL};
	}
	lane->count -= half;
	memmove(spans + half, spans + 2 * half, (lane->count - half) * sizeof(*spans));
}

/* Has room for so many more, at the price of older ones. False: out of memory. */
static bool reserve(struct host_time *time, struct lane *lane)
{
	const size_t room = lane->room ? 2 * lane->room : LANE_LEAST;
	struct span *larger;

	if (lane->room && (room > LANE_MOST || time->span_room + lane->room > SPANS_MOST)) {
		thin(time, lane);
		return true;
	}
	larger = reallocarray(lane->spans, room, sizeof(*larger));
	if (!larger)
		return false;
	time->span_room += room - lane->room;
	lane->spans = larger;
	lane->room = room;
	return true;
}

static bool append(struct host_time *time, struct lane *lane, uint64_t begin, uint64_t end,
		   const struct summary_group *what)
{
	if (lane->count == lane->room && !reserve(time, lane))
		return false;
	lane->spans[lane->count++] = (struct span){begin, end, end - begin, what};
	return true;
}

/* Fills what is free from begin to end. */
static bool fill(struct host_time *time, struct lane *lane, uint64_t begin, uint64_t end,
		 const struct summary_group *what)
{
	size_t from, inner;
	struct span *old;
	bool good = true;

	while (from = lane_find(lane, begin), inner = lane->count - from,
	       lane->count + inner + 1 > lane->room)
		if (!reserve(time, lane))
			return false;
	if (!inner)
		return append(time, lane, begin, end, what);
	old = malloc(inner * sizeof(*old));
	if (!old)
		return false;
	memcpy(old, lane->spans + from, inner * sizeof(*old));
	lane->count = from;
	for (size_t i = 0; i < inner; i++) {
		const uint64_t until = old[i].begin < end ? old[i].begin : end;

		if (begin < until)
			good &= append(time, lane, begin, until, what);
		lane->spans[lane->count++] = old[i];
		begin = old[i].end > begin ? old[i].end : begin;
	}
	if (begin < end)
		good &= append(time, lane, begin, end, what);
	free(old);
	return good;
}

bool host_time_add_call(struct host_time *time, struct host_thread *thread, uint64_t begin,
			uint64_t end, const struct summary_group *function)
{
	struct lane *lane = &thread->calls;

	/* it is around these */
	while (lane->count && lane->spans[lane->count - 1].begin >= begin &&
	       lane->spans[lane->count - 1].end <= end)
		lane->count--;
	if (begin >= end)
		return true;
	if (!lane->count || lane->spans[lane->count - 1].end <= begin)
		return append(time, lane, begin, end, function);
	return fill(time, lane, begin, end, function);
}

/* ---- ranges */

/* Tells which range it was of what of the open pieces lies behind its begin. */
static void resolve(struct host_thread *thread, uint64_t begin, const struct summary_group *name)
{
	size_t kept = 0;

	if (thread->open_last <= begin)
		return;
	thread->open_last = begin;
	for (size_t i = 0; i < thread->open_count; i++) {
		struct open_piece piece = thread->open[i];
		const uint64_t from = piece.begin > begin ? piece.begin : begin;
		uint64_t ns = 0;

		if (piece.end > from) {
			ns = (uint64_t)((unsigned __int128)piece.ns * (piece.end - from) /
					(piece.end - piece.begin));
			gpu_time_name_range(piece.gpu, thread, from, ns, name);
			piece.end = from;
		}
		piece.ns -= ns;
		if (piece.end > piece.begin)
			thread->open[kept++] = piece;
	}
	thread->open_count = kept;
}

/* Forgets those that all GPUs have taken; if these are too few, they take what they know. */
static void make_room_for_steps(struct host_time *time)
{
	size_t done;

	path_take_steps(time, false);
	done = time->paths_done;

	for (struct gpu_time *gpu = time->gpus; gpu; gpu = gpu->next) {
		gpu_time_take_steps(gpu, false);
		done = gpu->steps_done < done ? gpu->steps_done : done;
	}
	for (struct gpu_time *gpu = time->gpus; gpu && done < STEPS_MOST / 2; gpu = gpu->next)
		gpu_time_take_steps(gpu, true);
	if (done < STEPS_MOST / 2) {
		path_take_steps(time, true);
		done = time->step_count;
	}
	time->paths_done -= done;
	for (struct gpu_time *gpu = time->gpus; gpu; gpu = gpu->next)
		gpu->steps_done -= done;
	time->step_count -= done;
	memmove(time->steps, time->steps + done, time->step_count * sizeof(*time->steps));
}

/* What is too many has no process. NULL: out of memory. */
static struct summary_part *part_of(struct host_time *time, const struct summary_process *process,
				    struct summary_group *range)
{
	struct summary_part **link = &range->parts;

	while (*link && (*link)->process != process && (*link)->process)
		link = &(*link)->next;
	if (*link || !(*link = calloc(1, sizeof(**link))))
		return *link;
	(*link)->range = range;
	(*link)->process = time->part_count++ < PARTS_MOST ? process : NULL;
	return *link;
}

bool host_time_add_range(struct host_time *time, struct host_thread *thread, uint64_t begin,
			 uint64_t end, struct summary_group *name)
{
	if (begin >= end)
		return true;
	if (!time->steps)
		time->steps = malloc(STEPS_MOST * sizeof(*time->steps));
	struct summary_part *part = part_of(time, thread->process, name);

	if (!time->steps || !part)
		return false;
	if (time->step_count == STEPS_MOST)
		make_room_for_steps(time);
	time->steps[time->step_count++] = (struct step){begin, end, part, thread};
	part->count++;
	part->total_ns += end - begin;
	resolve(thread, begin, name);
	return fill(time, &thread->ranges, begin, end, name);
}

/* Merges older pieces; where that is not enough, they are in no range. */
static void thin_open(struct host_thread *thread)
{
	struct open_piece *open = thread->open;
	size_t kept = 0, at;

	for (at = 0; at < OPEN_MOST / 2; at++) {
		if (kept && open[kept - 1].gpu == open[at].gpu && (at & 1)) {
			open[kept - 1].end = open[at].end;
			open[kept - 1].ns += open[at].ns;
		} else {
			open[kept++] = open[at];
		}
	}
	if (kept > 3 * OPEN_MOST / 8) {
		for (size_t i = 0; i < kept; i++)
			gpu_time_name_range(open[i].gpu, thread, open[i].begin, open[i].ns, NULL);
		kept = 0;
	}
	memmove(open + kept, open + at, (thread->open_count - at) * sizeof(*open));
	thread->open_count -= at - kept;
}

bool host_time_add_open(struct host_thread *thread, struct gpu_time *gpu, uint64_t begin,
			uint64_t end, uint64_t ns)
{
	if (!thread->open)
		thread->open = malloc(OPEN_MOST * sizeof(*thread->open));
	if (!thread->open)
		return false;
	if (thread->open_count == OPEN_MOST)
		thin_open(thread);
	thread->open[thread->open_count++] = (struct open_piece){begin, end, ns, gpu};
	thread->open_last = end > thread->open_last ? end : thread->open_last;
	return true;
}

void host_time_close(struct host_time *time)
{
	for (struct host_thread *thread = time->threads; thread; thread = thread->next)
		resolve(thread, 0, NULL);
}

/* ---- pauses */

bool host_time_add_pause(struct host_time *time, uint64_t begin, uint64_t end,
			 const struct summary_process *process)
{
	struct pause *at = ARRAY_ADD(time->pauses, time->pause_count);

	if (!at)
		return false;
	for (; at > time->pauses && at[-1].begin > begin; at--)
		*at = at[-1];
	*at = (struct pause){begin, end, 0, process};
	for (; at < time->pauses + time->pause_count; at++) {
		at->until = at > time->pauses ? at[-1].until : 0;
		at->until = at->until > at->end ? at->until : at->end;
	}
	return true;
}

void host_time_fini(struct host_time *time)
{
	for (struct host_thread *next, *thread = time->threads; thread; thread = next) {
		next = thread->next;
		free(thread->calls.spans);
		free(thread->ranges.spans);
		free(thread->open);
		free(thread);
	}
	map_fini(&time->by_id);
	free(time->steps);
	free(time->pauses);
}
