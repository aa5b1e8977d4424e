/* SPDX-License-Identifier: MIT */
/* test_sqlite_faults.c: full disks, killed writers, readers in the way: the database stays
 * valid, what was committed is there, and the user is told once. */
#include "test_sqlite.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SKIPPED 77

/* Runs a part in a child, where it can be killed and limits hold; its exit status. */
static int in_child(struct trace *t, void (*part)(struct trace *))
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		part(t);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void assert_valid(const char *file)
{
	assert_answer(file, "PRAGMA integrity_check", "ok");
	/* Rows of one dispatch come and go together. */
	assert_answer(file,
		      "SELECT (SELECT count(*) FROM rocpd_op) = (SELECT count(*) FROM rtl_dispatch)"
		      " AND (SELECT count(*) FROM rocpd_op) = (SELECT count(*) FROM rocpd_api_ops)"
		      " AND (SELECT count(*) FROM rocpd_op) = (SELECT count(*) FROM op)",
		      "1");
}

/* As a host does: what it has delivered is flushed now and then. */
static void deliver_and_flush(struct trace *t, uint64_t count)
{
	for (uint64_t done = 0; done < count; done += 1000) {
		deliver_dispatches(t, 1000);
		fake_host_flush(t->host);
	}
}

static void die_between_flushes(struct trace *t)
{
	trace_begin(t, "");
	deliver_and_flush(t, 3000);
	deliver_dispatches(t, 20123);
	raise(SIGKILL);
}

TRACE_TEST(test_sqlite_faults__killed__what_was_flushed_is_there_with_its_position)
{
	char expected[64];

	assert_int_equal(in_child(t, die_between_flushes), 128 + SIGKILL);
	assert_valid(t->file);
	snprintf(expected, sizeof(expected), "3000|0|%zu",
		 3000 * (48 + sizeof(struct rtl_hsa_dispatch)));
	assert_sql(t, "SELECT (SELECT count(*) FROM rocpd_op), ring, position FROM rtl_position",
		   expected);
}

static void finish_badly(struct trace *t)
{
	trace_begin(t, "");
	deliver_and_flush(t, 3000);
	deliver_dispatches(t, 20123);
	fake_host_destroy(t->host); /* without finish */
	t->host = NULL;
}

TRACE_TEST(test_sqlite_faults__destroyed_without_finish__no_rows_beyond_the_flush)
{
	finish_badly(t);
	assert_valid(t->file);
	assert_sql(t, "SELECT count(*) FROM rocpd_op", "3000");
	assert_sql(t, "SELECT value FROM rtl_meta WHERE key = 'state'", "writing");
}

static void exit_with_report(struct trace *t, int expected)
{
	int result = fake_host_error(t->host);

	if (result == 0)
		result = fake_host_end(t->host);
	else
		fake_host_end(t->host);
	printf("result %d, failure: %s\n", result, fake_host_failure(t->host));
	for (size_t i = 0; i < fake_host_reports(t->host); i++)
		printf("report: %s\n", fake_host_report(t->host, i, NULL));
	fflush(stdout);
	if (fake_host_reports(t->host) != 1 || !fake_host_failure(t->host) ||
	    !fake_host_reported(t->host, t->file) ||
	    !fake_host_reported(t->host, "rows are stored and can be read"))
		_exit(1);
	_exit(result == expected ? 0 : 2);
}

static void write_past_a_limit(struct trace *t)
{
	const struct rlimit limit = {3000000, 3000000};

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	trace_begin(t, "");
	deliver_and_flush(t, 100000);
	exit_with_report(t, RTL_EPLUGIN);
}

TRACE_TEST(test_sqlite_faults__file_size_limit__told_once_and_valid)
{
	assert_int_equal(in_child(t, write_past_a_limit), 0);
	assert_valid(t->file);
	assert_true(ask_int(t->file, "SELECT count(*) FROM rocpd_op") > 1000);
}

/* On a disk of 4 MiB, which only root can make. */
static void fill_a_disk(struct trace *t)
{
	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", t->folder, "tmpfs", 0, "size=4m") != 0)
		_exit(SKIPPED);
	trace_begin(t, "");
	deliver_and_flush(t, 200000);
	if (!fake_host_failure(t->host))
		_exit(3);
	assert_valid(t->file);
	if (ask_int(t->file, "SELECT count(*) FROM rocpd_op") < 1000)
		_exit(4);
	if (!fake_host_reported(t->host, "the disk is full"))
		_exit(5);
	exit_with_report(t, RTL_EPLUGIN);
}

TRACE_TEST(test_sqlite_faults__disk_full__told_once_and_valid)
{
	int result = in_child(t, fill_a_disk);

	if (result == SKIPPED)
		skip();
	assert_int_equal(result, 0);
}

static void begin_on_a_full_disk(struct trace *t)
{
	const struct rlimit limit = {1000, 1000};

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	if (trace_load(t, "") != RTL_EIO || fake_host_reports(t->host) != 1)
		_exit(1);
	_exit(file_exists(t->file) ? 2 : 0);
}

TRACE_TEST(test_sqlite_faults__full_from_the_start__create_fails_and_leaves_nothing)
{
	assert_int_equal(in_child(t, begin_on_a_full_disk), 0);
	assert_false(file_exists(in_folder(t, "t.db-wal")));
}

TRACE_TEST(test_sqlite_faults__reader_at_the_end__output_is_complete)
{
	sqlite3 *reader;
	sqlite3_stmt *stmt;

	fake_host_set_property(t->host, "where", "collector");
	trace_begin(t, "");
	deliver_and_flush(t, 2000);
	assert_int_equal(sqlite3_open(t->file, &reader), SQLITE_OK);
	sqlite3_prepare_v2(reader, "SELECT * FROM rocpd_op", -1, &stmt, NULL);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	deliver_dispatches(t, 2000);
	trace_end(t);
	sqlite3_finalize(stmt);
	sqlite3_close(reader);
	assert_sql(t, "SELECT count(*) FROM rocpd_op", "4000");
	assert_false(file_exists(in_folder(t, "t.db-wal")));
	assert_sql(t, "PRAGMA integrity_check", "ok");
	assert_sql(t, "SELECT value FROM rtl_meta WHERE key = 'state'", "complete");
}

TRACE_TEST(test_sqlite_faults__locked_by_another_program__told_once_and_counted)
{
	sqlite3 *other;

	trace_begin(t, "");
	fake_host_flush(t->host);
	assert_int_equal(sqlite3_open(t->file, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	deliver_and_flush(t, 2000);
	assert_non_null(fake_host_failure(t->host));
	assert_true(fake_host_reported(t->host, "another program keeps it locked"));
	assert_int_equal(fake_host_reports(t->host), 1);
	sqlite3_close(other);
	fake_host_end(t->host);
	assert_valid(t->file);
	assert_sql(t, "SELECT value FROM rtl_meta WHERE key = 'state'", "incomplete");
	assert_sql(t,
		   "SELECT l.published > 0, l.delivered, l.published = l.abandoned, x.count = "
		   "l.abandoned FROM rtl_ledger AS l JOIN rtl_loss AS x USING (process, stream) "
		   "WHERE cause = 'sqlite: could not be written'",
		   "1|0|1|1");
}

struct neighbour {
	const char *file;
	pthread_t thread;
	bool stop;
	uint64_t rows;
};

/* Puts rows into a table of its own, on and on. */
static void *write_beside(void *user)
{
	struct neighbour *n = user;
	sqlite3 *db = NULL;

	sqlite3_open(n->file, &db);
	sqlite3_busy_timeout(db, 60000);
	sqlite3_exec(db, "CREATE TABLE neighbour (x)", NULL, NULL, NULL);
	/* relaxed: nothing else is read by it */
	while (!__atomic_load_n(&n->stop, __ATOMIC_RELAXED))
		n->rows += sqlite3_exec(db, "INSERT INTO neighbour VALUES (1)", NULL, NULL, NULL) ==
			   SQLITE_OK;
	sqlite3_close(db);
	return NULL;
}

TRACE_TEST(test_sqlite_faults__another_program_writes__all_rows_are_there)
{
	struct neighbour n = {.file = t->file};
	char rows[32];

	fake_host_set_property(t->host, "where", "collector");
	trace_begin(t, "");
	fake_host_flush(t->host);
	assert_int_equal(pthread_create(&n.thread, NULL, write_beside, &n), 0);
	deliver_and_flush(t, 100000);
	__atomic_store_n(&n.stop, true, __ATOMIC_RELAXED);
	pthread_join(n.thread, NULL);
	assert_null(fake_host_failure(t->host));
	trace_end(t);
	assert_valid(t->file);
	assert_sql(t, "SELECT count(*) FROM rocpd_op", "100000");
	assert_sql(t, "SELECT value FROM rtl_meta WHERE key = 'state'", "complete");
	snprintf(rows, sizeof(rows), "%llu", (unsigned long long)n.rows);
	assert_sql(t, "SELECT count(*) FROM neighbour", rows);
}

/* Puts another file under each number that the process has `path` open under. */
static void take_descriptors(const char *path, const char *other)
{
	struct stat wanted, st;
	int fd, mine = open(other, O_RDWR);

	assert_true(mine >= 0);
	assert_int_equal(stat(path, &wanted), 0);
	for (fd = 3; fd < 1024; fd++)
		if (fd != mine && !fstat(fd, &st) && st.st_dev == wanted.st_dev &&
		    st.st_ino == wanted.st_ino)
			assert_int_equal(dup2(mine, fd), fd);
	close(mine);
}

/* In a process of its own: what SQLite has open then is never closed. */
static void lose_descriptors(struct trace *t)
{
	char log[330];

	trace_begin(t, "");
	deliver_dispatches(t, 1000);
	fake_host_flush(t->host);
	if (fake_host_error(t->host))
		_exit(1);
	snprintf(log, sizeof(log), "%s-wal", t->file);
	take_descriptors(log, in_folder(t, "victim"));
	take_descriptors(t->file, in_folder(t, "victim"));
	deliver_dispatches(t, 1000);
	fake_host_flush(t->host);
	if (!fake_host_reported(t->host, "closed the descriptor") ||
	    fake_host_reports(t->host) != 1)
		_exit(2);
	fake_host_end(t->host);
}

TRACE_TEST(test_sqlite_faults__program_takes_its_descriptors__writes_to_no_other_file)
{
	char content[16] = "";
	FILE *file;

	write_file(in_folder(t, "victim"), "of the program");
	assert_int_equal(in_child(t, lose_descriptors), 0);
	file = fopen(in_folder(t, "victim"), "r");
	assert_non_null(file);
	assert_non_null(fgets(content, sizeof(content), file));
	fclose(file);
	assert_string_equal(content, "of the program");
	assert_int_equal(ask_int(t->file, "SELECT count(*) FROM rocpd_op"), 1000);
}

RUN_TESTS(trace_setup, trace_teardown, NULL, NULL)
