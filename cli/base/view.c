/* SPDX-License-Identifier: MIT */
#include "view.h"

#include <sqlite3.h>
#include <stdlib.h>

#include "cli.h"

#define WIDTH 100

void view_begin(struct view *view, bool as_json)
{
	*view = (struct view){0};
	view->json.file = as_json ? stdout : cli_need(open_memstream(&view->text, &view->size));
}

static void print_row(sqlite3_stmt *row)
{
	const char *line = cli_text((const char *)sqlite3_column_text(row, 0));
	const int column = sqlite3_column_count(row) > 1 ? sqlite3_column_int(row, 1) : 0;
	int indent = 0;

	if (sqlite3_column_count(row) > 1 && sqlite3_column_type(row, 1) == SQLITE_NULL) {
		puts(line);
		return;
	}
	while (column && indent + (int)strlen(line) > WIDTH) {
		int length = WIDTH - indent;
		const int least = column - indent;

		while (length > least && line[length] != ' ')
			length--;
		if (length <= least)
			length = least + (int)strcspn(line + least, " ");
		if (!line[length])
			break;
		cli_line("%*s%.*s", indent, "", length, line);
		line += length + 1;
		indent = column;
	}
	cli_line("%*s%s", indent, "", line);
}

static int print_text(const struct view *view, const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *row = NULL;
	int status = CLI_OK;

	if (sqlite3_open(":memory:", &db) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK &&
	    sqlite3_bind_text(row, 1, view->text, (int)view->size, SQLITE_STATIC) == SQLITE_OK)
		while (sqlite3_step(row) == SQLITE_ROW)
			print_row(row);
	if (sqlite3_errcode(db) != SQLITE_DONE)
		status = cli_failed("%s", sqlite3_errmsg(db));
	sqlite3_finalize(row);
	sqlite3_close(db);
	return status;
}

int view_end(struct view *view, const char *sql)
{
	int status = CLI_OK, error;

	while (view->json.depth)
		json_end(&view->json);
	if (view->json.file != stdout) {
		cli_need(fclose(view->json.file) ? NULL : view->text);
		status = print_text(view, sql);
	}
	free(view->text);
	error = cli_finish_output();
	return status ? status : error;
}
