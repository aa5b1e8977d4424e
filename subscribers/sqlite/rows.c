/* SPDX-License-Identifier: MIT */
#include "rows.h"

#include "writer.h"

#include <stdlib.h>

/* Beyond some 16 a statement with more rows gains nothing. */
#define ROWS_AT_ONCE 16u

static sqlite3_stmt *prepare(struct rows *rows, uint32_t count)
{
	struct writer *w = rows->writer;
	sqlite3_str *sql = sqlite3_str_new(w->db);
	sqlite3_stmt *stmt = NULL;
	char *text;
	int rc;

	sqlite3_str_appendall(sql, rows->head);
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < rows->columns; k++)
			sqlite3_str_appendall(sql, k ? ",?" : i ? "),(?" : "(?");
	sqlite3_str_appendall(sql, ")");
	text = sqlite3_str_finish(sql);
	rc = text ? sqlite3_prepare_v3(w->db, text, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL)
		  : SQLITE_NOMEM;
	sqlite3_free(text);
	if (rc != SQLITE_OK)
		writer_error(w, rc, "insert");
	return stmt;
}

bool rows_init(struct rows *rows, struct writer *writer, const char *verb, const char *table,
	       uint32_t columns)
{
	const int most = sqlite3_limit(writer->db, SQLITE_LIMIT_VARIABLE_NUMBER, -1);

	*rows = (struct rows){.writer = writer, .columns = columns, .capacity = ROWS_AT_ONCE};
	if ((uint64_t)columns * ROWS_AT_ONCE > (uint64_t)most)
		rows->capacity = columns < (uint32_t)most ? (uint32_t)most / columns : 1;
	writer_register(writer, rows);
	rows->head = sqlite3_mprintf("%s INTO \"%w\" VALUES ", verb, table);
	rows->cells = calloc((size_t)columns * rows->capacity, sizeof(*rows->cells));
	if (!rows->head || !rows->cells)
		return writer_error(writer, SQLITE_NOMEM, table);
	return true;
}

static int bind(sqlite3_stmt *stmt, int at, const struct cell *cell)
{
	switch (cell->kind) {
	case CELL_INT:
		return sqlite3_bind_int64(stmt, at, cell->integer);
	case CELL_REAL:
		return sqlite3_bind_double(stmt, at, cell->real);
	case CELL_TEXT:
		return sqlite3_bind_text(stmt, at, cell->bytes, (int)cell->size, SQLITE_STATIC);
	case CELL_BLOB:
		return sqlite3_bind_blob(stmt, at, cell->bytes, (int)cell->size, SQLITE_STATIC);
	default:
		return sqlite3_bind_null(stmt, at);
	}
}

/* Runs the statement over `count` rows. */
static int run(struct rows *rows, sqlite3_stmt *stmt, uint32_t first, uint32_t count)
{
	const struct cell *cells = rows->cells + (size_t)first * rows->columns;
	int rc = SQLITE_OK;

	for (uint32_t i = 0; i < count * rows->columns && rc == SQLITE_OK; i++)
		rc = bind(stmt, (int)i + 1, &cells[i]);
	if (rc != SQLITE_OK)
		return rc;
	rc = sqlite3_step(stmt);
	sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static bool insert(struct rows *rows)
{
	struct writer *w = rows->writer;
	const bool is_full = rows->count == rows->capacity;
	sqlite3_stmt **stmt = is_full ? &rows->full : &rows->single;
	const uint32_t at_once = is_full ? rows->count : 1;
	int rc = SQLITE_OK;

	if (!writer_begin(w))
		return false;
	if (!*stmt && !(*stmt = prepare(rows, at_once)))
		return false;
	for (uint32_t i = 0; i < rows->count && rc == SQLITE_OK; i += at_once)
		rc = run(rows, *stmt, i, at_once);
	if (rc != SQLITE_OK)
		return writer_error(w, rc, "insert");
	w->pending_rows += rows->count;
	return true;
}

bool rows_insert(struct rows *rows)
{
	const bool done = !rows->count || insert(rows);

	rows->count = 0;
	arena_reset(&rows->arena);
	return done;
}

void rows_fini(struct rows *rows)
{
	sqlite3_finalize(rows->full);
	sqlite3_finalize(rows->single);
	sqlite3_free(rows->head);
	free(rows->cells);
	arena_fini(&rows->arena);
	rows->cells = NULL;
}

static void set_text(struct rows *rows, struct cell *cell, const char *text, size_t length)
{
	if (!text)
		writer_error(rows->writer, SQLITE_NOMEM, "text");
	cell->bytes = text;
	cell->size = (uint32_t)length;
	cell->kind = text ? CELL_TEXT : CELL_NULL;
}

void cell_text_n(struct rows *rows, struct cell *cell, const char *text, size_t length)
{
	size_t size = 0;
	const char *clean = text ? text_clean(&rows->arena, text, length, &size) : NULL;

	if (text)
		set_text(rows, cell, clean, size);
	else
		cell_null(cell);
}

void cell_plain(struct rows *rows, struct cell *cell, const char *text, size_t length)
{
	size_t size = 0;
	const char *plain = text_plain(&rows->arena, text, length, &size);

	set_text(rows, cell, plain, size);
}

void cell_text(struct rows *rows, struct cell *cell, const char *text)
{
	cell_text_n(rows, cell, text, text ? strlen(text) : 0);
}

void cell_blob(struct rows *rows, struct cell *cell, const void *bytes, size_t size)
{
	char *copy = bytes ? arena_alloc(&rows->arena, size + 1) : NULL;

	if (bytes && !copy)
		writer_error(rows->writer, SQLITE_NOMEM, "bytes");
	else if (bytes)
		memcpy(copy, bytes, size);
	cell->bytes = copy;
	cell->size = (uint32_t)size;
	cell->kind = copy ? CELL_BLOB : CELL_NULL;
}
