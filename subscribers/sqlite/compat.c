/* SPDX-License-Identifier: MIT */
/* compat.c: see compat.h. This version's tables are made in memory, to be compared with. */
#include "compat.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rtl/types.h>

#include "schema.h"

/* The table's columns, one in a line, "" if there is no such table; NULL: out of memory. To be
 * freed. */
static char *columns_of(sqlite3 *db, const char *table)
{
	sqlite3_stmt *stmt = NULL;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (sqlite3_prepare_v2(db, "SELECT name FROM pragma_table_info(?) ORDER BY cid", -1, &stmt,
			       NULL) == SQLITE_OK) {
		sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
		while (sqlite3_step(stmt) == SQLITE_ROW)
			fprintf(out, "%s\n", (const char *)sqlite3_column_text(stmt, 0));
	}
	sqlite3_finalize(stmt);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

static int compare_table(sqlite3 *file, sqlite3 *ours, const char *table)
{
	char *there = columns_of(file, table), *here = columns_of(ours, table);
	const int result = !there || !here ? RTL_ENOMEM : strcmp(there, here) ? RTL_EFORMAT : 0;

	free(there);
	free(here);
	return result;
}

static int compare_tables(sqlite3 *file, sqlite3 *ours, char table[COMPAT_NAME_SIZE])
{
	sqlite3_stmt *stmt = NULL;
	int result = RTL_ENOMEM, rc;

	if (sqlite3_prepare_v2(ours,
			       "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT "
			       "LIKE 'sqlite%' ORDER BY name",
			       -1, &stmt, NULL) != SQLITE_OK)
		return result;
	result = 0;
	while (!result && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		snprintf(table, COMPAT_NAME_SIZE, "%s", (const char *)sqlite3_column_text(stmt, 0));
		result = compare_table(file, ours, table);
	}
	if (!result && rc != SQLITE_DONE)
		result = RTL_ENOMEM;
	sqlite3_finalize(stmt);
	return result;
}

int compat_check(sqlite3 *file, char table[COMPAT_NAME_SIZE])
{
	sqlite3 *ours = NULL;
	int result = RTL_ENOMEM;

	if (sqlite3_open_v2(":memory:", &ours, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) ==
		    SQLITE_OK &&
	    sqlite3_exec(ours, schema_tables, NULL, NULL, NULL) == SQLITE_OK)
		result = compare_tables(file, ours, table);
	sqlite3_close(ours);
	return result;
}
