/* SPDX-License-Identifier: MIT */
/*
 * test_sqlite_memory.c: each allocation of the plugin fails once, and from each one on all of
 * them fail; the same with a sample of SQLite's: nothing crashes, what was committed stays valid.
 * And in a recovery: the next one has each event once all the same.
 *
 * The allocator of this program stands before the C library's. The caller's address tells whose allocation it is.
 */
#include "test_sqlite.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <sys/wait.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static const char *whose = ""; /* part of the name of the file whose allocations fail */
static bool armed, for_good;
static long countdown; /* the allocation that fails, from 1 */
static long seen;

static bool from_there(void *caller)
{
	struct dl_find_object found;

	return !_dl_find_object(caller, &found) && strstr(found.dlfo_link_map->l_name, whose);
}

static bool fails(void *caller)
{
	return armed && from_there(caller) &&
	       (++seen == countdown || (for_good && seen > countdown));
}

void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

static const struct rtl_field text_field = {
	.struct_size = sizeof(text_field),
	.kind = RTL_KIND_TEXT,
	.size = 8,
	.name = "text",
};

#define OTHER_TYPE(number, type_name)                                                              \
	{                                                                                          \
		.struct_size = sizeof(struct rtl_type_info), .type = (number), .field_count = 1,   \
		.payload_size = 8, .name = (type_name), .fields = &text_field,                     \
	}

static const struct rtl_type_info other_types[] = {
	OTHER_TYPE(RTL_TYPE_USER(1, 1), "event"),
	OTHER_TYPE(RTL_REGION_BEGIN, "begin"),
	OTHER_TYPE(RTL_REGION_END, "end"),
};

static const struct rtl_stream_info other_stream = {
	.struct_size = sizeof(other_stream),
	.name = "other",
	.types = other_types,
	.type_count = sizeof(other_types) / sizeof(other_types[0]),
};

static void deliver_other(struct trace *t, size_t type, uint64_t instance)
{
	const struct {
		struct rtl_text text;
		char characters[8];
	} payload = {{8, 4}, "text"};

	FAKE_DELIVER(t->host, &other_stream, other_types[type].type, t->process, &payload,
		     .instance = instance, .time_ns = 1000 + instance);
}

static void run_everything(struct trace *t)
{
	fake_host_tracepoint(t->host, t->process, 100, "kernel", "k", "key", "value");
	if (trace_load(t, "") != 0)
		return;
	fake_host_stream(t->host, t->hsa);
	fake_host_stream(t->host, &other_stream);
	fake_host_begin(t->host, t->process);
	deliver_dispatches(t, 300);
	deliver_other(t, 0, 0);
	deliver_other(t, 1, 1);
	deliver_other(t, 1, 2); /* which has no end */
	fake_host_flush(t->host);
	deliver_other(t, 2, 1);
	deliver_dispatches(t, 100);
	fake_host_end(t->host);
}

/* In a child, so that SQLite starts from nothing each time. True: so many were not needed. */
static bool fails_fine(struct trace *t, void (*run)(struct trace *), long n, bool all_from_there)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		countdown = n;
		for_good = all_from_there;
		armed = true;
		run(t);
		armed = false;
		_exit(seen < n ? 42 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFEXITED(status))
		fail_msg("allocation %ld%s: signal %d", n, all_from_there ? " and all after" : "",
			 WTERMSIG(status));
	return WEXITSTATUS(status) == 42;
}

static bool run_failing(struct trace *t, long n, bool all_from_there)
{
	bool over = fails_fine(t, run_everything, n, all_from_there);

	if (file_exists(t->file) && ask_int(t->file, "SELECT count(*) FROM sqlite_master"))
		assert_sql(t, "PRAGMA integrity_check", "ok");
	unlink(t->file);
	unlink(in_folder(t, "t.db-wal"));
	unlink(in_folder(t, "t.db-shm"));
	return over;
}

static void die_after_a_flush(struct trace *t)
{
	trace_begin(t, "");
	deliver_dispatches(t, 300);
	fake_host_flush(t->host);
	deliver_dispatches(t, 50);
	raise(SIGKILL);
}

static void recover_everything(struct trace *t)
{
	fake_host_set_property(t->host, "where", "recover");
	run_everything(t);
}

static void in_child(struct trace *t, void (*run)(struct trace *))
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		run(t);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
}

static bool recover_failing(struct trace *t, long n, bool all_from_there)
{
	bool over;

	in_child(t, die_after_a_flush);
	over = fails_fine(t, recover_everything, n, all_from_there);
	in_child(t, recover_everything);
	assert_sql(t, "PRAGMA integrity_check", "ok");
	assert_sql(t,
		   "SELECT count(*), max(id), (SELECT count(*) FROM rtl_e_other_event), (SELECT "
		   "value FROM rtl_meta WHERE key = 'state') FROM rocpd_op",
		   "400|406|1|complete");
	unlink(t->file);
	return over;
}

/* One of so many is tried, other ones each time; for scripts/soak all of them. */
static long sample(void)
{
	return getenv("RTL_TEST_LONG") ? 1 : 4;
}

static void fail_each(struct trace *t, const char *file, long step, long at_least)
{
	long n = 1;

	whose = file;
	for (; !run_failing(t, n, false); n += step)
		run_failing(t, n, true);
	assert_true(n > at_least);
}

TEST(test_sqlite_memory__an_allocation_of_the_plugin_fails__no_crash_and_valid)
{
	fail_each(*state, "sqlite_sub", 1, 20);
}

TEST(test_sqlite_memory__an_allocation_fails_in_a_recovery__the_next_is_exact)
{
	const long step = sample();
	long n = 1 + getpid() % step;

	whose = "sqlite_sub";
	for (; !recover_failing(*state, n, false); n += step)
		recover_failing(*state, n, true);
	assert_true(n > 20);
}

/* There are thousands, most of them alike. */
TEST(test_sqlite_memory__an_allocation_of_sqlite_fails__no_crash_and_valid)
{
	fail_each(*state, "libsqlite3", 100 * sample() + 51, 1000);
}

RUN_TESTS(trace_setup, trace_teardown, NULL, NULL)
