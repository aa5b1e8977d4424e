/* SPDX-License-Identifier: MIT */
/* What threads of the host did, and when: calls of HIP, ranges, and when recording was paused. Asked for when it is
 * told why a GPU was idle (gpu_time.h), mostly a while later.
 *
 * Each thread has two lanes of disjoint spans: its outermost calls, and its innermost ranges. What every GPU has been
 * told about is forgotten. If that is not enough, older spans are merged in pairs: how long it was in calls stays
 * exact, which calls these were becomes "several".
 *
 * Threads: one at a time. */
#pragma once

#include "map.h"

/* The first of things in order whose time is later; count: none. `times` is in the first of them. */
static inline size_t first_later(const uint64_t *times, size_t count, size_t bytes, uint64_t time)
{
	size_t low = 0;

	while (count) { /* without branches that cannot be foreseen */
		const size_t half = count / 2, at = (low + half) * bytes;
		const bool is_later = *(const uint64_t *)((const char *)times + at) > time;

		low = is_later ? low : low + half + 1;
		count = is_later ? half : count - half - 1;
	}
	return low;
}

struct gpu_time;
struct summary_group;
struct summary_process;

struct span {
	uint64_t begin, end;
	uint64_t in_ns;                   /* less than its length, if it was merged */
	const struct summary_group *what; /* NULL: several */
};

struct lane {
	struct span *spans; /* disjoint, in order */
	size_t count, room;
	uint64_t forgotten; /* what ended before is not there any more */
};

/* Idle time in which a thread was in no range that has ended. */
struct open_piece {
	uint64_t begin, end, ns;
	struct gpu_time *gpu;
};

struct host_thread {
	struct host_thread *next;
	const struct summary_process *process;
	uint32_t tid;
	struct lane calls, ranges;
	struct open_piece *open;
	size_t open_count;
	uint64_t open_last; /* none ends later */
};

/* A range, until all GPUs have told what they did in it. */
struct step {
	uint64_t begin, end;
	struct summary_part *of;
	struct host_thread *thread;
};

/* By begin. */
struct pause {
	uint64_t begin, end;
	uint64_t until;                        /* the latest end of those up to this one */
	const struct summary_process *process; /* NULL: all */
};

/* All zeros is none. */
struct host_time {
	struct host_thread *threads;
	struct map by_id;
	struct gpu_time *gpus;
	size_t span_room;              /* of all lanes */
	struct step *steps;            /* as they ended */
	size_t part_count;             /* of all ranges */
	size_t step_count, paths_done; /* of these, those whose critical path was added */
	struct pause *pauses;
	size_t pause_count;
};

/** NULL: out of memory. */
struct host_thread *host_thread(struct host_time *time, const struct summary_process *process,
				uint32_t tid);
/** In the order in which they ended, mostly. False: out of memory, as below. */
bool host_time_add_call(struct host_time *time, struct host_thread *thread, uint64_t begin,
			uint64_t end, const struct summary_group *function);
bool host_time_add_range(struct host_time *time, struct host_thread *thread, uint64_t begin,
			 uint64_t end, struct summary_group *name);
/** It is told once, before what comes after it is explained. */
bool host_time_add_pause(struct host_time *time, uint64_t begin, uint64_t end,
			 const struct summary_process *process);
/** The first span that ends after that time; lane->count: none. */
size_t lane_find(const struct lane *lane, uint64_t time_ns);
/** Keeps an idle piece until the range around it has ended. */
bool host_time_add_open(struct host_thread *thread, struct gpu_time *gpu, uint64_t begin,
			uint64_t end, uint64_t ns);
/** After the last event: around what is open is no range. */
void host_time_close(struct host_time *time);
void host_time_fini(struct host_time *time);
