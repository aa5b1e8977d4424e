/* SPDX-License-Identifier: MIT */
/* See gaps.h. */
#include "gaps.h"

#include <string.h>

void gaps_insert(struct gaps *gaps, uint64_t begin, uint64_t end)
{
	struct gap *list = gaps->longest;
	size_t at = gaps->kept;

	while (at && list[at - 1].end - list[at - 1].begin < end - begin)
		at--;
	if (at == GAPS_KEPT)
		return;
	if (gaps->kept < GAPS_KEPT)
		gaps->kept++;
	memmove(&list[at + 1], &list[at], (gaps->kept - at - 1) * sizeof(*list));
	list[at] = (struct gap){begin, end};
}

void gaps_cut(struct gaps *gaps, uint64_t begin, uint64_t end)
{
	struct gap old[GAPS_KEPT];
	const size_t count = gaps->kept;

	memcpy(old, gaps->longest, sizeof(old));
	gaps->kept = 0;
	for (size_t i = 0; i < count; i++) {
		const struct gap *gap = &old[i];

		if (gap->end <= begin || gap->begin >= end) {
			gaps_insert(gaps, gap->begin, gap->end);
			continue;
		}
		gaps->cut = true;
		gaps->count--;
		if (gap->begin < begin)
			gaps_add(gaps, gap->begin, begin);
		if (gap->end > end)
			gaps_add(gaps, end, gap->end);
	}
}
