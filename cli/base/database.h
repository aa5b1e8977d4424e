/* SPDX-License-Identifier: MIT */
/* Traces in SQLite: the rocpd schema as RPD's version 3 has it, and rtl's own tables if they are there. Read only, in
 * one pass, in bounded memory. One thread. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct database {
	sqlite3 *connection;
	char *path;
	bool has_facts;
	bool quiet; /* until it is open */
};

/** Opens a trace; NULL: it is none, and unless `quiet` a line has said so. */
struct database *database_open(const char *path, bool quiet);
void database_close(struct database *database);

/** CLI_OK if a trace may be written to that path: nothing is there, or a trace, or a file in which
 *  nothing is (such as one whose writer was killed at once). Else CLI_FAILED after a line. */
int database_check_replaceable(const char *path);

/** Whether two paths are one file. */
bool database_same_file(const char *a, const char *b);

/** A value of rtl's table of facts; NULL: not there. To be freed. */
char *database_fact(struct database *database, const char *key);

/** Says in a line if it is not complete. CLI_UNFINISHED if somebody still writes it, as far as that
 *  can be seen, else CLI_OK. */
int database_say_unfinished(struct database *database);
/** The same before something is made of it. With `taken` (--unfinished) of what is there so far: CLI_OK. */
int database_refuse_unfinished(struct database *database, bool taken);
/** That option of a command. */
#define DATABASE_UNFINISHED(at)                                                                    \
	CLI_FLAG(0, "unfinished", at, "read a trace that is still being written, as far as it goes")

/** The first number of a query, whose one parameter, if it has one, is text; NULL is 0; -1 after a line. */
int64_t database_number(const struct database *database, const char *sql, const char *text);

/** Calls fn with each row of a query, its columns as text, NULL for SQL's NULL. A query of a table that this database
 * does not have gives no rows. 0, or -1 after a line. */
int database_query(struct database *database, const char *sql,
		   void (*fn)(void *user, const char *const *row), void *user);
/** Says what SQLite has against it: -1. */
int database_fail(const struct database *database);
/** Whether there is a table or view of that name; -1 after a line. */
int database_has_table(const struct database *database, const char *name);
