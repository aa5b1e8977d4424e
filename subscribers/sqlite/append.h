/* SPDX-License-Identifier: MIT */
/*
 * append.h: second names of tables, under which rows are put behind all others.
 *
 * SQLite looks for the id of each row that it copies, in case it is there already: that takes longer
 * than the rest. It does not where a table has no key: there it gives ids itself, each one more than
 * the highest. So the connection that writes knows tables by a second name as well, without their
 * key. Both names are of the same pages, and a record is the same under both.
 *
 * Second names are in this connection's memory only: the rows of sqlite_schema that make them are
 * removed again before the transaction that has inserted them ends. Where SQLite reads the schema anew,
 * because somebody else has changed it, they are gone, and statements with them fail with SQLITE_ERROR.
 *
 * A table with indexes or triggers gets none. Before the writer makes some it has to stop using them.
 *
 * One thread.
 */
#ifndef RTL_SQLITE_APPEND_H
#define RTL_SQLITE_APPEND_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#define APPEND_PREFIX "rtl_append_"

/* A table whose first column is its row's id, by being INTEGER PRIMARY KEY. */
struct append_table {
	char columns[3072]; /* how it was made: what stands behind its name */
	int root;           /* its first page */
	bool is_bare; /* it has neither indexes nor triggers, which a second name would leave out */
};

/* False: it is none of these. */
bool append_find_table(sqlite3 *db, const char *name, struct append_table *table);
/* Takes the key from the columns. False: it is not the first column's. */
bool append_drop_key(char *columns);
/* Begins a transaction in which statements with APPEND_PREFIX<table> can be prepared. False: they
 * cannot, and there is no transaction. Outside of one. */
bool append_begin(sqlite3 *db, const char *const *tables, size_t count);
/* Ends it: what was prepared can be used from here on. False: it cannot. */
bool append_end(sqlite3 *db);

#endif
