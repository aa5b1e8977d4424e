/* SPDX-License-Identifier: MIT */
/*
 * The view rtl_node_ops: work within ranges and calls is that of the innermost node around them, once.
 * Of the tables here are those columns that it reads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "schema.h"

static const char tables[] =
	"CREATE TABLE rtl_node (process, id, name, kernel, file, line);"
	"CREATE TABLE rtl_marker (process, instance, parent);"
	"CREATE TABLE rtl_call (api_id INTEGER PRIMARY KEY, process, instance, parent);"
	"CREATE TABLE rtl_dispatch (op_id, process, scope_instance);"
	"CREATE TABLE rtl_copy (op_id, process, scope_instance);"
	"CREATE TABLE rocpd_op (id INTEGER PRIMARY KEY, start, \"end\");"
	"CREATE TABLE rocpd_api_ops (api_id, op_id);"
	"INSERT INTO rtl_node VALUES (1, 10, 'outer', '', '', 0), (1, 11, 'inner', '', '', 0),"
	" (2, 10, 'child', '', '', 0);"
	"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)"
	" INSERT INTO rocpd_op SELECT i, i, i + 1 FROM n;";

static sqlite3 *db;

static void run(const char *sql)
{
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

/* The nodes of all operations, as "PROCESS.NODE:OP ...". */
static void check(const char *expected)
{
	static const char ask[] =
		"SELECT group_concat(process || '.' || node || ':' || op_id, ' ') FROM"
		" (SELECT * FROM rtl_node_ops ORDER BY op_id, process, node)";
	sqlite3_stmt *statement;
	const char *found;

	assert_int_equal(sqlite3_prepare_v2(db, ask, -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	found = (const char *)sqlite3_column_text(statement, 0);
	assert_string_equal(found ? found : "", expected);
	sqlite3_finalize(statement);
}

static int set_up(void **state)
{
	(void)state;
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	run(tables);
	run(schema_xpti_tables);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return sqlite3_close(db);
}

static void test_direct(void **state)
{
	(void)state;
	run("INSERT INTO rtl_dispatch VALUES (1, 1, 10), (2, 1, 0), (3, 2, 10), (4, 2, 11)");
	run("INSERT INTO rtl_copy VALUES (5, 1, 11), (NULL, 1, 10)");
	check("1.10:1 2.10:3 1.11:5");
}

/* A call's work names the node both as the scope of its own and by its call. */
static void test_call(void **state)
{
	(void)state;
	run("INSERT INTO rtl_call VALUES (1, 1, 30, 10), (2, 1, 31, 30), (3, 1, 32, NULL)");
	run("INSERT INTO rtl_dispatch VALUES (1, 1, 30), (2, 1, 31), (3, 1, 10), (4, 1, 32)");
	run("INSERT INTO rocpd_api_ops VALUES (1, 1), (2, 2), (1, 3), (3, 4)");
	check("1.10:1 1.10:2 1.10:3");
}

/* node 10 > range 20 > call 30 > range 21 > call 31, and another program's range 20 */
static void test_range(void **state)
{
	(void)state;
	run("INSERT INTO rtl_marker VALUES (1, 20, 10), (1, 21, 30), (2, 20, 0), (1, 22, 0)");
	run("INSERT INTO rtl_call VALUES (1, 1, 30, 20), (2, 1, 31, 21)");
	run("INSERT INTO rtl_dispatch VALUES (1, 1, 20), (2, 1, 30), (3, 1, 31), (4, 2, 20), (5, "
	    "1, 22)");
	run("INSERT INTO rocpd_api_ops VALUES (1, 2), (2, 3)");
	run("INSERT INTO rtl_copy VALUES (6, 1, 21)");
	check("1.10:1 1.10:2 1.10:3 1.10:6");
}

/* range 20 > node 10 > range 21 > node 11 > range 22 */
static void test_innermost(void **state)
{
	(void)state;
	run("INSERT INTO rtl_marker VALUES (1, 20, 0), (1, 21, 10), (1, 22, 11)");
	run("INSERT INTO rtl_dispatch VALUES (1, 1, 20), (2, 1, 21), (3, 1, 11), (4, 1, 22)");
	check("1.10:2 1.11:3 1.11:4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_direct, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_call, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_range, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_innermost, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
