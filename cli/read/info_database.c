/* SPDX-License-Identifier: MIT */
/* See info.h: of a trace. What other writers of the rocpd schema do not have is not shown. */
#include "info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "database.h"
#include "database_sql.h"
#include "embed.h"
#include "json.h"

EMBED(info_sql, RTL_CLI "/read/info.sql");
extern const char info_sql[];

/* A value of a row: text is text. */
static void put_value(struct json *json, sqlite3_stmt *row, int column)
{
	const char *key = sqlite3_column_name(row, column);
	const char *value = (const char *)sqlite3_column_text(row, column);

	if (sqlite3_column_type(row, column) == SQLITE_TEXT)
		json_text(json, key, value);
	else
		json_value(json, key, value);
}

static int print_part(struct database *database, const char *sql, struct json *json)
{
	sqlite3_stmt *row;
	int rc;

	if (sqlite3_prepare_v2(database->connection, sql, -1, &row, NULL) != SQLITE_OK)
		return sqlite3_errcode(database->connection) == SQLITE_ERROR
			       ? 0
			       : database_fail(database);
	while ((rc = sqlite3_step(row)) == SQLITE_ROW) {
		if (!json) {
			cli_line("%s", (const char *)sqlite3_column_text(row, 0));
			continue;
		}
		json_object(json, NULL);
		for (int i = 1; i < sqlite3_column_count(row); i++)
			put_value(json, row, i);
		json_end(json);
	}
	rc = rc == SQLITE_DONE ? 0 : database_fail(database);
	sqlite3_finalize(row);
	return rc;
}

/* The parts of info.sql; json NULL: as text. */
static int print_parts(struct database *database, struct json *json)
{
	int error = 0;
	char name[32];

	for (const char *at = info_sql; !error && (at = strstr(at, "-- @")); at++) {
		const char *sql = strchr(at, '\n');

		snprintf(name, sizeof(name), "%.*s", (int)(sql - at - 4), at + 4);
		if (json)
			json_array(json, name);
		error = print_part(database, sql, json);
		if (json)
			json_end(json);
	}
	return error;
}

static const char *const facts[] = {"version",     "mode",    "where", "state",
				    "interrupted", "session", "clock"};

static int print(struct database *database, const char *path, int64_t operations, struct json *json)
{
	int error;

	if (json) {
		json_object(json, NULL);
		json_text(json, "file", path);
		json_number(json, "operations", (uint64_t)operations);
	} else {
		cli_line("%s: %" PRId64 " GPU operations", path, operations);
	}
	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
		char *value = database_fact(database, facts[i]);

		if (json)
			json_text(json, strcmp(facts[i], "clock") ? facts[i] : "time", value);
		else if (value && *value)
			cli_line("%s: %s", facts[i], value);
		free(value);
	}
	error = print_parts(database, json);
	if (json)
		json_end(json);
	return error;
}

int info_database(const char *path, bool json)
{
	struct database *database = database_open(path, false);
	int64_t operations = database ? database_operations(database) : -1;
	int error = -1, status;

	if (operations >= 0)
		error = print(database, path, operations,
			      json ? &(struct json){.file = stdout} : NULL);
	status = cli_finish_output();
	if (error)
		status = CLI_FAILED;
	if (!status)
		status = database_say_unfinished(database);
	database_close(database);
	return status;
}
