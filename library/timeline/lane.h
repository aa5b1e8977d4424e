/* SPDX-License-Identifier: MIT */
/* lane.h: which slices go together on one line of a timeline. Readers reject slices of a line that overlap without one
 * being within the other; a track has as many lanes as that takes.
 *
 * A lane keeps the newest spans of time that it has in use, and one that covers all before them. What comes late and
 * might lie in there is refused, so a lane is never wrong; it may be that one more is made than necessary. One
 * thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** As many as that are kept: for a slice that has more within it another lane may be made. */
#define LANE_SPANS 32768u

struct lane_span {
	uint64_t begin, end;
	uint64_t filled; /* what is within it goes up to here */
};

/** All zeros is an empty lane. */
struct lane {
	uint32_t count, size;
	struct lane_span *spans; /* in the order of their times */
};

/** How slices may share a lane. */
enum lane_rule {
	LANE_FLAT,   /**< they do not overlap */
	LANE_NESTED, /**< or one lies within the other */
	/** As before, and the inner one begins later: for readers who order what is at the same
	 * time by its place in the file. */
	LANE_STRICT,
};

/** Takes a slice into the lane; false: it does not fit. Slices mostly come in the order of their
 *  ends. Where there is no memory a slice does not fit either. */
bool lane_take(struct lane *lane, uint64_t begin, uint64_t end, enum lane_rule rule);
/** All before that time is in use. */
void lane_block(struct lane *lane, uint64_t until);
void lane_fini(struct lane *lane);
