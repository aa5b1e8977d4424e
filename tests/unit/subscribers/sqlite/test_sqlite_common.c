/* SPDX-License-Identifier: MIT */
/* test_sqlite_common.c: see test_sqlite.h. */
#include "test_sqlite.h"

#include <dirent.h>
#include <sys/stat.h>

#define BATCH 200

int trace_setup(void **state)
{
	struct trace *t = calloc(1, sizeof(*t));
	const char *base = getenv("TMPDIR");

	assert_non_null(t);
	snprintf(t->folder, sizeof(t->folder), "%.200s/test_sqlite.XXXXXX", base ? base : "/tmp");
	assert_non_null(mkdtemp(t->folder));
	snprintf(t->file, sizeof(t->file), "%s/t.db", t->folder);
	t->host = fake_host_create();
	t->process = fake_host_process(t->host, 1, 4711, "/usr/bin/app");
	t->hsa = fake_hsa_stream();
	*state = t;
	return 0;
}

int trace_teardown(void **state)
{
	struct trace *t = *state;
	DIR *folder = opendir(t->folder);

	fake_host_destroy(t->host);
	for (struct dirent *e; folder && (e = readdir(folder));)
		if (e->d_name[0] != '.')
			unlink(in_folder(t, e->d_name));
	if (folder)
		closedir(folder);
	rmdir(t->folder);
	free(t);
	return 0;
}

void trace_new_host(struct trace *t, const char *where)
{
	fake_host_destroy(t->host);
	t->host = fake_host_create();
	fake_host_set_property(t->host, "where", where);
	t->process = fake_host_process(t->host, 1, 4711, "/usr/bin/app");
	fake_host_tracepoint(t->host, t->process, 100, "kernel", "_Z3addPf", "demangled", "add");
}

int trace_load(struct trace *t, const char *settings)
{
	char text[512];

	snprintf(text, sizeof(text), "output=%s&%s", t->file, settings);
	return fake_host_load(t->host, SQLITE_SUB_FILE, text);
}

void trace_begin(struct trace *t, const char *settings)
{
	assert_int_equal(trace_load(t, settings), 0);
	fake_host_stream(t->host, t->hsa);
	fake_host_begin(t->host, t->process);
	assert_int_equal(fake_host_error(t->host), 0);
}

void trace_end(struct trace *t)
{
	assert_int_equal(fake_host_end(t->host), 0);
}

struct rtl_hsa_dispatch sample_dispatch(uint64_t i)
{
	uint64_t now = 5000000 + i * 1000;

	return (struct rtl_hsa_dispatch){
		.begin_ns = now + 300,
		.end_ns = now + 900,
		.submit_ns = now,
		.packet_id = i,
		.kernel_object = 0x7f0000001000,
		.gpu = 1 + (uint32_t)(i % 2),
		.queue = 1 + (uint32_t)(i % 3),
		.submit_tid = 4711,
		.grid_x = 1024,
		.grid_y = 2,
		.grid_z = 3,
		.workgroup_x = 64,
		.workgroup_y = 4,
		.workgroup_z = 5,
		.group_segment_bytes = 4096,
		.private_segment_bytes = 16,
	};
}

void deliver_dispatch(struct trace *t, const struct rtl_process *process,
		      const struct rtl_hsa_dispatch *dispatch, uint64_t uid)
{
	FAKE_DELIVER(t->host, t->hsa, RTL_TASK_END, process, dispatch, .uid = uid,
		     .time_ns = dispatch->end_ns);
}

void deliver_dispatches(struct trace *t, uint64_t count)
{
	struct rtl_hsa_dispatch payloads[BATCH];
	struct rtl_event events[BATCH];
	const struct rtl_event *pointers[BATCH];

	for (uint64_t i = 0; i < count;) {
		size_t n = 0;

		for (; n < BATCH && i < count; n++, i++) {
			payloads[n] = sample_dispatch(i);
			events[n] = fake_event(t->hsa, RTL_TASK_END, t->process, &payloads[n],
					       sizeof(payloads[n]));
			events[n].uid = 100 + i % 7;
			events[n].instance = i + 1;
			events[n].time_ns = payloads[n].end_ns;
			pointers[n] = &events[n];
		}
		fake_host_deliver(t->host, pointers, n);
	}
}

static const char *value_of(sqlite3_stmt *stmt, int column)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);

	return text ? text : "NULL";
}

const char *ask(const char *file, const char *sql)
{
	static char answers[4][16384];
	static int next;
	char *answer = answers[next++ % 4];
	size_t used = 0;
	sqlite3 *db;
	sqlite3_stmt *stmt = NULL;
	int rc;

	answer[0] = '\0';
	assert_int_equal(sqlite3_open_v2(file, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	for (int rows = 0; (rc = sqlite3_step(stmt)) == SQLITE_ROW; rows++)
		for (int i = 0; i < sqlite3_column_count(stmt); i++)
			used += (size_t)snprintf(answer + used, sizeof(answers[0]) - used, "%s%s",
						 i      ? "|"
						 : rows ? ";"
							: "",
						 value_of(stmt, i));
	if (rc != SQLITE_DONE)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	assert_true(used < sizeof(answers[0]));
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return answer;
}

int64_t ask_int(const char *file, const char *sql)
{
	return strtoll(ask(file, sql), NULL, 10);
}

bool file_exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

const char *in_folder(const struct trace *t, const char *name)
{
	static char paths[4][640];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", t->folder, name);
	return path;
}

void write_file(const char *path, const char *content)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(content, f);
	fclose(f);
}
