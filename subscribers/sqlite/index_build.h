/* SPDX-License-Identifier: MIT */
/*
 * index_build.h: indexes of numbers, made without SQLite's sorting.
 *
 * Where rows come in the order in which something happened, the keys of an index are nearly in order as well:
 * what comes too early is put right within a window. Where they are not, as with several threads that have numbers
 * of their own, all keys are put in order first (index_keys.h). Pages are made of them (index_pages.h) and written
 * behind the end of the file, which no reader looks at. One transaction then has SQLite make the file longer by
 * as many pages, without writing to them, and names them as indexes: they are all there or none of them.
 *
 * One thread, in a transaction of its own, while the journal is no write-ahead log.
 */
#ifndef RTL_SQLITE_INDEX_BUILD_H
#define RTL_SQLITE_INDEX_BUILD_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

struct index_spec {
	const char *name, *table;
	const char *columns[2]; /* of integers; the second may be NULL */
};

/* Makes those that are not there, of tables that are. Outside of a transaction. Afterwards no page of the connection's
 * cache is used. False: none was made, and the file is as it was. CREATE INDEX may do what this cannot: keys
 * that are no integers, more pages than a blob may have. */
bool index_build(sqlite3 *db, const struct index_spec *specs, size_t count);

#endif
