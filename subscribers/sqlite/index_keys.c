/* SPDX-License-Identifier: MIT */
/* index_keys.c: see index_keys.h. */
#include "index_keys.h"

#include <stdlib.h>
#include <string.h>

/* Of a run, at least so many keys are read at once. */
#define READ_LEAST 64u
/* SQLite's files take 128 KiB - 1 at once. */
#define PIECE 65536u

/* ---- in memory */

/* The bits in which the values of a column differ. */
static uint64_t differing_bits(const struct index_key *keys, size_t count, uint32_t column)
{
	const uint64_t first = (uint64_t)keys->values[column];
	uint64_t bits = 0;

	for (size_t i = 1; i < count; i++)
		bits |= first ^ (uint64_t)keys[i].values[column];
	return bits;
}

/* Byte number `byte` of a value, so that negative values come first. */
static inline unsigned byte_of(int64_t value, unsigned byte)
{
	return (unsigned)(((uint64_t)value ^ 1ull << 63) >> 8 * byte) & 0xff;
}

static void sort_by_byte(const struct index_key *from, struct index_key *to, size_t count,
			 uint32_t column, unsigned byte)
{
	size_t places[256] = {0}, sum = 0;

	for (size_t i = 0; i < count; i++)
		places[byte_of(from[i].values[column], byte)]++;
	for (unsigned i = 0; i < 256; i++) {
		const size_t n = places[i];

		places[i] = sum;
		sum += n;
	}
	for (size_t i = 0; i < count; i++)
		to[places[byte_of(from[i].values[column], byte)]++] = from[i];
}

void index_keys_sort(struct index_key *keys, struct index_key *scratch, size_t count,
		     uint32_t columns)
{
	struct index_key *from = keys, *to = scratch;

	for (uint32_t column = columns; count && column-- > 0;) {
		const uint64_t bits = differing_bits(keys, count, column);

		for (unsigned byte = 0; byte < 8; byte++) {
			struct index_key *sorted = to;

			if (!(bits >> 8 * byte & 0xff))
				continue;
			sort_by_byte(from, to, count, column, byte);
			to = from;
			from = sorted;
		}
	}
	if (from != keys)
		memcpy(keys, from, count * sizeof(*keys));
}

/* ---- in a file */

static int open_file(struct index_runs *runs)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	const int flags = SQLITE_OPEN_TEMP_JOURNAL | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
			  SQLITE_OPEN_EXCLUSIVE | SQLITE_OPEN_DELETEONCLOSE;
	sqlite3_file *file = vfs ? calloc(1, (size_t)vfs->szOsFile) : NULL;
	int rc = file ? vfs->xOpen(vfs, NULL, file, flags, NULL) : SQLITE_NOMEM;

	if (rc == SQLITE_OK)
		runs->file = file;
	else
		free(file);
	return rc;
}

int index_runs_add(struct index_runs *runs, const struct index_key *keys, size_t count)
{
	const size_t bytes = count * sizeof(*keys);
	int rc = runs->file ? SQLITE_OK : open_file(runs);

	if (rc == SQLITE_OK && runs->count == runs->room) {
		const size_t room = runs->room ? 2 * runs->room : 64;
		uint64_t *ends = realloc(runs->ends, room * sizeof(*ends));

		if (!ends)
			return SQLITE_NOMEM;
		runs->ends = ends;
		runs->room = room;
	}
	for (size_t at = 0, n; rc == SQLITE_OK && at < bytes; at += n) {
		n = bytes - at < PIECE ? bytes - at : PIECE;
		rc = runs->file->pMethods->xWrite(runs->file, (const char *)keys + at, (int)n,
						  (sqlite3_int64)runs->bytes + (sqlite3_int64)at);
	}
	if (rc != SQLITE_OK)
		return rc;
	runs->bytes += bytes;
	runs->ends[runs->count++] = runs->bytes;
	return SQLITE_OK;
}

void index_runs_fini(struct index_runs *runs)
{
	if (runs->file)
		(void)runs->file->pMethods->xClose(runs->file);
	free(runs->file);
	free(runs->ends);
	*runs = (struct index_runs){0};
}

/* One that is read. */
struct run {
	const struct index_key *next, *end; /* of what was read; next == end: there is no more */
	struct index_key *buffer;
	uint64_t at, file_end;
};

struct merge {
	sqlite3_file *file;
	struct run *runs;
	size_t *heap; /* numbers of those that have a key, the least first */
	size_t size, keys_at_once;
};

static int read_on(const struct merge *merge, struct run *run)
{
	const uint64_t left = run->file_end - run->at;
	uint64_t bytes = merge->keys_at_once * sizeof(*run->buffer);
	int rc = SQLITE_OK;

	if (bytes > left)
		bytes = left;
	for (uint64_t at = 0, n; rc == SQLITE_OK && at < bytes; at += n) {
		n = bytes - at < PIECE ? bytes - at : PIECE;
		rc = merge->file->pMethods->xRead(merge->file, (char *)run->buffer + at, (int)n,
						  (sqlite3_int64)run->at + (sqlite3_int64)at);
	}
	run->at += bytes;
	run->next = run->buffer;
	run->end = run->buffer + bytes / sizeof(*run->buffer);
	return rc;
}

static bool is_before(const struct merge *merge, size_t a, size_t b)
{
	return index_key_compare(merge->runs[merge->heap[a]].next,
				 merge->runs[merge->heap[b]].next) < 0;
}

static void sift_down(const struct merge *merge, size_t at)
{
	for (size_t child; (child = 2 * at + 1) < merge->size; at = child) {
		size_t moved;

		if (child + 1 < merge->size && is_before(merge, child + 1, child))
			child++;
		if (!is_before(merge, child, at))
			return;
		moved = merge->heap[at];
		merge->heap[at] = merge->heap[child];
		merge->heap[child] = moved;
	}
}

static int begin_runs(struct merge *merge, const struct index_runs *runs, struct index_key *buffer)
{
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < runs->count; i++) {
		struct run *run = &merge->runs[i];

		*run = (struct run){.buffer = buffer + i * merge->keys_at_once,
				    .at = i ? runs->ends[i - 1] : 0,
				    .file_end = runs->ends[i]};
		rc = read_on(merge, run);
		if (run->next != run->end)
			merge->heap[merge->size++] = i;
	}
	for (size_t i = merge->size / 2; rc == SQLITE_OK && i-- > 0;)
		sift_down(merge, i);
	return rc;
}

static int merge_all(struct merge *merge, index_key_fn fn, void *user)
{
	int rc = SQLITE_OK;

	while (rc == SQLITE_OK && merge->size) {
		struct run *run = &merge->runs[*merge->heap];

		rc = fn(user, run->next++);
		if (rc == SQLITE_OK && run->next == run->end)
			rc = read_on(merge, run);
		if (run->next == run->end)
			*merge->heap = merge->heap[--merge->size];
		sift_down(merge, 0);
	}
	return rc;
}

int index_runs_merge(const struct index_runs *runs, struct index_key *buffer, size_t count,
		     index_key_fn fn, void *user)
{
	struct merge merge = {.file = runs->file};
	struct index_key *more = NULL;
	int rc = SQLITE_NOMEM;

	if (!runs->count)
		return SQLITE_OK;
	merge.keys_at_once = count / runs->count;
	if (merge.keys_at_once < READ_LEAST) {
		merge.keys_at_once = READ_LEAST;
		buffer = more = malloc(runs->count * READ_LEAST * sizeof(*more));
	}
	merge.runs = malloc(runs->count * sizeof(*merge.runs));
	merge.heap = malloc(runs->count * sizeof(*merge.heap));
	if (buffer && merge.runs && merge.heap) {
		rc = begin_runs(&merge, runs, buffer);
		if (rc == SQLITE_OK)
			rc = merge_all(&merge, fn, user);
	}
	free(merge.runs);
	free(merge.heap);
	free(more);
	return rc;
}
