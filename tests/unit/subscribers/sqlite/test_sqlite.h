/* SPDX-License-Identifier: MIT */
/* test_sqlite.h: what the tests of libsqlite_sub.so share: a folder for each test, a plugin that runs in a fake host,
 * and questions to the database that it leaves. */
#pragma once

#include "fake_host.h"
#include "unit.h"

#include <sqlite3.h>

/* A run of the plugin. */
struct trace {
	char folder[256];
	char file[320]; /* FOLDER/t.db */
	struct fake_host *host;
	struct rtl_process *process; /* number 1, pid 4711 */
	const struct rtl_stream_info *hsa;
};

/* cmocka's setup and teardown: *state is a struct trace with a folder and a host. */
int trace_setup(void **state);
int trace_teardown(void **state);
#define TRACE_TEST(name) TEST_OF(name, struct trace *t)

/* Another host in the place of the one that there was, where = "process", "collector" or "recover",
 * with the process and a kernel, and without the plugin. */
void trace_new_host(struct trace *t, const char *where);
/* Loads the plugin with output=FILE and more settings ("" for none); 0 or an enum rtl_error. */
int trace_load(struct trace *t, const char *settings);
/* Loads it, and tells it of rtl.hsa and of the process. */
void trace_begin(struct trace *t, const char *settings);
void trace_end(struct trace *t);

/* The i-th of a row of dispatches on two GPUs and three queues. */
struct rtl_hsa_dispatch sample_dispatch(uint64_t i);
/* Delivers it, about the kernel with that uid. */
void deliver_dispatch(struct trace *t, const struct rtl_process *process,
		      const struct rtl_hsa_dispatch *dispatch, uint64_t uid);
/* Delivers `count` sample dispatches in batches. */
void deliver_dispatches(struct trace *t, uint64_t count);

/* The answer to a question in SQL: all columns and rows of it, as "a|b;c|d", in a buffer that the
 * next question but three overwrites. NULL values are "NULL"; an error fails the test. */
const char *ask(const char *file, const char *sql);
int64_t ask_int(const char *file, const char *sql);
#define assert_answer(file, sql, expected) assert_string_equal(ask(file, sql), expected)
#define assert_sql(t, sql, expected)       assert_answer((t)->file, sql, expected)

bool file_exists(const char *path);
/* A path in the test's folder, in a buffer that the next call but three overwrites. */
const char *in_folder(const struct trace *t, const char *name);
void write_file(const char *path, const char *content);
