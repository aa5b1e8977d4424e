/* SPDX-License-Identifier: MIT */
/* Of a list what some counters need: see definitions.h. */
#include <sqlite3.h>
#include <string.h>

#include "definitions.h"
#include "embed.h"

EMBED(definitions_needed_sql, RTL_DEFINITIONS_FOLDER "/needed.sql");

char *definitions_needed(const char *list, const char *names)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *question = NULL;
	char *needed = NULL;

	if (sqlite3_open(":memory:", &db) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, definitions_needed_sql, -1, &question, NULL) == SQLITE_OK &&
	    sqlite3_bind_text(question, 1, list, -1, SQLITE_STATIC) == SQLITE_OK &&
	    sqlite3_bind_text(question, 2, names, -1, SQLITE_STATIC) == SQLITE_OK &&
	    sqlite3_step(question) == SQLITE_ROW && sqlite3_column_text(question, 0))
		needed = strdup((const char *)sqlite3_column_text(question, 0));
	sqlite3_finalize(question);
	sqlite3_close(db);
	return needed;
}
