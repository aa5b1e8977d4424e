/* SPDX-License-Identifier: MIT */
/* test_sqlite_output.c: which file is written, what happens to one that is there, and settings. */
#include "test_sqlite.h"

#include <sys/stat.h>
#include <sys/wait.h>

/* Loads with an output of the test's choice, in its folder. */
static int load_output(struct trace *t, const char *name, const char *settings)
{
	char text[1024];

	snprintf(text, sizeof(text), "output=%s&%s", in_folder(t, name), settings);
	return fake_host_load(t->host, SQLITE_SUB_FILE, text);
}

/* A second host, for a second output in the same test. */
static int run_another(struct trace *t, const char *session, const char *report)
{
	struct fake_host *h = fake_host_create();
	char text[512];
	int result;

	fake_host_set_property(h, "session", session);
	snprintf(text, sizeof(text), "output=%s", t->file);
	result = fake_host_load(h, SQLITE_SUB_FILE, text);
	if (result == 0)
		result = fake_host_end(h);
	if (report && !fake_host_reported(h, report))
		fail_msg("no report of \"%s\"", report);
	fake_host_destroy(h);
	return result;
}

static const char *own_pid_name(const struct trace *t, const char *format)
{
	char name[64];

	snprintf(name, sizeof(name), format, (int)getpid());
	return in_folder(t, name);
}

TRACE_TEST(test_sqlite_output__name__pid_program_and_host_are_filled_in)
{
	fake_host_begin(t->host, t->process);
	assert_int_equal(load_output(t, "%e-%p-%h-100%%.db", ""), 0);
	trace_end(t);
	assert_true(file_exists(in_folder(t, "app-4711-testhost-100%.db")));
}

TRACE_TEST(test_sqlite_output__in_the_process__names_are_its_own)
{
	assert_int_equal(load_output(t, "%e-%p.db", ""), 0);
	trace_end(t);
	assert_true(file_exists(own_pid_name(t, "test_sqlite_output-%d.db")));
}

TRACE_TEST(test_sqlite_output__in_a_collector__waits_for_the_first_process)
{
	fake_host_set_property(t->host, "where", "collector");
	assert_int_equal(load_output(t, "%e-%p.db", ""), 0);
	fake_host_stream(t->host, t->hsa);
	assert_false(file_exists(in_folder(t, "app-4711.db")));
	fake_host_begin(t->host, t->process);
	deliver_dispatches(t, 3);
	trace_end(t);
	assert_answer(in_folder(t, "app-4711.db"), "SELECT count(*) FROM rocpd_op", "3");
	assert_answer(in_folder(t, "app-4711.db"), "SELECT name FROM rtl_stream", "rtl.hsa");
}

TRACE_TEST(test_sqlite_output__no_process_ever__no_file)
{
	fake_host_set_property(t->host, "where", "collector");
	assert_int_equal(load_output(t, "%e-%p.db", ""), 0);
	fake_host_stream(t->host, t->hsa);
	fake_host_flush(t->host);
	trace_end(t);
}

TRACE_TEST(test_sqlite_output__older_trace__is_replaced)
{
	trace_begin(t, "");
	deliver_dispatches(t, 10);
	trace_end(t);
	assert_int_equal(run_another(t, "another", NULL), 0);
	assert_sql(t, "SELECT count(*) FROM rocpd_op", "0");
	assert_sql(t, "SELECT value FROM rtl_meta WHERE key = 'session'", "another");
}

TRACE_TEST(test_sqlite_output__same_session__the_second_takes_another_name)
{
	trace_begin(t, "");
	deliver_dispatches(t, 10);
	trace_end(t);
	assert_int_equal(run_another(t, "test-session", "holds another process of this session"),
			 0);
	assert_int_equal(run_another(t, "test-session", "-2.db"), 0);
	assert_sql(t, "SELECT count(*) FROM rocpd_op", "10");
	assert_answer(own_pid_name(t, "t-%d.db"), "SELECT count(*) FROM rocpd_op", "0");
	assert_true(file_exists(own_pid_name(t, "t-%d-2.db")));
}

TRACE_TEST(test_sqlite_output__being_written__the_second_takes_another_name)
{
	trace_begin(t, "");
	deliver_dispatches(t, 10);
	assert_int_equal(run_another(t, "another", "is being written by another process"), 0);
	deliver_dispatches(t, 10);
	trace_end(t);
	assert_sql(t, "SELECT count(*) FROM rocpd_op", "20");
	assert_true(file_exists(own_pid_name(t, "t-%d.db")));
}

TRACE_TEST(test_sqlite_output__writer_is_dead__is_replaced)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		trace_begin(t, "");
		deliver_dispatches(t, 5000);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(file_exists(in_folder(t, "t.db-wal")));
	assert_int_equal(run_another(t, "another", NULL), 0);
	assert_sql(t, "SELECT value FROM rtl_meta WHERE key = 'session'", "another");
	assert_sql(t, "PRAGMA integrity_check", "ok");
}

static void refused(struct trace *t, const char *report)
{
	assert_int_equal(trace_load(t, ""), RTL_EIO);
	if (!fake_host_reported(t->host, report) || !fake_host_reported(t->host, t->file))
		fail_msg("reported: %s", fake_host_report(t->host, 0, NULL));
	assert_int_equal(fake_host_reports(t->host), 1);
	assert_null(fake_host_failure(t->host));
}

TRACE_TEST(test_sqlite_output__file_that_is_no_database__is_left_alone)
{
	char content[64] = "";
	FILE *f;

	write_file(t->file, "my thesis, the only copy, and it is long enough to look at\n");
	refused(t, "is not a trace that could be replaced");
	f = fopen(t->file, "r");
	assert_non_null(fgets(content, sizeof(content), f));
	fclose(f);
	assert_string_equal(content,
			    "my thesis, the only copy, and it is long enough to look at\n");
}

TRACE_TEST(test_sqlite_output__database_of_somebody_else__is_left_alone)
{
	sqlite3 *db;

	sqlite3_open(t->file, &db);
	sqlite3_exec(db, "CREATE TABLE recipes (name); INSERT INTO recipes VALUES ('soup')", NULL,
		     NULL, NULL);
	sqlite3_close(db);
	refused(t, "is not a trace that could be replaced");
	assert_sql(t, "SELECT * FROM recipes", "soup");
}

TRACE_TEST(test_sqlite_output__folder_in_the_way__is_refused)
{
	assert_int_equal(mkdir(t->file, 0700), 0);
	refused(t, "is not a trace that could be replaced");
	rmdir(t->file);
}

TRACE_TEST(test_sqlite_output__empty_file__is_used)
{
	write_file(t->file, "");
	trace_begin(t, "");
	trace_end(t);
	assert_sql(t, "PRAGMA integrity_check", "ok");
}

TRACE_TEST(test_sqlite_output__no_such_folder__one_clear_line)
{
	assert_int_equal(load_output(t, "missing/t.db", ""), RTL_EIO);
	assert_true(fake_host_reported(t->host, "missing/t.db: cannot be created (No such file or"
						" directory); choose another file with output="));
	assert_int_equal(fake_host_reports(t->host), 1);
}

TRACE_TEST(test_sqlite_output__folder_not_writable__one_clear_line)
{
	if (geteuid() == 0) {
		/* Nothing is barred to root, but this. */
		snprintf(t->file, sizeof(t->file), "/proc/self/t.db");
	} else {
		chmod(t->folder, 0500);
	}
	assert_int_equal(trace_load(t, ""), RTL_EIO);
	chmod(t->folder, 0700);
	assert_true(fake_host_reported(t->host, "cannot be created"));
	assert_int_equal(fake_host_reports(t->host), 1);
}

TRACE_TEST(test_sqlite_output__symbolic_link__its_target_is_written)
{
	write_file(in_folder(t, "target.db"), "");
	assert_int_equal(symlink("target.db", t->file), 0);
	trace_begin(t, "");
	deliver_dispatches(t, 2);
	trace_end(t);
	assert_answer(in_folder(t, "target.db"), "SELECT count(*) FROM rocpd_op", "2");
}

TEST(test_sqlite_output__bad_settings__one_line_that_names_it)
{
	static const char *const bad[] = {
		"args=maybe",
		"gpu=",
	};
	struct trace *t = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fake_host *h = fake_host_create();
		char text[512], key[16] = "";

		sscanf(bad[i], "%15[a-z_]", key);
		snprintf(text, sizeof(text), "output=%s&%s", t->file, bad[i]);
		assert_int_equal(fake_host_load(h, SQLITE_SUB_FILE, text), RTL_EINVAL);
		assert_int_equal(fake_host_reports(h), 1);
		assert_true(fake_host_reported(h, key));
		fake_host_destroy(h);
	}
	assert_false(file_exists(t->file));
	assert_int_equal(load_output(t, "%x.db", ""), RTL_EINVAL);
	assert_true(fake_host_reported(t->host, "%x.db: only %p (pid), %e"));
}

RUN_TESTS(trace_setup, trace_teardown, NULL, NULL)
