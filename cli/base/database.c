/* SPDX-License-Identifier: MIT */
/* See database.h. */
#include "database.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "database_sql.h"
#include "output_writer.h"

static int out_of_memory(void)
{
	cli_error("out of memory");
	return -1;
}

int database_fail(const struct database *database)
{
	int code = sqlite3_errcode(database->connection);

	if (database->quiet)
		return -1;
	if (code == SQLITE_NOTADB)
		cli_error("%s is no trace: not an SQLite database", database->path);
	else if (code == SQLITE_CORRUPT)
		cli_error("%s is damaged (%s); `sqlite3 %s .recover` may save a part",
			  database->path, sqlite3_errmsg(database->connection), database->path);
	else
		cli_error("%s cannot be read: %s", database->path,
			  sqlite3_errmsg(database->connection));
	return -1;
}

sqlite3_stmt *database_prepare(const struct database *database, const char *sql)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(database->connection, sql, -1, &statement, NULL) != SQLITE_OK) {
		database_fail(database);
		return NULL;
	}
	return statement;
}

/* ---- opening ---- */

int database_has_table(const struct database *database, const char *name)
{
	sqlite3_stmt *statement = database_prepare(
		database, "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') "
			  "AND name = ?");
	int rc, found = -1;

	if (!statement)
		return -1;
	sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
	rc = sqlite3_step(statement);
	if (rc == SQLITE_ROW || rc == SQLITE_DONE)
		found = rc == SQLITE_ROW;
	else
		database_fail(database);
	sqlite3_finalize(statement);
	return found;
}

static bool has_any_table(const struct database *database)
{
	sqlite3_stmt *statement = database_prepare(database, "SELECT 1 FROM sqlite_master");
	int rc = sqlite3_step(statement);

	sqlite3_finalize(statement);
	return rc != SQLITE_DONE;
}

static int look_for_tables(struct database *database)
{
	int op = database_has_table(database, "rocpd_op");
	int string = op > 0 ? database_has_table(database, "rocpd_string") : op;

	if (op < 0 || string < 0)
		return -1;
	if (!op || !string) {
		if (!database->quiet)
			cli_error("%s is no trace: the database has no table %s", database->path,
				  op ? "rocpd_string" : "rocpd_op");
		return -1;
	}
	database->has_ledger = database_has_table(database, "rtl_ledger") > 0 &&
			       database_has_table(database, "rtl_loss") > 0;
	database->has_facts = database_has_table(database, "rtl_meta") > 0;
	return 0;
}

/* What SQLite would not say, or say badly; NULL: nothing. */
static const char *find_fault(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return strerror(errno);
	if (S_ISDIR(st.st_mode))
		return "is no trace but a folder; of a recording `rtl replay` makes one";
	return S_ISREG(st.st_mode) && !st.st_size ? "is no trace: the file is empty" : NULL;
}

/*
 * Opens it read-only if that works. A trace that was cut off (its -wal is there, its -shm not) can
 * only be read by a connection that may write.
 */
static int connect_to(struct database *database)
{
	/* one thread: no locks of its own */
	static const int ways[] = {SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
				   SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		sqlite3_close(database->connection);
		database->connection = NULL;
		int rc = sqlite3_open_v2(database->path, &database->connection, ways[i], NULL);
		if (!database->connection)
			return out_of_memory();
		sqlite3_busy_timeout(database->connection, 5000);
		if (rc == SQLITE_OK)
			rc = sqlite3_exec(database->connection, "SELECT 1 FROM sqlite_master", NULL,
					  NULL, NULL);
		if (rc == SQLITE_OK)
			return 0;
		if ((rc & 0xff) != SQLITE_CANTOPEN && (rc & 0xff) != SQLITE_READONLY)
			break;
	}
	return database_fail(database);
}

/* Without looking at what is in it. */
static struct database *open_any(const char *path, bool quiet)
{
	const char *fault = find_fault(path);
	struct database *database;

	if (fault) {
		if (!quiet)
			cli_error("%s: %s", path, fault);
		return NULL;
	}
	database = calloc(1, sizeof(*database));
	if (!database || !(database->path = strdup(path))) {
		free(database);
		out_of_memory();
		return NULL;
	}
	database->quiet = quiet;
	if (connect_to(database)) {
		database_close(database);
		return NULL;
	}
	return database;
}

struct database *database_open(const char *path, bool quiet)
{
	struct database *database = open_any(path, quiet);

	if (!database)
		return NULL;
	if (look_for_tables(database)) {
		database_close(database);
		return NULL;
	}
	database->quiet = false;
	return database;
}

bool database_replaceable(const char *path)
{
	struct stat st;
	struct database *database;
	bool replaceable;

	if (stat(path, &st))
		return true; /* or it cannot be looked at: who makes it says that better */
	if (!S_ISREG(st.st_mode))
		return false;
	if (!st.st_size)
		return true;
	database = open_any(path, true);
	replaceable = database && (!has_any_table(database) || !look_for_tables(database));
	database_close(database);
	return replaceable;
}

bool database_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

void database_close(struct database *database)
{
	if (!database)
		return;
	sqlite3_close(database->connection);
	free(database->path);
	free(database);
}

char *database_fact(struct database *database, const char *key)
{
	char *value = NULL;
	sqlite3_stmt *statement;

	if (!database->has_facts)
		return NULL;
	statement = database_prepare(database, "SELECT value FROM rtl_meta WHERE key = ?");
	if (!statement)
		return NULL;
	sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
	if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0))
		value = strdup((const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return value;
}

/* A line, if it is not complete; advice: of one that is being written. */
static int say_unfinished(struct database *database, const char *advice)
{
	char *writer = database_fact(database, "writer"), host[256] = "?";
	int status = CLI_OK, pid = 0;

	if (writer && output_writer_lives(writer)) {
		sscanf(writer, "%d %*u %255s", &pid, host);
		cli_error(
			"%s is not complete: as far as can be seen, process %d on %s still writes "
			"it%s",
			database->path, pid, host, advice);
		status = CLI_UNFINISHED;
	} else if (writer) {
		cli_error("%s is not complete: what wrote it was cut off; `rtl recover` lists what "
			  "there is to complete it with",
			  database->path);
	}
	free(writer);
	return status;
}

int database_say_unfinished(struct database *database)
{
	return say_unfinished(database, "");
}

int database_refuse_unfinished(struct database *database, bool taken)
{
	const int status = say_unfinished(
		database,
		taken ? "" : "; wait for its end, or take what is there so far with --unfinished");

	return taken ? CLI_OK : status;
}

/* The number that a query answers with; 0 for NULL, -1 if it fails. */
static int64_t ask_number(struct database *database, const char *sql)
{
	sqlite3_stmt *statement = database_prepare(database, sql);
	int64_t number = -1;

	if (!statement)
		return -1;
	if (sqlite3_step(statement) == SQLITE_ROW)
		number = sqlite3_column_int64(statement, 0);
	else
		database_fail(database);
	sqlite3_finalize(statement);
	return number;
}

int64_t database_operations(struct database *database)
{
	return ask_number(database, "SELECT count(*) FROM rocpd_op");
}

int64_t database_lost(struct database *database)
{
	return ask_number(database, "SELECT sum(discarded + abandoned + missed) FROM rtl_ledger "
				    "WHERE stream <> 'rtl.diagnostics'");
}

int64_t database_events(struct database *database)
{
	if (!database->has_ledger)
		return 0;
	return ask_number(database, "SELECT sum(delivered) FROM rtl_ledger "
				    "WHERE stream <> 'rtl.diagnostics'");
}

#define COLUMNS_MAX 16

int database_query(struct database *database, const char *sql,
		   void (*fn)(void *user, const char *const *row), void *user)
{
	const char *row[COLUMNS_MAX];
	sqlite3_stmt *statement;
	int rc;

	if (sqlite3_prepare_v2(database->connection, sql, -1, &statement, NULL) != SQLITE_OK)
		return sqlite3_errcode(database->connection) == SQLITE_ERROR
			       ? 0
			       : database_fail(database);
	while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(statement) && i < COLUMNS_MAX; i++)
			row[i] = (const char *)sqlite3_column_text(statement, i);
		fn(user, row);
	}
	if (rc != SQLITE_DONE)
		rc = database_fail(database);
	else
		rc = 0;
	sqlite3_finalize(statement);
	return rc;
}
