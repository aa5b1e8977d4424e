/* SPDX-License-Identifier: MIT */
/* sqlite_open.h: opens a database that is there, to look at it, and asks it. Only through SQLite: to close a descriptor of one's own
 * would drop the locks that SQLite may hold on the same file in this process. */
#pragma once

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/** Read-only where that works: what was cut off by the death of its writer (its -journal is there, or its -wal without
 * the -shm) can only be read by a connection that may undo it.
 * @param sql what to begin with; it must look into the file
 * @param db  to be closed in any case; NULL: no memory
 * @return    a result of SQLite's */
static inline int sqlite_open(const char *path, const char *sql, sqlite3 **db)
{
	static const int ways[] = {SQLITE_OPEN_READONLY, SQLITE_OPEN_READWRITE};
	int rc = SQLITE_READONLY;

	*db = NULL;
	for (int i = 0; i < 2 && ((rc & 0xff) == SQLITE_READONLY || (rc & 0xff) == SQLITE_CANTOPEN);
	     i++) {
		sqlite3_close(*db);
		rc = sqlite3_open_v2(path, db, ways[i] | SQLITE_OPEN_NOMUTEX, NULL);
		if (rc == SQLITE_OK)
			rc = sqlite3_exec(*db, sql, NULL, NULL, NULL);
	}
	return rc;
}

/** Waits for who writes; from here on all is as of now. */
#define SQLITE_OPEN_AS_OF_NOW "PRAGMA busy_timeout=5000; BEGIN; SELECT 1 FROM sqlite_master"

/** Asks for one value.
 * @param first       a text, the question's first parameter, if it has one; NULL is NULL
 * @param second      its second one
 * @param[out] answer to be freed; NULL: there is none, or it is NULL
 * @return            SQLITE_ROW, SQLITE_DONE: there is none, or an error of SQLite's */
static inline int sqlite_ask(sqlite3 *db, const char *sql, const char *first, const char *second,
			     char **answer)
{
	sqlite3_stmt *question = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &question, NULL);

	*answer = NULL;
	if (rc == SQLITE_OK) {
		sqlite3_bind_text(question, 1, first, -1, SQLITE_STATIC);
		sqlite3_bind_text(question, 2, second, -1, SQLITE_STATIC);
		rc = sqlite3_step(question);
	}
	if (rc == SQLITE_ROW && sqlite3_column_text(question, 0))
		*answer = strdup((const char *)sqlite3_column_text(question, 0));
	sqlite3_finalize(question);
	return rc;
}
