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

/* Writes how a table of its columns is made without its key, in `out`. `columns`: what stands behind the
 * name in its own CREATE TABLE. False: its first column is not its row's id by being INTEGER PRIMARY KEY. */
bool append_columns(const char *columns, char *out, size_t size);
/* Begins a transaction in which statements with APPEND_PREFIX<table> can be prepared. False: they
 * cannot, and there is no transaction. Outside of one. */
bool append_begin(sqlite3 *db, const char *const *tables, size_t count);
/* Ends it: what was prepared can be used from here on. False: it cannot. */
bool append_end(sqlite3 *db);

#endif
