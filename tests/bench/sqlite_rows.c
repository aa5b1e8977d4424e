/* SPDX-License-Identifier: MIT */
/* sqlite_rows.c: rows per second of libsqlite_sub.so, fed with dispatches by a fake host, beside a bare loop that
 * inserts the same rows into the same table: prepared once, 32 rows a statement, values bound, the same journal, page
 * size and transactions (a flush of the host for each 8192 rows, where a real one flushes every 50 ms), nothing else.
 *
 *     sqlite_rows PLUGIN [DISPATCHES [ROUNDS [FOLDER [SETTINGS]]]]
 *
 * Rounds alternate between the two; medians count, and on a busy machine the ratio of CPU time. A dispatch is a row of
 * rtl_s_rtl_hsa_task_end. The end of the journal is measured on its own; the memory is the most that the process had.
 */
#include "fake_host.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define KERNELS            50
#define QUEUES             4
#define BATCH_EVENTS       256
#define ROWS_PER_STATEMENT 32
#define MAX_ROUNDS         64
#define ROWS_A_TRANSACTION 8192u
#define TABLE              "rtl_s_rtl_hsa_task_end"
#define COLUMNS            14

static void die(const char *what, const char *why)
{
	fprintf(stderr, "sqlite_rows: %s: %s\n", what, why);
	exit(1);
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The same dispatch for both. */
static struct rtl_hsa_dispatch make_dispatch(uint64_t i)
{
	uint64_t now = 1000000000000u + i * 2000;

	return (struct rtl_hsa_dispatch){
		.begin_ns = now + 900,
		.end_ns = now + 1700 + i % 97,
		.submit_ns = now,
		.packet_id = i / QUEUES,
		.kernel_object = 0x7f1200000000u + (i % KERNELS) * 64,
		.kernel_name = 5000 + i % KERNELS,
		.gpu = 1 + (uint32_t)(i & 1),
		.queue = 1 + (uint32_t)(i % QUEUES),
		.submit_tid = 4711,
		.grid_x = 1 << (10 + i % 8),
		.grid_y = 1,
		.grid_z = 1,
		.workgroup_x = 256,
		.workgroup_y = 1,
		.workgroup_z = 1,
		.group_segment_bytes = 4096,
	};
}

static uint64_t kernel_uid(uint64_t i)
{
	return 0x9000000000000000u + (i % KERNELS) * 0x123456789u;
}

/* The plugin. */

struct batch {
	struct rtl_hsa_dispatch payloads[BATCH_EVENTS];
	struct rtl_event events[BATCH_EVENTS];
	const struct rtl_event *pointers[BATCH_EVENTS];
};

static size_t fill_batch(struct batch *b, const struct rtl_event *model, uint64_t from, uint64_t to)
{
	size_t n = 0;

	for (uint64_t i = from; i < to && n < BATCH_EVENTS; i++, n++) {
		b->payloads[n] = make_dispatch(i);
		b->events[n] = *model;
		b->events[n].payload = &b->payloads[n];
		b->events[n].time_ns = b->payloads[n].end_ns;
		b->events[n].uid = kernel_uid(i);
		b->events[n].parent_uid = 77;
		b->events[n].instance = i + 1;
		b->pointers[n] = &b->events[n];
	}
	return n;
}

struct figures {
	double rows, end; /* seconds */
	double cpu;
};

static struct figures run_plugin(const char *plugin, const char *file, const char *settings,
				 uint64_t dispatches)
{
	const uint64_t flush_every = ROWS_A_TRANSACTION / BATCH_EVENTS;
	static struct batch batch;
	struct fake_host *h = fake_host_create();
	const struct rtl_process *p = fake_host_process(h, 1, 4711, "/usr/bin/app");
	const struct rtl_stream_info *hsa = fake_hsa_stream();
	struct rtl_event model = fake_event(hsa, RTL_TASK_END, p, NULL, sizeof(batch.payloads[0]));
	char text[8192], name[64];
	double begin, cpu, done;

	for (uint64_t i = 0; i < KERNELS; i++) {
		snprintf(name, sizeof(name), "_Z%d_kernel_number_%dPfS_i", 17, (int)i);
		fake_host_tracepoint(h, p, kernel_uid(i), "kernel", name, "demangled", name + 4);
		fake_host_set_string(h, p, 5000 + i, name);
	}
	snprintf(text, sizeof(text), "output=%s%s%s", file, *settings ? "&" : "", settings);
	if (fake_host_load(h, plugin, text) != 0)
		die(plugin, fake_host_report(h, 0, NULL) ? fake_host_report(h, 0, NULL) : "?");
	fake_host_stream(h, hsa);
	fake_host_begin(h, p);
	begin = seconds(CLOCK_MONOTONIC);
	cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
	for (uint64_t i = 0; i < dispatches; i += BATCH_EVENTS) {
		size_t n = fill_batch(&batch, &model, i, dispatches);

		fake_host_deliver(h, batch.pointers, n);
		if (i / BATCH_EVENTS % flush_every == flush_every - 1)
			fake_host_flush(h);
	}
	fake_host_process_end(h, p);
	fake_host_flush(h);
	done = seconds(CLOCK_MONOTONIC);
	cpu = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
	if (fake_host_end(h) != 0)
		die(file, fake_host_report(h, 0, NULL));
	fake_host_destroy(h);
	return (struct figures){done - begin, seconds(CLOCK_MONOTONIC) - done, cpu};
}

/* The bare loop. */

struct bare {
	sqlite3_stmt *insert;
	int filled;
};

static sqlite3 *db;

static void execute(const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		die(sql, sqlite3_errmsg(db));
}

static struct bare prepare(void)
{
	struct bare b = {0};
	sqlite3_str *sql = sqlite3_str_new(db);
	char *text;

	sqlite3_str_appendf(sql, "INSERT INTO " TABLE " VALUES ");
	for (int row = 0; row < ROWS_PER_STATEMENT; row++)
		for (int column = 0; column < COLUMNS; column++)
			sqlite3_str_appendf(sql, "%s?%s",
					    column ? ","
					    : row  ? ",("
						   : "(",
					    column == COLUMNS - 1 ? ")" : "");
	text = sqlite3_str_finish(sql);
	if (sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT, &b.insert, NULL) !=
	    SQLITE_OK)
		die(text, sqlite3_errmsg(db));
	sqlite3_free(text);
	return b;
}

/* A row of numbers. */
static void insert(struct bare *b, const int64_t *values)
{
	int at = b->filled++ * COLUMNS + 1;

	for (int i = 0; i < COLUMNS; i++)
		sqlite3_bind_int64(b->insert, at + i, values[i]);
	if (b->filled < ROWS_PER_STATEMENT)
		return;
	b->filled = 0;
	if (sqlite3_step(b->insert) != SQLITE_DONE)
		die("insert", sqlite3_errmsg(db));
	sqlite3_reset(b->insert);
}

static void insert_dispatch(struct bare *b, uint64_t i)
{
	const struct rtl_hsa_dispatch d = make_dispatch(i);
	const int64_t id = (int64_t)i + 1;

	insert(b, (int64_t[COLUMNS]){id, 1, (int64_t)d.end_ns, id, 0, id % KERNELS, id % QUEUES,
				     (int64_t)(d.begin_ns - d.end_ns), 0,
				     (int64_t)(d.submit_ns - d.end_ns), (int64_t)d.packet_id});
}

/* The table as the plugin makes it: taken from an output of it. */
static void copy_schema(const char *from)
{
	char *sql = sqlite3_mprintf("ATTACH %Q AS model", from);
	sqlite3_stmt *stmt;

	execute(sql);
	sqlite3_free(sql);
	sqlite3_prepare_v2(db, "SELECT sql FROM model.sqlite_master WHERE name = '" TABLE "'", -1,
			   &stmt, NULL);
	while (sqlite3_step(stmt) == SQLITE_ROW)
		execute((const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	execute("DETACH model");
}

static struct figures run_bare(const char *file, const char *model, uint64_t dispatches)
{
	struct bare b;
	double begin, cpu, done;

	if (sqlite3_open_v2(file, &db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		die(file, sqlite3_errmsg(db));
	execute("PRAGMA page_size=16384; PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
		"PRAGMA cache_size=-16384");
	copy_schema(model);
	b = prepare();
	begin = seconds(CLOCK_MONOTONIC);
	cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
	execute("BEGIN");
	for (uint64_t i = 0; i < dispatches; i++) {
		insert_dispatch(&b, i);
		if (i % ROWS_A_TRANSACTION == 0)
			execute("COMMIT; BEGIN");
	}
	execute("COMMIT");
	done = seconds(CLOCK_MONOTONIC);
	cpu = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
	sqlite3_finalize(b.insert);
	sqlite3_close(db);
	return (struct figures){done - begin, seconds(CLOCK_MONOTONIC) - done, cpu};
}

/* Medians. */

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), compare_doubles);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void remove_database(const char *file)
{
	char name[4200];

	unlink(file);
	snprintf(name, sizeof(name), "%s-wal", file);
	unlink(name);
	snprintf(name, sizeof(name), "%s-shm", file);
	unlink(name);
}

int main(int argc, char **argv)
{
	const char *plugin = argc > 1 ? argv[1] : "";
	uint64_t dispatches = argc > 2 ? strtoull(argv[2], NULL, 10) : 400000;
	int rounds = argc > 3 ? atoi(argv[3]) : 7;
	const char *folder = argc > 4 ? argv[4] : ".";
	const char *settings = argc > 5 ? argv[5] : "";
	double total = (double)dispatches;
	double ours[MAX_ROUNDS], bare[MAX_ROUNDS], ratio[MAX_ROUNDS], end[MAX_ROUNDS];
	double cpu[MAX_ROUNDS];
	char file[4096], other[4096];
	struct rusage usage;

	if (!*plugin || rounds < 1 || rounds > MAX_ROUNDS || dispatches < 1)
		die("usage", "sqlite_rows PLUGIN [DISPATCHES [ROUNDS [FOLDER [SETTINGS]]]]");
	snprintf(file, sizeof(file), "%s/sqlite_rows-plugin.db", folder);
	snprintf(other, sizeof(other), "%s/sqlite_rows-bare.db", folder);
	printf("%llu dispatches a round, SQLite %s\n", (unsigned long long)dispatches,
	       sqlite3_libversion());
	for (int i = 0; i < rounds; i++) {
		struct figures a = run_plugin(plugin, file, settings, dispatches), b;

		remove_database(other);
		b = run_bare(other, file, dispatches);
		ours[i] = total / a.rows * 1e-6;
		bare[i] = total / b.rows * 1e-6;
		ratio[i] = b.rows / a.rows;
		cpu[i] = b.cpu / a.cpu;
		end[i] = a.end;
		printf("round %d: plugin %.2f M rows/s (cpu %.0f ns a dispatch), bare %.2f (%.0f), "
		       "ratio %.2f, end %.3f s\n",
		       i + 1, ours[i], a.cpu * 1e9 / (double)dispatches, bare[i],
		       b.cpu * 1e9 / (double)dispatches, ratio[i], a.end);
		fflush(stdout);
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("most memory: %ld MiB\n", usage.ru_maxrss >> 10);
	printf("median: plugin %.2f M rows/s, bare %.2f M rows/s, ratio %.2f (of cpu time %.2f), "
	       "end %.3f s\n",
	       median(ours, rounds), median(bare, rounds), median(ratio, rounds),
	       median(cpu, rounds), median(end, rounds));
	remove_database(file);
	remove_database(other);
	return 0;
}
