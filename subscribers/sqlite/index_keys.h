/* SPDX-License-Identifier: MIT */
/*
 * index_keys.h: keys of an index are put in order, any number of them: in memory as many as fit, and the
 * others in a temporary file of SQLite's, in runs that are merged.
 *
 * One thread.
 */
#ifndef RTL_SQLITE_INDEX_KEYS_H
#define RTL_SQLITE_INDEX_KEYS_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "index_pages.h"

struct index_key {
	int64_t values[INDEX_VALUES]; /* the columns', then the row's id; then 0 */
};

static inline int index_key_compare(const struct index_key *one, const struct index_key *other)
{
	for (uint32_t i = 0; i < INDEX_VALUES; i++)
		if (one->values[i] != other->values[i])
			return one->values[i] < other->values[i] ? -1 : 1;
	return 0;
}

/* Sorts them by their columns; those that are equal stay in their order, which is that of ids. `scratch` has room for as
 * many, and is overwritten. */
void index_keys_sort(struct index_key *keys, struct index_key *scratch, size_t count,
		     uint32_t columns);

/* Sorted runs in a file. All zeros: there are none. */
struct index_runs {
	sqlite3_file *file; /* NULL: not yet */
	uint64_t bytes;
	uint64_t *ends; /* of each, in the file */
	size_t count, room;
};

/* Takes the key that comes next. A result of SQLite's: all but SQLITE_OK end the merge. */
typedef int (*index_key_fn)(void *user, const struct index_key *key);

/* Adds a run of sorted keys. A result of SQLite's. */
int index_runs_add(struct index_runs *runs, const struct index_key *keys, size_t count);
/* Calls `fn` for all keys in order. `buffer` has room for `count` keys, and is overwritten. A result of SQLite's. */
int index_runs_merge(const struct index_runs *runs, struct index_key *buffer, size_t count,
		     index_key_fn fn, void *user);
void index_runs_fini(struct index_runs *runs);

#endif
