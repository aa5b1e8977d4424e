/* SPDX-License-Identifier: MIT */
/* See busy.h. */
#include "busy.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- gaps */

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

/* ---- intervals */

int busy_init(struct busy *busy)
{
	const size_t size = sizeof(struct busy_interval);

	*busy = (struct busy){.first = UINT64_MAX};
	busy->pending = malloc(BUSY_PENDING * size);
	busy->window = malloc((BUSY_WINDOW + BUSY_PENDING) * size);
	busy->spare = malloc((BUSY_WINDOW + BUSY_PENDING) * size);
	busy->chunks = malloc(BUSY_CHUNKS * sizeof(*busy->chunks));
	busy->chunk_intervals = 64;
	if (busy->pending && busy->window && busy->spare && busy->chunks)
		return 0;
	busy_fini(busy);
	return -1;
}

void busy_fini(struct busy *busy)
{
	free(busy->pending);
	free(busy->window);
	free(busy->spare);
	free(busy->chunks);
	*busy = (struct busy){0};
}

static int compare(const void *a, const void *b)
{
	const struct busy_interval *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static void sort_pending(struct busy *busy)
{
	for (size_t i = 1; i < busy->pending_count; i++) {
		if (busy->pending[i].begin < busy->pending[i - 1].begin) {
			qsort(busy->pending, busy->pending_count, sizeof(*busy->pending), compare);
			return;
		}
	}
}

/* Appends to a list in order of begin: the last one grows, or there is one more. */
static size_t append(struct busy_interval *list, size_t count, struct busy_interval next)
{
	if (count && next.begin <= list[count - 1].end) {
		if (next.end > list[count - 1].end)
			list[count - 1].end = next.end;
		return count;
	}
	list[count] = next;
	return count + 1;
}

/* Merges window and pending, both in order, into spare, and makes that the window. */
static void merge(struct busy *busy)
{
	struct busy_interval *window = busy->window;
	size_t i = 0, j = 0, count = 0;

	while (i < busy->window_count || j < busy->pending_count) {
		bool take = j == busy->pending_count ||
			    (i < busy->window_count && window[i].begin <= busy->pending[j].begin);
		count = append(busy->spare, count, take ? window[i++] : busy->pending[j++]);
	}
	busy->window = busy->spare;
	busy->spare = window;
	busy->window_count = count;
}

/* Makes room for chunks: each two become one. */
static void halve_chunks(struct busy *busy)
{
	for (size_t i = 0; i < BUSY_CHUNKS / 2; i++) {
		const struct busy_chunk *pair = &busy->chunks[2 * i];
		busy->chunks[i] =
			(struct busy_chunk){pair[1].end, pair[0].busy_ns + pair[1].busy_ns};
	}
	busy->chunk_count = BUSY_CHUNKS / 2;
	busy->chunk_intervals *= 2;
}

/* The gaps before each of the first `count` intervals of the window. */
static void add_gaps(const struct busy *busy, size_t count, struct gaps *gaps)
{
	const struct busy_interval *window = busy->window;

	if (count && busy->chunk_count && busy->chunks[busy->chunk_count - 1].end < window[0].begin)
		gaps_add(gaps, busy->chunks[busy->chunk_count - 1].end, window[0].begin);
	for (size_t i = 1; i < count; i++)
		gaps_add(gaps, window[i - 1].end, window[i].begin);
}

/* Turns the older half of a full window into chunks. */
static void shrink(struct busy *busy)
{
	size_t gone = busy->window_count - BUSY_WINDOW / 2;

	add_gaps(busy, gone, &busy->gaps);
	if (!busy->chunk_count)
		busy->chunks_begin = busy->window[0].begin;
	for (size_t i = 0; i < gone;) {
		struct busy_chunk chunk = {0};
		for (size_t j = 0; j < busy->chunk_intervals && i < gone; j++, i++) {
			chunk.busy_ns += busy->window[i].end - busy->window[i].begin;
			chunk.end = busy->window[i].end;
		}
		if (busy->chunk_count == BUSY_CHUNKS)
			halve_chunks(busy);
		busy->chunks[busy->chunk_count++] = chunk;
	}
	busy->window_count -= gone;
	memmove(busy->window, busy->window + gone, busy->window_count * sizeof(*busy->window));
}

/* The first chunk that ends after that time; there is one. */
static size_t find_chunk(const struct busy *busy, uint64_t time)
{
	size_t low = 0, high = busy->chunk_count - 1;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (busy->chunks[middle].end > time)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Counts the part of a late interval that lies before the window. */
static void add_late(struct busy *busy, struct busy_interval late)
{
	gaps_cut(&busy->gaps, late.begin, late.end);
	if (late.begin < busy->chunks_begin) {
		if (late.end < busy->chunks_begin)
			gaps_add(&busy->gaps, late.end, busy->chunks_begin);
		busy->chunks_begin = late.begin;
	}
	for (size_t i = find_chunk(busy, late.begin); late.begin < late.end; i++) {
		struct busy_chunk *chunk = &busy->chunks[i];
		uint64_t begin = i ? busy->chunks[i - 1].end : busy->chunks_begin;
		uint64_t end = late.end < chunk->end ? late.end : chunk->end;
		uint64_t covered = end - late.begin, idle = chunk->end - begin - chunk->busy_ns;
		uint64_t least = covered > chunk->busy_ns ? covered - chunk->busy_ns : 0;
		uint64_t most = covered < idle ? covered : idle;

		if (covered == chunk->end - begin)
			least = idle;
		chunk->busy_ns += least;
		busy->uncertain_ns += most - least;
		late.begin = end;
	}
}

/* Cuts off what lies before the window. */
static void clip_pending(struct busy *busy)
{
	size_t kept = 0;
	uint64_t start = busy->chunk_count ? busy->chunks[busy->chunk_count - 1].end : 0;

	for (size_t i = 0; i < busy->pending_count; i++) {
		struct busy_interval next = busy->pending[i];
		if (next.begin < start) {
			uint64_t end = next.end < start ? next.end : start;
			add_late(busy, (struct busy_interval){next.begin, end});
			next.begin = start;
		}
		if (next.begin < next.end)
			busy->pending[kept++] = next;
	}
	busy->pending_count = kept;
}

void busy_settle(struct busy *busy)
{
	clip_pending(busy);
	sort_pending(busy);
	if (busy->window_count && busy->pending_count &&
	    busy->pending[0].begin < busy->window[busy->window_count - 1].begin) {
		merge(busy);
	} else {
		for (size_t i = 0; i < busy->pending_count; i++)
			busy->window_count =
				append(busy->window, busy->window_count, busy->pending[i]);
	}
	busy->pending_count = 0;
	if (busy->window_count > BUSY_WINDOW)
		shrink(busy);
}

uint64_t busy_total(struct busy *busy)
{
	uint64_t total = 0;

	busy_settle(busy);
	for (size_t i = 0; i < busy->chunk_count; i++)
		total += busy->chunks[i].busy_ns;
	for (size_t i = 0; i < busy->window_count; i++)
		total += busy->window[i].end - busy->window[i].begin;
	return total;
}

void busy_gaps(struct busy *busy, struct gaps *gaps)
{
	busy_settle(busy);
	*gaps = busy->gaps;
	add_gaps(busy, busy->window_count, gaps);
}
