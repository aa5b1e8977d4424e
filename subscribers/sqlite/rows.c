/* SPDX-License-Identifier: MIT */
/* rows.c: see rows.h. The virtual table follows sqlite.org/vtab.html. */
#include "rows.h"

#include "append.h"
#include "writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows inserted at once (64 to 1024 were measured: no difference), and cells they may take. */
#define ROWS_AT_ONCE  512u
#define CELLS_AT_ONCE 16384u

struct rows_table {
	sqlite3_vtab base;
	const struct rows *rows;
};

struct rows_cursor {
	sqlite3_vtab_cursor base;
	uint32_t at;
};

static const struct rows *rows_of(sqlite3_vtab_cursor *cursor)
{
	return ((struct rows_table *)cursor->pVtab)->rows;
}

static int vtab_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
			sqlite3_vtab **out, char **error)
{
	const struct rows *rows = aux;
	struct rows_table *table = sqlite3_malloc(sizeof(*table));
	sqlite3_str *sql = sqlite3_str_new(db);
	char *text;
	int rc;

	(void)argc, (void)argv, (void)error;
	sqlite3_str_appendall(sql, "CREATE TABLE x(c0");
	for (uint32_t i = 1; i < rows->columns; i++)
		sqlite3_str_appendf(sql, ",c%u", i);
	sqlite3_str_appendall(sql, ")");
	text = sqlite3_str_finish(sql);
	rc = table && text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
	sqlite3_free(text);
	if (rc != SQLITE_OK) {
		sqlite3_free(table);
		return rc;
	}
	*table = (struct rows_table){.rows = rows};
	*out = &table->base;
	return SQLITE_OK;
}

static int vtab_disconnect(sqlite3_vtab *table)
{
	sqlite3_free(table);
	return SQLITE_OK;
}

static int vtab_plan(sqlite3_vtab *table, sqlite3_index_info *info)
{
	(void)table;
	info->estimatedRows = ROWS_AT_ONCE;
	info->estimatedCost = ROWS_AT_ONCE;
	return SQLITE_OK;
}

static int vtab_open(sqlite3_vtab *table, sqlite3_vtab_cursor **out)
{
	struct rows_cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	(void)table;
	if (!cursor)
		return SQLITE_NOMEM;
	*cursor = (struct rows_cursor){.at = 0};
	*out = &cursor->base;
	return SQLITE_OK;
}

static int vtab_close(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int vtab_filter(sqlite3_vtab_cursor *cursor, int plan, const char *plan_text, int argc,
		       sqlite3_value **argv)
{
	(void)plan, (void)plan_text, (void)argc, (void)argv;
	((struct rows_cursor *)cursor)->at = rows_of(cursor)->first;
	return SQLITE_OK;
}

static int vtab_next(sqlite3_vtab_cursor *cursor)
{
	((struct rows_cursor *)cursor)->at++;
	return SQLITE_OK;
}

static int vtab_eof(sqlite3_vtab_cursor *cursor)
{
	return ((struct rows_cursor *)cursor)->at >= rows_of(cursor)->count;
}

static int vtab_column(sqlite3_vtab_cursor *cursor, sqlite3_context *result, int column)
{
	const struct rows *rows = rows_of(cursor);
	size_t row = ((struct rows_cursor *)cursor)->at;
	const struct cell *cell = rows->cells + row * rows->columns + column;

	switch ((enum cell_kind)cell->kind) {
	case CELL_INT:
		sqlite3_result_int64(result, cell->integer);
		break;
	case CELL_REAL:
		sqlite3_result_double(result, cell->real);
		break;
	case CELL_TEXT:
		sqlite3_result_text(result, cell->bytes, (int)cell->size, SQLITE_STATIC);
		break;
	case CELL_BLOB:
		sqlite3_result_blob(result, cell->bytes, (int)cell->size, SQLITE_STATIC);
		break;
	case CELL_NULL:
		sqlite3_result_null(result);
		break;
	}
	return SQLITE_OK;
}

static int vtab_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out)
{
	*out = ((struct rows_cursor *)cursor)->at;
	return SQLITE_OK;
}

/* Without xCreate: usable by its name alone, and never part of a schema. */
static const sqlite3_module rows_module = {
	.xConnect = vtab_connect,
	.xBestIndex = vtab_plan,
	.xDisconnect = vtab_disconnect,
	.xOpen = vtab_open,
	.xClose = vtab_close,
	.xFilter = vtab_filter,
	.xNext = vtab_next,
	.xEof = vtab_eof,
	.xColumn = vtab_column,
	.xRowid = vtab_rowid,
};

/* Takes the text, which is NULL where there was no memory for it. */
static bool prepare(struct rows *rows, char *sql, sqlite3_stmt **stmt)
{
	struct writer *w = rows->writer;
	int rc = SQLITE_NOMEM;

	if (sql)
		rc = sqlite3_prepare_v3(w->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
	sqlite3_free(sql);
	return rc == SQLITE_OK || writer_error(w, rc, rows->table);
}

static bool prepare_insert(struct rows *rows, const char *verb, const char *merge)
{
	struct writer *w = rows->writer;
	char module[32];
	int rc;

	snprintf(module, sizeof(module), "rtl_memory_%u", ++w->modules);
	rc = sqlite3_create_module(w->db, module, &rows_module, rows);
	if (rc != SQLITE_OK)
		return writer_error(w, rc, rows->table);
	/* "WHERE true": else ON would belong to a join */
	return prepare(rows,
		       sqlite3_mprintf("%s INTO main.\"%w\" SELECT * FROM %s WHERE true %s", verb,
				       rows->table, module, merge),
		       &rows->insert);
}

/* Where that cannot be, rows are copied all the same. */
static void prepare_append(struct rows *rows, struct rows_copy *copy)
{
	char *sql = sqlite3_mprintf("INSERT INTO main.\"" APPEND_PREFIX
				    "%w\" SELECT * FROM " IMAGE_SCHEMA ".a%u",
				    rows->table, copy->page.number);

	if (sql)
		(void)sqlite3_prepare_v3(rows->writer->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
					 &copy->append, NULL);
	sqlite3_free(sql);
}

bool rows_use_image(struct rows *rows, const struct image_page *pages, bool may_append)
{
	if (!prepare(rows, sqlite3_mprintf("SELECT max(rowid) FROM main.\"%w\"", rows->table),
		     &rows->last))
		return false;
	for (uint32_t i = 0; i < ROWS_PAGES; i++) {
		rows->copies[i].rows = rows;
		rows->copies[i].page = pages[i];
		if (may_append)
			prepare_append(rows, &rows->copies[i]);
		if (!prepare(rows,
			     sqlite3_mprintf("INSERT INTO main.\"%w\" SELECT * FROM " IMAGE_SCHEMA
					     ".r%u",
					     rows->table, pages[i].number),
			     &rows->copies[i].stmt))
			return false;
	}
	return true;
}

void rows_never_append(struct rows *rows)
{
	for (uint32_t i = 0; i < ROWS_PAGES; i++) {
		sqlite3_finalize(rows->copies[i].append);
		rows->copies[i].append = NULL;
		rows->copies[i].first = 0;
	}
}

static bool init(struct rows *rows, struct writer *writer, const char *verb,
		 const struct table *table, const char *merge)
{
	uint32_t fits = CELLS_AT_ONCE / table->columns;

	*rows = (struct rows){
		.writer = writer,
		.table = strdup(table->name),
		.columns = table->columns,
		.is_plain = strcmp(verb, "INSERT") == 0 && !*merge,
	};
	rows->capacity = fits < 1 ? 1 : fits > ROWS_AT_ONCE ? ROWS_AT_ONCE : fits;
	rows->cells = calloc((size_t)rows->capacity * rows->columns, sizeof(*rows->cells));
	if (!rows->cells || !rows->table) {
		rows_fini(rows);
		return writer_error(writer, SQLITE_NOMEM, table->name);
	}
	if (!prepare_insert(rows, verb, merge)) {
		rows_fini(rows);
		return false;
	}
	writer_register(writer, rows);
	return true;
}

bool rows_init(struct rows *rows, struct writer *writer, const char *verb,
	       const struct table *table)
{
	return init(rows, writer, verb, table, "");
}

bool rows_init_merging(struct rows *rows, struct writer *writer, const struct table *table,
		       const char *merge)
{
	return init(rows, writer, "INSERT", table, merge);
}

static int step(sqlite3_stmt *stmt)
{
	sqlite3_step(stmt);
	return sqlite3_reset(stmt);
}

/* Until the page of this turn may be filled. Who has to wait waits for half of the pages: so both
 * threads run on for longer. */
static void await_page(struct rows *rows)
{
	struct stepper *stepper = &rows->writer->stepper;
	const uint32_t half = (rows->turn + ROWS_PAGES / 2 - 1) % ROWS_PAGES;

	if (!stepper_has_done(stepper, rows->copies[rows->turn].job))
		stepper_wait(stepper, rows->copies[half].job);
}

/* The first id, if each of them is one more than the one before; else 0. */
static int64_t first_id(const struct cell *cells, uint32_t columns, uint32_t count)
{
	const int64_t first = cells->integer;

	if (first <= 0 || first > INT64_MAX - count)
		return 0;
	for (uint32_t i = 0; i < count; i++, cells += columns)
		if (cells->kind != CELL_INT || cells->integer != first + i)
			return 0;
	return first;
}

/* Puts some of them into the image, from `first` on: how many. */
static uint32_t fill_page(struct rows *rows, struct rows_copy *copy)
{
	const struct cell *cells = rows->cells + (size_t)rows->first * rows->columns;
	uint32_t count;

	await_page(rows);
	count = image_fill(&copy->page, cells, rows->columns, rows->count - rows->first);
	copy->first = count && copy->append ? first_id(cells, rows->columns, count) : 0;
	return count;
}

/* Whether SQLite would give the page's rows the ids that they are to have. */
static bool is_next(const struct rows_copy *copy)
{
	sqlite3_stmt *last = copy->rows->last;
	bool is = copy->first && sqlite3_step(last) == SQLITE_ROW &&
		  sqlite3_column_int64(last, 0) == copy->first - 1;

	if (copy->first)
		sqlite3_reset(last);
	return is;
}

/* A job: copies a page. */
static int copy_page(void *user)
{
	struct rows_copy *copy = user;
	int rc;

	if (!is_next(copy))
		return step(copy->stmt);
	rc = step(copy->append);
	if ((rc & 0xff) != SQLITE_ERROR)
		return rc;
	/* the second name is gone, for good, and nothing was copied */
	sqlite3_finalize(copy->append);
	copy->append = NULL;
	return step(copy->stmt);
}

/* Inserts some, from `first` on, or has the stepper do it; a result of SQLite's. */
static int insert_some(struct rows *rows)
{
	struct rows_copy *copy = &rows->copies[rows->turn];
	struct writer *w = rows->writer;
	const uint32_t copied = copy->stmt ? fill_page(rows, copy) : 0;

	if (!copied) {
		const int rc = writer_settle(w) ? step(rows->insert) : SQLITE_OK;

		rows->first = rows->count;
		return rc;
	}
	rows->first += copied;
	if (!w->may_step || !stepper_ready(&w->stepper))
		return writer_settle(w) ? copy_page(copy) : SQLITE_OK;
	copy->job = stepper_add(&w->stepper, (struct stepper_job){copy_page, copy});
	rows->turn = (rows->turn + 1) % ROWS_PAGES;
	return SQLITE_OK;
}

bool rows_insert(struct rows *rows)
{
	struct writer *w = rows->writer;
	int rc = SQLITE_OK;

	if (rows->count && writer_begin(w)) {
		while (rc == SQLITE_OK && rows->first < rows->count)
			rc = insert_some(rows);
		if (rc == SQLITE_OK) {
			rows->inserted += rows->count;
			w->pending_rows += rows->count;
		}
	}
	if (rc != SQLITE_OK)
		writer_error(w, rc, "insert");
	rows->count = rows->first = 0;
	arena_reset(&rows->arena);
	return !w->failed;
}

void rows_fini(struct rows *rows)
{
	sqlite3_finalize(rows->insert);
	sqlite3_finalize(rows->last);
	for (uint32_t i = 0; i < ROWS_PAGES; i++) {
		sqlite3_finalize(rows->copies[i].stmt);
		sqlite3_finalize(rows->copies[i].append);
	}
	free(rows->cells);
	free(rows->table);
	arena_fini(&rows->arena);
	*rows = (struct rows){0};
}

void cell_text_n(struct rows *rows, struct cell *cell, const char *text, size_t length)
{
	size_t clean_length = 0;
	const char *clean = !text     ? NULL
			    : !length ? ""
				      : text_clean(&rows->arena, text, length, &clean_length);

	if (clean)
		cell_static_text(cell, clean, clean_length);
	else
		cell_null(cell);
	if (text && !clean)
		writer_error(rows->writer, SQLITE_NOMEM, "text");
}

void cell_text(struct rows *rows, struct cell *cell, const char *text)
{
	cell_text_n(rows, cell, text, text ? strlen(text) : 0);
}

void cell_value(struct rows *rows, struct cell *cell, const struct rtl_value *value)
{
	switch (value->kind) {
	case RTL_KIND_TEXT:
		cell_text_n(rows, cell, value->text, value->length);
		break;
	case RTL_KIND_FLOAT:
		cell_real(cell, value->real);
		break;
	case RTL_KIND_INT:
		cell_int(cell, value->integer);
		break;
	default:
		cell_int(cell, (int64_t)value->number);
		break;
	}
}

void cell_blob(struct rows *rows, struct cell *cell, const void *bytes, size_t size)
{
	char *copy = bytes ? arena_alloc(&rows->arena, size ? size : 1) : NULL;

	cell_null(cell);
	if (!copy) {
		if (bytes)
			writer_error(rows->writer, SQLITE_NOMEM, "bytes");
		return;
	}
	memcpy(copy, bytes, size);
	cell->bytes = copy;
	cell->size = (uint32_t)size;
	cell->kind = CELL_BLOB;
}
