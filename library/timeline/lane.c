/* SPDX-License-Identifier: MIT */
#include "lane.h"

#include <stdlib.h>
#include <string.h>

#define SIZE_FIRST 16u
/* Where nothing lies within another one, only what is late asks for older ones. */
#define FLAT_SPANS 64u

/* The older half becomes one span. */
static void join_older(struct lane *lane)
{
	const uint32_t half = lane->count / 2;

	lane->spans[0].end = lane->spans[0].filled = lane->spans[half - 1].end;
	memmove(&lane->spans[1], &lane->spans[half], (lane->count - half) * sizeof(lane->spans[0]));
	lane->count -= half - 1;
}

/* Sees to it that one more fits. */
static bool make_room(struct lane *lane, uint32_t most)
{
	const uint32_t size = lane->size ? 2 * lane->size : SIZE_FIRST;
	struct lane_span *spans;

	if (lane->count < lane->size)
		return true;
	if (lane->size >= most) {
		join_older(lane);
		return true;
	}
	spans = reallocarray(lane->spans, size, sizeof(*spans));
	if (!spans)
		return false;
	lane->spans = spans;
	lane->size = size;
	return true;
}

static void put(struct lane *lane, uint32_t at, struct lane_span span)
{
	memmove(&lane->spans[at + 1], &lane->spans[at],
		(lane->count - at) * sizeof(lane->spans[0]));
	lane->spans[at] = span;
	lane->count++;
}

static bool take_flat(struct lane *lane, uint64_t begin, uint64_t end)
{
	uint32_t at = lane->count;

	while (at > 0 && lane->spans[at - 1].begin > begin)
		at--;
	if ((at > 0 && lane->spans[at - 1].end > begin) ||
	    (at < lane->count && end >= lane->spans[at].begin))
		return false;
	put(lane, at, (struct lane_span){begin, end, end});
	return true;
}

static bool take_nested(struct lane *lane, uint64_t begin, uint64_t end, bool strict)
{
	uint32_t at = lane->count;
	uint64_t filled = begin;
	struct lane_span *before;

	while (at > 0 && lane->spans[at - 1].begin >= begin && lane->spans[at - 1].end <= end) {
		at--;
		if (strict && lane->spans[at].begin == begin)
			return false;
	}
	if (at < lane->count)
		filled = lane->spans[lane->count - 1].end;
	before = at > 0 ? &lane->spans[at - 1] : NULL;
	if (before && before->end > begin) {
		/* late: what lies within has come first */
		if (begin < before->filled || end > before->end ||
		    (strict && begin == before->begin))
			return false;
		before->filled = end;
		return true;
	}
	lane->count = at;
	put(lane, at, (struct lane_span){begin, end, filled});
	return true;
}

bool lane_take(struct lane *lane, uint64_t begin, uint64_t end, enum lane_rule rule)
{
	if (!make_room(lane, rule == LANE_FLAT ? FLAT_SPANS : LANE_SPANS))
		return false;
	return rule == LANE_FLAT ? take_flat(lane, begin, end)
				 : take_nested(lane, begin, end, rule == LANE_STRICT);
}

void lane_block(struct lane *lane, uint64_t until)
{
	lane->count = 0;
	if (until && make_room(lane, LANE_SPANS))
		put(lane, 0, (struct lane_span){0, until, until});
}

void lane_fini(struct lane *lane)
{
	free(lane->spans);
	*lane = (struct lane){0};
}
