/* SPDX-License-Identifier: MIT */
/* test_sqlite_refuse.c: outputs that cannot be continued. Each is refused in one line that names the file, and stays as
 * it is. */
#include "test_sqlite.h"

#include <sys/stat.h>

static void begin(struct trace *t)
{
	trace_new_host(t, "collector");
	trace_begin(t, "");
}

static void refused(struct trace *t, int result, const char *why)
{
	trace_new_host(t, "recover");
	assert_int_equal(trace_load(t, ""), result);
	assert_int_equal(fake_host_reports(t->host), 1);
	if (!fake_host_reported(t->host, why) || !fake_host_reported(t->host, t->file))
		fail_msg("reported: %s", fake_host_report(t->host, 0, NULL));
}

TRACE_TEST(test_sqlite_refuse__no_such_file__one_clear_line)
{
	refused(t, RTL_ENOENT, "is not there; output= must name the one that the dead host");
	assert_false(file_exists(t->file));
}

TRACE_TEST(test_sqlite_refuse__no_database__is_left_alone)
{
	struct stat before, after;

	write_file(t->file, "my thesis, the only copy, and it is long enough to look at\n");
	assert_int_equal(stat(t->file, &before), 0);
	refused(t, RTL_EFORMAT, "is no output of rtl");
	assert_int_equal(stat(t->file, &after), 0);
	assert_int_equal(after.st_size, before.st_size);
}

TRACE_TEST(test_sqlite_refuse__database_of_somebody_else__is_left_alone)
{
	sqlite3 *db;

	sqlite3_open(t->file, &db);
	sqlite3_exec(db, "CREATE TABLE rocpd_metadata (id, tag, value)", NULL, NULL, NULL);
	sqlite3_close(db);
	refused(t, RTL_EFORMAT, "is no output of rtl");
	assert_sql(t, "SELECT count(*) FROM sqlite_master", "1");
}

TRACE_TEST(test_sqlite_refuse__other_version__is_refused)
{
	begin(t);
	trace_end(t);
	ask(t->file, "UPDATE rtl_meta SET value = '99' WHERE key = 'schema'");
	refused(t, RTL_EFORMAT, "the version of rtl's tables is not 2 but 99");
}

TRACE_TEST(test_sqlite_refuse__folder_in_the_way__is_refused)
{
	assert_int_equal(mkdir(t->file, 0700), 0);
	refused(t, RTL_EFORMAT, "is no file");
	rmdir(t->file);
}

TRACE_TEST(test_sqlite_refuse__still_being_written__is_refused)
{
	struct fake_host *writing;

	begin(t);
	writing = t->host;
	t->host = fake_host_create();
	refused(t, RTL_EBUSY, "is still being written by another process");
	fake_host_destroy(writing);
}

RUN_TESTS(trace_setup, trace_teardown, NULL, NULL)
