/* SPDX-License-Identifier: MIT */
/* What is selected of one trace, for conversions that read it kind by kind: views and small tables of a connection of
 * its own, to which the trace is attached as `i`, read only. convert_rows.sql makes them (c_dispatch, c_copy, ...),
 * convert_objects.sql what they refer to (c_kernel, c_agent, ...).
 *
 * A view of a table that the trace does not have is there and cannot be read. One thread. */
#pragma once

#include "convert.h"
#include "progress.h"

struct convert_rows {
	sqlite3 *db;
	const char *path;
	const struct convert_selection *selection;
	struct progress progress;
	uint64_t done, all;           /* rows, for the bar */
	struct work_selection chosen; /* the same, in the trace's time */
	int64_t most;                 /* number of a row, once it is known */
};

/** Opens a trace. CLI_OK, or CLI_FAILED after a line. To be closed in either case. */
int convert_rows_open(struct convert_rows *rows, const char *path,
		      const struct convert_selection *selection);
/** Whether nothing is selected of the views. */
bool convert_rows_are_none(struct convert_rows *rows);
/** Says so if a selection selects nothing of the views; CLI_OK, or CLI_FAILED. */
int convert_rows_check(struct convert_rows *rows);
/** The tables of what is in the views. CLI_OK, or CLI_FAILED after a line. */
int convert_rows_objects(struct convert_rows *rows);
void convert_rows_close(struct convert_rows *rows);

/** A function for SQL, whose user data are the rows. */
void convert_rows_function(struct convert_rows *rows, const char *name, int arguments,
			   void (*function)(sqlite3_context *, int, sqlite3_value **));
/** Says that the trace cannot be read; CLI_FAILED. */
int convert_rows_refuse(const struct convert_rows *rows);
/** The same, unless a statement is of a table that the trace does not have: CLI_OK. */
int convert_rows_refuse_sql(const struct convert_rows *rows);
/** Says that the last statement failed: where it was to be written, or what was read; CLI_FAILED. */
int convert_rows_failed(const struct convert_rows *rows, const struct part *part);
/** So many more rows are done; to be told by so many. */
void convert_rows_tell(struct convert_rows *rows, uint64_t count);
#define CONVERT_TELL_EVERY 4096u
/** A number; 0 if there is none. */
int64_t convert_rows_number(struct convert_rows *rows, const char *sql);

/** Who takes the rows of statements; `count`: those before, of the statement. An exit status. */
struct convert_taker {
	int (*take)(void *user, sqlite3_stmt *row, uint64_t count);
	void *user;
};

/** Runs statements, each of which ends with a line; one of a table that is not there is none. Parameters have the
 * values of the columns of their names in `of` (or NULL). One with :from and :to is run for a range of numbers after
 * the other. CLI_OK, or CLI_FAILED after a line. */
int convert_rows_script(struct convert_rows *rows, const struct part *part, const char *sql,
			sqlite3_stmt *of, const struct convert_taker *taker);
/** Begins a database `o`; scripts fill it, whose last ends with COMMIT and DETACH. As above. */
int convert_rows_begin(struct convert_rows *rows, const struct part *part, unsigned application);
