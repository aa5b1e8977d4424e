/* SPDX-License-Identifier: MIT */
/*
 * The longest stretches of time in which a device was idle, and how many there were. A stretch that
 * an operation reaches into, which comes when it is here already, is cut; what was forgotten by then
 * for its sake is not found again (`cut`).
 *
 * Threads: one at a time.
 */
#ifndef RTL_STATS_GAPS_H
#define RTL_STATS_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
