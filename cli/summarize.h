/* SPDX-License-Identifier: MIT */
/*
 * How `rtl summary` reads a trace: each large table once, in the order of its rows, several side by
 * side where they describe the same things. Nothing is sorted, and memory does not depend on the
 * number of rows. One thread.
 */
#ifndef RTL_CLI_SUMMARIZE_H
#define RTL_CLI_SUMMARIZE_H

#include "database_sql.h"
#include "map.h"
#include "summary.h"

/* A table whose rows describe those of another one: its first column is their id. Read in step with
 * that. */
struct cursor {
	sqlite3_stmt *rows; /* NULL: there is no such table, or no more rows */
	sqlite3_int64 id;
};

struct summarize {
	struct database *database;
	struct summary *summary;
	sqlite3_stmt *string, *ustring;
	struct map processes; /* by number, or pid where these have none: struct summary_process */
	bool has_hip;         /* calls of HIP were recorded: what has none is worth a line */
};

/* Begins with the first row; without the table of that name there are none. 0, or -1 after a line. */
int cursor_open(struct cursor *cursor, const struct summarize *s, const char *table,
		const char *sql);
/* Goes on to the row of that id. False: there is none; -1 in *error after a line. */
bool cursor_find(struct cursor *cursor, const struct summarize *s, sqlite3_int64 id, int *error);
void cursor_close(struct cursor *cursor);

/* A text by its id, "" if there is none: of summarize.string or summarize.ustring. To be freed; NULL:
 * out of memory. */
char *summarize_text(sqlite3_stmt *texts, sqlite3_int64 id);
/* NULL: out of memory, after a line. */
struct summary_process *summarize_process(struct summarize *s, sqlite3_int64 number);
int summarize_out_of_memory(void);
/* Whether a query answers at all: true in *some. 0, or -1 after a line. */
int summarize_ask(const struct summarize *s, const char *sql, bool *some);

/* Calls a function for each row of a query. 0, or -1 after a line. */
int summarize_rows(const struct summarize *s, const char *sql,
		   int (*add)(void *user, sqlite3_stmt *row), void *user);

/* 0, or -1 after a line. */
int summarize_operations(struct summarize *s);
int summarize_copies(struct summarize *s);
int summarize_calls(struct summarize *s);
int summarize_counters(struct summarize *s);

#endif
