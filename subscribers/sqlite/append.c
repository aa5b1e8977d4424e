/* SPDX-License-Identifier: MIT */
/* append.c: see append.h. sqlite.org/pragma.html#pragma_writable_schema */
#include "append.h"

#include <string.h>

bool append_columns(const char *columns, char *out, size_t size)
{
	static const char *const words[] = {"PRIMARY KEY", " AUTOINCREMENT"};
	const char *end = strchr(columns, ',');
	char *at;

	if (!end || strlen(columns) >= size)
		return false;
	memcpy(out, columns, strlen(columns) + 1);
	for (size_t i = 0; i < 2; i++) {
		at = strstr(out, words[i]);
		if (at && at < out + (end - columns))
			memset(at, ' ', strlen(words[i]));
		else if (!i)
			return false;
	}
	return true;
}

static bool run(sqlite3 *db, const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* The text that made a table, from its columns on; for sqlite3_free. NULL: there is none, or the table has
 * indexes or triggers, which a second name would leave out. */
static char *columns_of(sqlite3 *db, const char *table, int *root)
{
	sqlite3_stmt *stmt = NULL;
	char *columns = NULL;

	if (sqlite3_prepare_v2(
		    db,
		    "SELECT substr(sql, instr(sql, '(')), rootpage FROM main.sqlite_master"
		    " WHERE type = 'table' AND name = ?1"
		    " AND NOT EXISTS (SELECT 1 FROM main.sqlite_master WHERE"
		    " tbl_name = ?1 AND type <> 'table')",
		    -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW) {
		columns = sqlite3_mprintf("%s", sqlite3_column_text(stmt, 0));
		*root = sqlite3_column_int(stmt, 1);
	}
	sqlite3_finalize(stmt);
	return columns;
}

/* True as well where it has no key that it could lack. */
static bool add(sqlite3 *db, const char *table)
{
	int root = 0;
	char *columns = columns_of(db, table, &root), keyless[4096], *sql = NULL;
	bool added = true;

	if (columns && append_columns(columns, keyless, sizeof(keyless))) {
		sql = sqlite3_mprintf(
			"INSERT INTO main.sqlite_master (type, name, tbl_name, rootpage,"
			" sql) VALUES ('table', '" APPEND_PREFIX "%q', '" APPEND_PREFIX
			"%q', %d, 'CREATE TABLE \"" APPEND_PREFIX "%w\" %q')",
			table, table, root, table, keyless);
		added = sql && run(db, sql);
	}
	sqlite3_free(sql);
	sqlite3_free(columns);
	return added;
}

/* Also where there is no transaction. The schema is read anew. */
static bool give_up(sqlite3 *db)
{
	if (!sqlite3_get_autocommit(db))
		run(db, "ROLLBACK");
	run(db, "PRAGMA writable_schema=RESET");
	return false;
}

bool append_begin(sqlite3 *db, const char *const *tables, size_t count)
{
	bool good = run(db, "BEGIN; PRAGMA writable_schema=ON");

	for (size_t i = 0; good && i < count; i++)
		good = add(db, tables[i]);
	return (good && run(db, "PRAGMA writable_schema=RESET")) || give_up(db);
}

bool append_end(sqlite3 *db)
{
	return run(db, "PRAGMA writable_schema=ON;"
		       "DELETE FROM main.sqlite_master WHERE type = 'table' AND"
		       " substr(name, 1, 11) = '" APPEND_PREFIX "';"
		       "PRAGMA writable_schema=OFF; COMMIT") ||
	       give_up(db);
}
