/* SPDX-License-Identifier: MIT */
/*
 * How long a device was busy: the length of the union of intervals, which come roughly in order
 * of time.
 *
 * The newest intervals are kept in a window, thousands of them. What leaves it is summed up in
 * chunks: stretches of time with the busy time in each. An interval that comes so late that it
 * reaches into chunks is exact for those that it covers whole (a long kernel beside thousands of
 * short ones); in the one or two that it covers in part nobody knows any more how much of it was
 * busy already: there the least that is possible counts, and the difference to the most is added
 * to `uncertain_ns`. Memory is the same whatever comes.
 *
 * Threads: one at a time.
 */
#ifndef RTL_STATS_BUSY_H
#define RTL_STATS_BUSY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The longest stretches of time in which a device was idle, and how many there were. A stretch that
 * an operation reaches into, which comes when it is here already, is cut; what was forgotten by then
 * for its sake is not found again (`cut`).
 *
 * Threads: one at a time.
 */
#define GAPS_KEPT 16u

struct gap {
	uint64_t begin, end;
};

/** All zeros is none. */
struct gaps {
	struct gap longest[GAPS_KEPT]; /* longest first, of equal ones that which was first */
	size_t kept;
	uint64_t count; /* of all */
	bool cut;
};

/** For gaps_add. */
void gaps_insert(struct gaps *gaps, uint64_t begin, uint64_t end);

static inline void gaps_add(struct gaps *gaps, uint64_t begin, uint64_t end)
{
	const struct gap *shortest = &gaps->longest[GAPS_KEPT - 1];

	gaps->count++;
	if (gaps->kept < GAPS_KEPT || end - begin > shortest->end - shortest->begin)
		gaps_insert(gaps, begin, end);
}

/** Something was done from begin to end after all. */
void gaps_cut(struct gaps *gaps, uint64_t begin, uint64_t end);

#define BUSY_PENDING 4096u
#define BUSY_WINDOW  16384u
#define BUSY_CHUNKS  4096u

struct busy_interval {
	uint64_t begin, end;
};

/* A stretch of time that begins where the one before ends. */
struct busy_chunk {
	uint64_t end;
	uint64_t busy_ns;
};

struct busy {
	struct busy_interval *pending; /* as they came, begin < end */
	struct busy_interval *window;  /* disjoint, in order */
	struct busy_interval *spare;   /* to merge into */
	struct busy_chunk *chunks;     /* in order */
	size_t pending_count, window_count, chunk_count;
	size_t chunk_intervals; /* how many intervals go into a chunk */
	uint64_t first, last;   /* begin of the first, end of the last */
	uint64_t chunks_begin;  /* begin of the first chunk */
	uint64_t uncertain_ns;  /* how much too small busy_total may be */
	struct gaps gaps;       /* those before the window */
};

/** 0, or -1: out of memory. */
int busy_init(struct busy *busy);
void busy_fini(struct busy *busy);

/** Takes the pending intervals into the window. */
void busy_settle(struct busy *busy);

static inline void busy_add(struct busy *busy, uint64_t begin, uint64_t end)
{
	if (begin < busy->first)
		busy->first = begin;
	if (end > busy->last)
		busy->last = end;
	if (begin >= end)
		return;
	if (busy->pending_count) {
		struct busy_interval *last = &busy->pending[busy->pending_count - 1];
		if (begin >= last->begin && begin <= last->end) {
			if (end > last->end)
				last->end = end;
			return;
		}
	}
	busy->pending[busy->pending_count++] = (struct busy_interval){begin, end};
	if (busy->pending_count == BUSY_PENDING)
		busy_settle(busy);
}

/** Length of the union of all that was added, ns. */
uint64_t busy_total(struct busy *busy);

/** What lies between the first and the last and is not in that union. */
void busy_gaps(struct busy *busy, struct gaps *gaps);

#endif
