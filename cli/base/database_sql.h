/* SPDX-License-Identifier: MIT */
/* The inside of struct database, for those who read a trace row by row. One thread. */
#ifndef RTL_CLI_DATABASE_SQL_H
#define RTL_CLI_DATABASE_SQL_H

#include <sqlite3.h>
#include <stdbool.h>

#include "database.h"

struct database {
	sqlite3 *connection;
	char *path;
	bool has_ledger, has_facts;
	bool quiet; /* until it is open */
};

/* Says what SQLite has against it: -1. */
int database_fail(const struct database *database);
/* NULL: after a line. */
sqlite3_stmt *database_prepare(const struct database *database, const char *sql);
/* Whether there is a table or view of that name; -1 after a line. */
int database_has_table(const struct database *database, const char *name);

#endif
