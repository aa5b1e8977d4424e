/* SPDX-License-Identifier: MIT */
#include "database.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli.h"
#include "output_writer.h"
#include "part.h"
#include "sqlite_open.h"

int database_fail(const struct database *database)
{
	int code = sqlite3_errcode(database->connection);

	if (database->quiet)
		return -1;
	if (code == SQLITE_NOTADB)
		cli_error("%s is not a trace: not an SQLite database", database->path);
	else if (code == SQLITE_CORRUPT)
		cli_error("%s is damaged (%s); `sqlite3 %s .recover` may save a part",
			  database->path, sqlite3_errmsg(database->connection), database->path);
	else
		cli_error("%s cannot be read: %s", database->path,
			  sqlite3_errmsg(database->connection));
	return -1;
}

/* ---- opening ---- */

int64_t database_number(const struct database *database, const char *sql, const char *text)
{
	char *answer;
	const int rc = sqlite_ask(database->connection, sql, text, NULL, &answer);
	const int64_t number = answer ? strtoll(answer, NULL, 10) : 0;

	free(answer);
	return rc == SQLITE_ROW ? number : database_fail(database);
}

int database_has_table(const struct database *database, const char *name)
{
	return (int)database_number(database,
				    "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type IN "
				    "('table', 'view') AND name = ?)",
				    name);
}

static int look_for_tables(struct database *database)
{
	int op = database_has_table(database, "rocpd_op");
	int string = op > 0 ? database_has_table(database, "rocpd_string") : op;

	if (op < 0 || string < 0)
		return -1;
	if (!op || !string) {
		if (!database->quiet)
			cli_error("%s is not a trace: the database has no table %s", database->path,
				  op ? "rocpd_string" : "rocpd_op");
		return -1;
	}
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
		return "is a folder, not a trace; `rtl replay` makes a trace of a recording";
	return S_ISREG(st.st_mode) && !st.st_size ? "is not a trace: the file is empty" : NULL;
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
	database = cli_need(calloc(1, sizeof(*database)));
	database->path = cli_need(strdup(path));
	database->quiet = quiet;
	if (sqlite_open(path, "PRAGMA busy_timeout=5000; SELECT 1 FROM sqlite_master",
			&database->connection) != SQLITE_OK) {
		database_fail(database);
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

int database_check_replaceable(const char *path)
{
	struct stat st;
	struct database *database;
	bool replaceable;

	if (stat(path, &st)) /* or it cannot be looked at: who makes it says that better */
		return CLI_OK;
	if (S_ISREG(st.st_mode) && !st.st_size)
		return CLI_OK;
	database = S_ISREG(st.st_mode) ? open_any(path, true) : NULL;
	replaceable =
		database &&
		(!database_number(database, "SELECT EXISTS (SELECT 1 FROM sqlite_master)", NULL) ||
		 !look_for_tables(database));
	database_close(database);
	return replaceable ? CLI_OK : part_refuse(path, "trace");
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
	char *value;
	int rc;

	if (!database->has_facts)
		return NULL;
	rc = sqlite_ask(database->connection, "SELECT value FROM rtl_meta WHERE key = ?", key, NULL,
			&value);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		database_fail(database);
	return value;
}

/* A line, if it is not complete; advice: of one that is being written. */
static int say_unfinished(struct database *database, const char *advice)
{
	char *writer = database_fact(database, "writer"), host[256] = "?";
	int status = CLI_OK, pid = 0;

	if (writer && output_writer_lives(writer)) {
		sscanf(writer, "%d %*u %255s", &pid, host);
		cli_error("%s is not complete: apparently process %d on %s is writing it%s",
			  database->path, pid, host, advice);
		status = CLI_UNFINISHED;
	} else if (writer) {
		cli_error("%s is not complete: its writer died; `rtl recover` lists what can "
			  "complete it",
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
		taken ? "" : "; wait for its end, or read what is there with --unfinished");

	return taken ? CLI_OK : status;
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
