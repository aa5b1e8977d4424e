/* SPDX-License-Identifier: MIT */
/* append.c: see append.h. sqlite.org/pragma.html#pragma_writable_schema */
#include "append.h"

#include <stdio.h>
#include <string.h>

bool append_find_table(sqlite3 *db, const char *name, struct append_table *table)
{
	static const char question[] =
		"SELECT substr(sql, instr(sql, '(')), rootpage, NOT EXISTS (SELECT 1 FROM"
		" main.sqlite_master WHERE tbl_name = ?1 AND type <> 'table') FROM"
		" main.sqlite_master WHERE type = 'table' AND name = ?1 AND sql NOT LIKE"
		" '%WITHOUT ROWID%' AND (SELECT count(*) FROM pragma_table_info(?1, 'main')"
		" WHERE pk) = 1 AND (SELECT type = 'INTEGER' AND pk FROM"
		" pragma_table_info(?1, 'main') WHERE cid = 0)";
	sqlite3_stmt *stmt = NULL;
	bool found = false;

	if (sqlite3_prepare_v2(db, question, -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_text(stmt, 0)) {
		table->root = sqlite3_column_int(stmt, 1);
		table->is_bare = sqlite3_column_int(stmt, 2);
		found = snprintf(table->columns, sizeof(table->columns), "%s",
				 (const char *)sqlite3_column_text(stmt, 0)) <
			(int)sizeof(table->columns);
	}
	sqlite3_finalize(stmt);
	return found;
}

bool append_drop_key(char *columns)
{
	static const char *const words[] = {"PRIMARY KEY", " AUTOINCREMENT"};
	const char *end = strchr(columns, ',');

	for (size_t i = 0; i < 2; i++) {
		char *at = strstr(columns, words[i]);

		if (end && at && at < end)
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

/* True as well where it has no key that it could lack. */
static bool add(sqlite3 *db, const char *name)
{
	struct append_table table;
	char *sql;
	bool added;

	if (!append_find_table(db, name, &table) || !table.is_bare ||
	    !append_drop_key(table.columns))
		return true;
	sql = sqlite3_mprintf("INSERT INTO main.sqlite_master (type, name, tbl_name, rootpage,"
			      " sql) VALUES ('table', '" APPEND_PREFIX "%q', '" APPEND_PREFIX
			      "%q', %d, 'CREATE TABLE \"" APPEND_PREFIX "%w\" %q')",
			      name, name, table.root, name, table.columns);
	added = sql && run(db, sql);
	sqlite3_free(sql);
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
