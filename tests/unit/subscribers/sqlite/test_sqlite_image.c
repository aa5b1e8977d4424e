/* SPDX-License-Identifier: MIT */
/* test_sqlite_image.c: rows that SQLite copies from an image are those that it would have made. */
#include "append.h"
#include "image.h"
#include "rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COLUMNS 5

static const char *const tables[] = {"wide", "unkeyed", "by_name"};

#define TABLES (sizeof(tables) / sizeof(tables[0]))

struct fixture {
	sqlite3 *db;
	struct image image;
	struct image_page pages[TABLES];
};

static void execute(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_int_equal(sqlite3_open(":memory:", &f->db), SQLITE_OK);
	execute(f->db,
		"CREATE TABLE wide (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, a, b, c, d);"
		"CREATE TABLE bound (id INTEGER PRIMARY KEY, a, b, c, d);"
		"CREATE TABLE unkeyed (a INTEGER, b INTEGER);"
		"CREATE TABLE by_name (name TEXT PRIMARY KEY, a INTEGER) WITHOUT ROWID");
	image_init(&f->image, f->db, tables, TABLES, f->pages);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	image_detach(&f->image, f->db);
	assert_int_equal(sqlite3_close(f->db), SQLITE_OK);
	image_fini(&f->image);
	free(f);
	return 0;
}

static const char *copy_statement(const struct fixture *f)
{
	static char sql[128];

	snprintf(sql, sizeof(sql), "INSERT INTO wide SELECT * FROM " IMAGE_SCHEMA ".r%u",
		 f->pages[0].number);
	return sql;
}

/* What SQLite makes of a row itself. */
static void bind_row(struct fixture *f, const struct cell *cells)
{
	sqlite3_stmt *stmt;

	sqlite3_prepare_v2(f->db, "INSERT INTO bound VALUES (?, ?, ?, ?, ?)", -1, &stmt, NULL);
	for (int i = 0; i < COLUMNS; i++) {
		const struct cell *cell = &cells[i];

		if (cell->kind == CELL_INT)
			sqlite3_bind_int64(stmt, i + 1, cell->integer);
		else if (cell->kind == CELL_REAL)
			sqlite3_bind_double(stmt, i + 1, cell->real);
		else if (cell->kind == CELL_TEXT)
			sqlite3_bind_text(stmt, i + 1, cell->bytes, (int)cell->size, SQLITE_STATIC);
		else if (cell->kind == CELL_BLOB)
			sqlite3_bind_blob(stmt, i + 1, cell->bytes, (int)cell->size, SQLITE_STATIC);
	}
	assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
	sqlite3_finalize(stmt);
}

static int64_t ask(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt;
	int64_t answer;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	answer = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return answer;
}

static void assert_same(struct fixture *f, int64_t count)
{
	static const char differ[] =
		"SELECT count(*) FROM (SELECT *, typeof(a), typeof(b), typeof(c), typeof(d) FROM "
		"wide"
		" EXCEPT SELECT *, typeof(a), typeof(b), typeof(c), typeof(d) FROM bound)";
	sqlite3_stmt *stmt;

	assert_int_equal(ask(f->db, "SELECT count(*) FROM wide"), count);
	assert_int_equal(ask(f->db, differ), 0);
	assert_int_equal(sqlite3_prepare_v2(f->db, "PRAGMA main.integrity_check", -1, &stmt, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(stmt, 0), "ok");
	sqlite3_finalize(stmt);
}

/* Numbers on both sides of each size that a record knows. */
static size_t edges(int64_t *out)
{
	size_t n = 0;

	for (int bit = 0; bit < 64; bit++)
		for (int64_t by = -1; by <= 1; by++) {
			const int64_t value = (int64_t)((UINT64_C(1) << bit) + (uint64_t)by);

			out[n++] = value;
			out[n++] = (int64_t)(0 - (uint64_t)value);
		}
	return n;
}

static void test_sqlite_image__all_kinds__same_as_bound(void **state)
{
	static const double reals[] = {0, -0.5, 1e300, 3};
	struct fixture *f = *state;
	struct cell cells[400 * COLUMNS];
	int64_t numbers[400];
	static char text[40000];
	const size_t count = edges(numbers);

	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < count; i++) {
		struct cell *row = &cells[i * COLUMNS];

		/* ids need not ascend, and are as large as they like */
		cell_int(&row[0],
			 (int64_t)(i % 2 ? 1000 - i : (UINT64_C(1) << (i % 60)) + 2000 + i));
		cell_int(&row[1], numbers[i]);
		cell_real(&row[2], reals[i % 4]);
		cell_static_text(&row[3], text, i);
		cell_static_text(&row[4], text, i % 64);
		if (i % 3 == 1)
			row[4].kind = CELL_BLOB;
		else if (i % 3 == 2)
			cell_null(&row[4]);
		bind_row(f, row);
	}
	execute(f->db, "BEGIN");
	for (uint32_t done = 0, n; done < count; done += n) {
		n = image_fill(&f->pages[0], &cells[done * COLUMNS], COLUMNS,
			       (uint32_t)count - done);
		assert_true(n > 0);
		execute(f->db, copy_statement(f));
	}
	execute(f->db, "COMMIT");
	assert_same(f, (int64_t)count);
}

static void test_sqlite_image__page_is_full__takes_what_fits(void **state)
{
	struct fixture *f = *state;
	struct cell cells[100 * COLUMNS];
	static char text[40000];
	uint32_t done = 0, n, pages = 0;

	memset(text, 'y', sizeof(text));
	for (uint32_t i = 0; i < 100; i++) {
		struct cell *row = &cells[i * COLUMNS];

		cell_int(&row[0], i + 1);
		cell_int(&row[1], i);
		cell_null(&row[2]);
		cell_null(&row[3]);
		cell_static_text(&row[4], text, i * 200);
		bind_row(f, row);
	}
	for (; done < 100; done += n, pages++) {
		n = image_fill(&f->pages[0], &cells[done * COLUMNS], COLUMNS, 100 - done);
		assert_true(n > 0);
		execute(f->db, copy_statement(f));
	}
	assert_true(pages > 10);
	assert_same(f, 100);
	/* one that no page takes */
	cell_static_text(&cells[4], text, sizeof(text));
	assert_int_equal(image_fill(&f->pages[0], cells, COLUMNS, 1), 0);
}

/* Else it would be right, and slow. */
static void test_sqlite_image__copying__makes_no_record_anew(void **state)
{
	struct fixture *f = *state;
	char sql[160];
	sqlite3_stmt *stmt;
	int copies = 0;

	snprintf(sql, sizeof(sql), "EXPLAIN %s", copy_statement(f));
	assert_int_equal(sqlite3_prepare_v2(f->db, sql, -1, &stmt, NULL), SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(stmt, 1);

		copies += !strcmp(name, "RowData") || !strcmp(name, "RowCell");
	}
	sqlite3_finalize(stmt);
	assert_int_equal(copies, 1);
}

/* As rows.c does it. */
static sqlite3_stmt *prepare_append(const struct fixture *f)
{
	static const char *const named[] = {"wide"};
	sqlite3_stmt *stmt = NULL;
	char sql[128];

	assert_true(append_begin(f->db, named, 1));
	snprintf(sql, sizeof(sql),
		 "INSERT INTO " APPEND_PREFIX "wide SELECT * FROM " IMAGE_SCHEMA ".a%u",
		 f->pages[0].number);
	assert_int_equal(sqlite3_prepare_v2(f->db, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_true(append_end(f->db));
	return stmt;
}

static void make_row(struct cell *row, int64_t id)
{
	cell_int(&row[0], id);
	cell_int(&row[1], -id);
	cell_real(&row[2], 0.5);
	cell_static_text(&row[3], "text", 4);
	cell_null(&row[4]);
}

static void test_sqlite_append__pages_in_turn__same_as_bound(void **state)
{
	struct fixture *f = *state;
	sqlite3_stmt *stmt = prepare_append(f);
	struct cell cells[300 * COLUMNS];

	for (int64_t page = 0; page < 50; page++) {
		for (uint32_t i = 0; i < 300; i++) {
			make_row(&cells[i * COLUMNS], page * 300 + i + 1);
			bind_row(f, &cells[i * COLUMNS]);
		}
		assert_int_equal(image_fill(&f->pages[0], cells, COLUMNS, 300), 300);
		assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
		sqlite3_reset(stmt);
		if (page == 20) /* a change of our own is none that the schema is read anew for */
			execute(f->db, "CREATE TABLE later (a)");
	}
	sqlite3_finalize(stmt);
	execute(f->db, "PRAGMA writable_schema=RESET"); /* two names of a page are no damage */
	assert_same(f, 50 * 300);
	assert_int_equal(ask(f->db, "SELECT count(*) FROM main.sqlite_master WHERE name LIKE"
				    " 'rtl%' OR sql LIKE '%rtl_append%'"),
			 0);
}

/* Else it would be right, and slow. */
static void test_sqlite_append__statement__looks_for_no_id(void **state)
{
	struct fixture *f = *state;
	sqlite3_stmt *append = prepare_append(f), *stmt;
	char sql[160];
	int looks = 0, copies = 0;

	snprintf(sql, sizeof(sql), "EXPLAIN %s", sqlite3_sql(append));
	assert_int_equal(sqlite3_prepare_v2(f->db, sql, -1, &stmt, NULL), SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(stmt, 1);

		looks += !strcmp(name, "NotExists");
		copies += !strcmp(name, "RowData") || !strcmp(name, "RowCell");
	}
	sqlite3_finalize(stmt);
	sqlite3_finalize(append);
	assert_int_equal(looks, 0);
	assert_int_equal(copies, 1);
}

static void test_sqlite_append__table_with_index__has_no_second_name(void **state)
{
	static const char *const named[] = {"wide"};
	struct fixture *f = *state;
	sqlite3_stmt *stmt = NULL;

	execute(f->db, "CREATE INDEX by_a ON wide (a)");
	assert_true(append_begin(f->db, named, 1));
	assert_int_not_equal(
		sqlite3_prepare_v2(f->db, "SELECT 1 FROM " APPEND_PREFIX "wide", -1, &stmt, NULL),
		SQLITE_OK);
	assert_true(append_end(f->db));
}

static void test_sqlite_append__schema_read_anew__fails_and_copies_nothing(void **state)
{
	struct fixture *f = *state;
	sqlite3_stmt *stmt = prepare_append(f);
	struct cell row[COLUMNS];

	make_row(row, 1);
	assert_int_equal(image_fill(&f->pages[0], row, COLUMNS, 1), 1);
	execute(f->db, "PRAGMA writable_schema=RESET");
	assert_int_equal(sqlite3_step(stmt), SQLITE_ERROR);
	sqlite3_finalize(stmt);
	assert_int_equal(ask(f->db, "SELECT count(*) FROM wide"), 0);
	execute(f->db, copy_statement(f));
	bind_row(f, row);
	assert_same(f, 1);
}

static void test_sqlite_image__other_tables__have_no_page(void **state)
{
	struct fixture *f = *state;

	assert_non_null(f->pages[0].bytes);
	assert_null(f->pages[1].bytes);
	assert_null(f->pages[2].bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sqlite_image__all_kinds__same_as_bound, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_sqlite_image__page_is_full__takes_what_fits,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_sqlite_image__copying__makes_no_record_anew,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_sqlite_image__other_tables__have_no_page,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_sqlite_append__pages_in_turn__same_as_bound,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_sqlite_append__table_with_index__has_no_second_name, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(test_sqlite_append__statement__looks_for_no_id,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_sqlite_append__schema_read_anew__fails_and_copies_nothing, set_up,
			tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
