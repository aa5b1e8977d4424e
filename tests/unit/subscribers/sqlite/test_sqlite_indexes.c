/* SPDX-License-Identifier: MIT */
/* test_sqlite_indexes.c: indexes whose pages are made here are those that SQLite would have made. */
#include "index_build.h"
#include "index_keys.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const struct index_spec specs[] = {
	{"by_two", "link", {"api_id", "op_id"}},
	{"by_one", "link", {"op_id", NULL}},
	{"by_number", "call", {"number", "process"}},
};

#define SPECS (sizeof(specs) / sizeof(specs[0]))

struct fixture {
	char file[64];
	sqlite3 *db;
};

static void execute(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

/* The first column of the first row; in one place. */
static const char *answer(sqlite3 *db, const char *sql)
{
	static char text[256];
	sqlite3_stmt *stmt;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	snprintf(text, sizeof(text), "%s",
		 sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_text(stmt, 0)
			 ? (const char *)sqlite3_column_text(stmt, 0)
			 : "");
	sqlite3_finalize(stmt);
	return text;
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int fd;

	snprintf(f->file, sizeof(f->file), "/tmp/test_sqlite_indexes-XXXXXX");
	fd = mkstemp(f->file);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(sqlite3_open(f->file, &f->db), SQLITE_OK);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(sqlite3_close(f->db), SQLITE_OK);
	unlink(f->file);
	free(f);
	return 0;
}

/* As many rows; `api` and `number`: expressions of i, which counts from 1. */
static void fill(struct fixture *f, int page_bytes, int rows, const char *api, const char *number)
{
	char sql[1024];

	snprintf(sql, sizeof(sql),
		 "PRAGMA page_size=%d; PRAGMA synchronous=OFF; VACUUM;"
		 "CREATE TABLE link (id INTEGER PRIMARY KEY, api_id INTEGER, op_id INTEGER);"
		 "CREATE TABLE call (id INTEGER PRIMARY KEY, text TEXT, process INTEGER, number);"
		 "CREATE TABLE other (id INTEGER PRIMARY KEY, text TEXT);"
		 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
		 " INSERT INTO link SELECT i, %s, i + 7 FROM n WHERE %d;"
		 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)"
		 " INSERT INTO call SELECT i * 3, 'a text', i %% 3, %s FROM n WHERE %d",
		 page_bytes, rows, api, rows > 0, rows, number, rows > 0);
	execute(f->db, sql);
}

static void assert_whole(struct fixture *f)
{
	char sql[256];

	assert_string_equal(answer(f->db, "PRAGMA integrity_check"), "ok");
	assert_string_equal(
		answer(f->db, "SELECT count(*) FROM sqlite_master WHERE type = 'index'"), "3");
	/* each key is found where SQLite looks for it */
	for (size_t i = 0; i < SPECS; i++) {
		snprintf(sql, sizeof(sql),
			 "SELECT count(*) FROM %s AS a WHERE NOT EXISTS (SELECT 1 FROM %s AS b "
			 "INDEXED"
			 " BY %s WHERE b.%s = a.%s AND b.id = a.id)",
			 specs[i].table, specs[i].table, specs[i].name, specs[i].columns[0],
			 specs[i].columns[0]);
		assert_string_equal(answer(f->db, sql), "0");
	}
}

/* Anew, as somebody else would see it. */
static void reopen(struct fixture *f)
{
	assert_int_equal(sqlite3_close(f->db), SQLITE_OK);
	assert_int_equal(sqlite3_open(f->file, &f->db), SQLITE_OK);
}

static void test_index_build__any_number_of_rows__as_sqlite_has_them(void **state)
{
	static const int rows[] = {0, 1, 2, 30, 31, 40, 45, 46, 47, 48, 60, 1000, 5000};
	static const int sizes[] = {512, 4096, 16384, 65536};

	tear_down(state);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
			set_up(state);
			fill(*state, sizes[j], rows[i], "i + 9", "i");
			assert_true(index_build(((struct fixture *)*state)->db, specs, SPECS));
			assert_whole(*state);
			reopen(*state);
			assert_whole(*state);
			tear_down(state);
		}
	set_up(state);
}

/* Full pages at the end of each level, whatever their number: 512 bytes make many. */
static void test_index_build__each_number_of_rows_in_turn__no_page_is_empty(void **state)
{
	struct fixture *f = *state;

	fill(f, 512, 1500, "i", "i");
	for (int rows = 1500; rows > 1380; rows--) {
		char sql[64];

		assert_true(index_build(f->db, specs, SPECS));
		assert_string_equal(answer(f->db, "PRAGMA integrity_check"), "ok");
		snprintf(sql, sizeof(sql), "DELETE FROM link WHERE id = %d", rows);
		execute(f->db, sql);
		execute(f->db,
			"DROP INDEX by_one; DROP INDEX by_two; DROP INDEX by_number; VACUUM");
	}
}

static void test_index_build__nearly_in_order__is_put_right(void **state)
{
	struct fixture *f = *state;

	fill(f, 4096, 200000, "i + (i * 7919) % 1000", "i - i % 64 + (i * 31) % 64 - 50");
	assert_true(index_build(f->db, specs, SPECS));
	assert_whole(f);
}

static void test_index_build__large_and_negative_numbers__are_kept(void **state)
{
	struct fixture *f = *state;

	fill(f, 4096, 10000, "(i - 5000) * 1844674407370955",
	     "(i - 5000) * (i - 5000) * (i - 5000)");
	assert_true(index_build(f->db, specs, SPECS));
	assert_whole(f);
}

/* What cannot be made leaves the file as it was, and CREATE INDEX can. */
static void assert_refused(struct fixture *f)
{
	struct stat before, after;

	assert_int_equal(stat(f->file, &before), 0);
	assert_false(index_build(f->db, specs, SPECS));
	assert_int_equal(stat(f->file, &after), 0);
	assert_int_equal(before.st_size, after.st_size);
	reopen(f);
	assert_string_equal(answer(f->db, "PRAGMA integrity_check"), "ok");
	assert_string_equal(answer(f->db, "SELECT count(*) FROM sqlite_master"), "3");
	execute(f->db, "CREATE INDEX by_one ON link (op_id)");
}

/* More than a window, and than a run, of which some are equal. */
static void test_index_build__far_out_of_order__sorted(void **state)
{
	struct fixture *f = *state;

	fill(f, 4096, 300000, "200000 - i / 3", "i * 40503 % 65536 - 30000");
	assert_true(index_build(f->db, specs, SPECS));
	assert_whole(f);
	reopen(f);
	assert_whole(f);
}

/* As threads have them that take numbers of their own. */
static void test_index_build__several_sequences__sorted(void **state)
{
	struct fixture *f = *state;

	fill(f, 16384, 400000, "i % 4 * 1000000000000 + i", "i");
	assert_true(index_build(f->db, specs, SPECS));
	assert_whole(f);
}

static int count_ascending(void *user, const struct index_key *key)
{
	int64_t *expected = user;

	assert_int_equal(key->values[0], *expected / 2);
	assert_int_equal(key->values[1], *expected % 2);
	*expected += 1;
	return SQLITE_OK;
}

/* More than can be read of at once in the buffer. */
static void test_index_runs__thousands__merged(void **state)
{
	enum { RUNS = 3000, EACH = 70 };
	struct index_key keys[EACH] = {0};
	struct index_runs runs = {0};
	int64_t seen = 0;

	(void)state;
	for (int run = 0; run < RUNS; run++) {
		for (int i = 0; i < EACH; i++) {
			const int64_t number = (int64_t)i * RUNS + run;

			keys[i] = (struct index_key){{number / 2, number % 2}};
		}
		assert_int_equal(index_runs_add(&runs, keys, EACH), SQLITE_OK);
	}
	assert_int_equal(index_runs_merge(&runs, keys, EACH, count_ascending, &seen), SQLITE_OK);
	assert_int_equal(seen, RUNS * EACH);
	index_runs_fini(&runs);
}

static void test_index_build__out_of_order_late__sorted(void **state)
{
	struct fixture *f = *state;

	fill(f, 4096, 700000, "CASE WHEN i < 600000 THEN i ELSE 700000 - i END", "-i");
	assert_true(index_build(f->db, specs, SPECS));
	assert_whole(f);
}

static void test_index_build__no_integers__refused(void **state)
{
	fill(*state, 4096, 1000, "i", "nullif(i, 500)");
	assert_refused(*state);
}

static void test_index_build__write_ahead_log__refused(void **state)
{
	struct fixture *f = *state;

	fill(f, 4096, 1000, "i", "i");
	execute(f->db, "PRAGMA journal_mode=WAL");
	assert_false(index_build(f->db, specs, SPECS));
	assert_string_equal(answer(f->db, "SELECT count(*) FROM sqlite_master"), "3");
}

static void test_index_build__free_pages__refused(void **state)
{
	struct fixture *f = *state;

	fill(f, 4096, 5000, "i", "i");
	execute(f->db, "DELETE FROM call");
	assert_refused(f);
}

static void test_index_build__reader_stays__refused(void **state)
{
	struct fixture *f = *state;
	sqlite3_stmt *stmt;
	sqlite3 *reader;

	fill(f, 4096, 5000, "i", "i");
	assert_int_equal(sqlite3_open(f->file, &reader), SQLITE_OK);
	sqlite3_prepare_v2(reader, "SELECT * FROM link", -1, &stmt, NULL);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	assert_false(index_build(f->db, specs, SPECS));
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	sqlite3_finalize(stmt);
	sqlite3_close(reader);
	assert_string_equal(answer(f->db, "PRAGMA integrity_check"), "ok");
	assert_true(index_build(f->db, specs, SPECS));
	assert_whole(f);
}

static void test_index_build__some_are_there__the_others_are_made(void **state)
{
	struct fixture *f = *state;

	fill(f, 4096, 5000, "i", "i");
	execute(f->db, "CREATE INDEX by_one ON link (op_id)");
	assert_true(index_build(f->db, specs, SPECS));
	assert_whole(f);
	assert_true(index_build(f->db, specs, SPECS));
	assert_whole(f);
}

/* The connection, and any other, may change what is indexed. */
static void test_index_build__rows_change__indexes_follow(void **state)
{
	struct fixture *f = *state;

	fill(f, 1024, 20000, "i", "i");
	assert_true(index_build(f->db, specs, SPECS));
	execute(f->db,
		"UPDATE link SET op_id = -op_id WHERE id % 3 = 0; DELETE FROM call WHERE id % 2;"
		"INSERT INTO link SELECT id + 20000, api_id, op_id FROM link");
	assert_whole(f);
	reopen(f);
	execute(f->db, "UPDATE link SET api_id = 5 WHERE id < 3000");
	assert_whole(f);
}

/* Killed at any moment, there are all indexes or none. */
/* What does not fit into a row's page is elsewhere; a column there is not read. */
static void test_index_build__long_rows__refused_where_a_column_is_elsewhere(void **state)
{
	struct fixture *f = *state;
	static const struct index_spec before = {"by_api", "link", {"api_id", NULL}};
	static const struct index_spec behind = {"by_more", "link", {"more", NULL}};

	fill(f, 512, 100, "i + 9", "i");
	execute(f->db, "ALTER TABLE link ADD COLUMN text TEXT; ALTER TABLE link ADD COLUMN more");
	/* rows of before have no such columns */
	assert_false(index_build(f->db, &behind, 1));
	execute(f->db, "UPDATE link SET text = printf('%.*c', id * 50, 'x'), more = id");
	assert_false(index_build(f->db, &behind, 1));
	assert_true(index_build(f->db, &before, 1));
	assert_string_equal(answer(f->db, "PRAGMA integrity_check"), "ok");
	assert_string_equal(answer(f->db, "SELECT count(*) FROM link INDEXED BY by_api WHERE api_id"
					  " BETWEEN 10 AND 109 AND length(text) = id * 50"),
			    "100");
}

/* All numbers that a record can have, in each of their lengths. */
static void test_index_build__numbers_of_each_length__are_kept(void **state)
{
	struct fixture *f = *state;

	fill(f, 4096, 126, "CASE WHEN i < 64 THEN -(1 << (63 - i)) ELSE (1 << (i - 64)) - 1 END",
	     "CASE WHEN i < 64 THEN -(1 << (63 - i)) - 1 ELSE 1 << (i - 64) END");
	assert_true(index_build(f->db, specs, SPECS));
	assert_whole(f);
}

static unsigned damage(const char *file, unsigned seed)
{
	int fd = open(file, O_RDWR);
	const off_t size = lseek(fd, 0, SEEK_END);

	/* not the first page: it is SQLite's alone */
	for (int i = 0; i < 20; i++) {
		const unsigned char byte =
			(unsigned char)((seed = seed * 1103515245 + 12345) >> 16);

		seed = seed * 1103515245 + 12345;
		assert_int_equal(pwrite(fd, &byte, 1, 512 + (seed >> 8) % (size - 512)), 1);
	}
	close(fd);
	return seed;
}

/* It may be refused, or not; nothing beyond a page is read, and it ends. */
static void test_index_build__damaged_pages__ends(void **state)
{
	unsigned seed = 1;

	tear_down(state);
	for (int i = 0; i < 300; i++) {
		set_up(state);
		fill(*state, 512, 200, "i + 9", "i");
		reopen(*state);
		seed = damage(((struct fixture *)*state)->file, seed);
		(void)index_build(((struct fixture *)*state)->db, specs, SPECS);
		tear_down(state);
	}
	set_up(state);
}

static void test_index_build__killed__all_or_none(void **state)
{
	struct fixture *f = *state;
	int made = 0;

	fill(f, 1024, 60000, "i", "i");
	assert_int_equal(sqlite3_close(f->db), SQLITE_OK);
	for (int i = 0; i < 20 && !made; i++) {
		pid_t child = fork();

		assert_true(child >= 0);
		if (!child) {
			sqlite3 *db;

			sqlite3_open(f->file, &db);
			index_build(db, specs, SPECS);
			_exit(0);
		}
		usleep((useconds_t)(i * 4000));
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		assert_int_equal(sqlite3_open(f->file, &f->db), SQLITE_OK);
		assert_string_equal(answer(f->db, "PRAGMA integrity_check"), "ok");
		made = atoi(
			answer(f->db, "SELECT count(*) FROM sqlite_master WHERE type = 'index'"));
		assert_true(made == 0 || made == 3);
		assert_int_equal(sqlite3_close(f->db), SQLITE_OK);
	}
	assert_int_equal(sqlite3_open(f->file, &f->db), SQLITE_OK);
	if (!made)
		assert_true(index_build(f->db, specs, SPECS));
	assert_whole(f);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_index_build__any_number_of_rows__as_sqlite_has_them),
		TEST(test_index_build__each_number_of_rows_in_turn__no_page_is_empty),
		TEST(test_index_build__nearly_in_order__is_put_right),
		TEST(test_index_build__large_and_negative_numbers__are_kept),
		TEST(test_index_build__far_out_of_order__sorted),
		TEST(test_index_build__several_sequences__sorted),
		TEST(test_index_build__out_of_order_late__sorted),
		TEST(test_index_runs__thousands__merged),
		TEST(test_index_build__no_integers__refused),
		TEST(test_index_build__write_ahead_log__refused),
		TEST(test_index_build__free_pages__refused),
		TEST(test_index_build__reader_stays__refused),
		TEST(test_index_build__some_are_there__the_others_are_made),
		TEST(test_index_build__rows_change__indexes_follow),
		TEST(test_index_build__long_rows__refused_where_a_column_is_elsewhere),
		TEST(test_index_build__numbers_of_each_length__are_kept),
		TEST(test_index_build__damaged_pages__ends),
		TEST(test_index_build__killed__all_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
