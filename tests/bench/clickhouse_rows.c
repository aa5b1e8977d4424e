/* SPDX-License-Identifier: MIT */
/*
 * clickhouse_rows.c: rows per second of libclickhouse_sub.so, fed with dispatches by a fake host, into
 * the server at RTL_CLICKHOUSE_PORT (tests/integration/clickhouse/server.py starts one). Beside it, in
 * the same run, the floor: the server copies the same rows from that table to another one like it.
 *
 *     server.py clickhouse_rows PLUGIN [ROWS [ROUNDS]]
 *
 * Rounds alternate between the two; medians count. A flush is each 262144 rows.
 */
#include "fake_host.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KERNELS      50u
#define QUEUES       4u
#define BATCH_EVENTS 256u
#define FLUSH_EVERY  1024u /* batches */
#define MAX_ROUNDS   64

static void die(const char *what, const char *why)
{
	fprintf(stderr, "clickhouse_rows: %s: %s\n", what, why);
	exit(1);
}

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct batch {
	struct rtl_hsa_dispatch payloads[BATCH_EVENTS];
	struct rtl_event events[BATCH_EVENTS];
	const struct rtl_event *pointers[BATCH_EVENTS];
};

static uint64_t kernel_uid(uint64_t i)
{
	return 0x9000000000000000u + (i % KERNELS) * 0x123456789u;
}

static size_t fill_batch(struct batch *b, const struct rtl_event *model, uint64_t from, uint64_t to)
{
	size_t n = 0;

	for (uint64_t i = from; i < to && n < BATCH_EVENTS; i++, n++) {
		const uint64_t now = 1000000000000u + i * 2000;

		b->payloads[n] = (struct rtl_hsa_dispatch){
			.begin_ns = now + 900,
			.end_ns = now + 1700 + i % 97,
			.submit_ns = now,
			.packet_id = i / QUEUES,
			.gpu = 1 + (uint32_t)(i & 1),
			.queue = 1 + (uint32_t)(i % QUEUES),
			.submit_tid = 4711,
			.grid_x = 1u << (10 + i % 8),
			.grid_y = 1,
			.grid_z = 1,
			.workgroup_x = 256,
			.workgroup_y = 1,
			.workgroup_z = 1,
			.group_segment_bytes = 4096,
			.call_ns = now - 700,
		};
		b->events[n] = *model;
		b->events[n].payload = &b->payloads[n];
		b->events[n].time_ns = b->payloads[n].end_ns;
		b->events[n].uid = kernel_uid(i);
		b->events[n].instance = i + 1;
		b->events[n].correlation = i + 1;
		b->events[n].position = i * 184;
		b->pointers[n] = &b->events[n];
	}
	return n;
}

/* Seconds; *cpu: of this process. */
static double run_plugin(const char *plugin, uint64_t rows, double *cpu)
{
	static struct batch batch;
	struct fake_host *h = fake_host_create();
	const struct rtl_process *p = fake_host_process(h, 1, 4711, "/usr/bin/app");
	const struct rtl_stream_info *hsa = fake_hsa_stream();
	struct rtl_event model = fake_event(hsa, RTL_TASK_END, p, NULL, sizeof(batch.payloads[0]));
	char text[128], name[64];
	double begin;

	for (uint64_t i = 0; i < KERNELS; i++) {
		snprintf(name, sizeof(name), "void kernel_number_%d<float>(float*)", (int)i);
		fake_host_tracepoint(h, p, kernel_uid(i), "kernel", name, "demangled", name);
	}
	snprintf(text, sizeof(text), "server=127.0.0.1&port=%s", getenv("RTL_CLICKHOUSE_PORT"));
	if (fake_host_load(h, plugin, text) != 0)
		die(plugin, fake_host_report(h, 0, NULL) ? fake_host_report(h, 0, NULL) : "?");
	fake_host_stream(h, hsa);
	fake_host_begin(h, p);
	begin = seconds(CLOCK_MONOTONIC);
	*cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	for (uint64_t i = 0; i < rows; i += BATCH_EVENTS) {
		const size_t n = fill_batch(&batch, &model, i, rows);

		fake_host_deliver(h, batch.pointers, n);
		if (i / BATCH_EVENTS % FLUSH_EVERY == FLUSH_EVERY - 1)
			fake_host_flush(h);
	}
	if (fake_host_end(h) != 0)
		die(plugin, fake_host_report(h, 0, NULL));
	begin = seconds(CLOCK_MONOTONIC) - begin;
	*cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - *cpu;
	fake_host_destroy(h);
	return begin;
}

static size_t ignore(char *data, size_t size, size_t count, void *answer)
{
	snprintf(answer, 256, "%.*s", (int)(size * count < 250 ? size * count : 250), data);
	return size * count;
}

/* Has the server do something; seconds. */
static double server(const char *statement, char answer[256])
{
	CURL *curl = curl_easy_init();
	const double begin = seconds(CLOCK_MONOTONIC);
	char url[128];
	long status = 0;

	*answer = '\0';
	snprintf(url, sizeof(url), "http://127.0.0.1:%s/?allow_experimental_low_cardinality_type=1",
		 getenv("RTL_CLICKHOUSE_PORT"));
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, statement);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
	if (curl_easy_perform(curl) == CURLE_OK)
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_cleanup(curl);
	if (status != 200)
		die(statement, answer);
	return seconds(CLOCK_MONOTONIC) - begin;
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), compare_doubles);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

int main(int argc, char **argv)
{
	const uint64_t rows = argc > 2 ? strtoull(argv[2], NULL, 10) : 2000000;
	const int rounds = argc > 3 ? atoi(argv[3]) : 5;
	double ours[MAX_ROUNDS], floors[MAX_ROUNDS], ratio[MAX_ROUNDS], cpu;
	char answer[256];

	if (argc < 2 || !getenv("RTL_CLICKHOUSE_PORT") || rounds < 1 || rounds > MAX_ROUNDS)
		die("usage", "server.py clickhouse_rows PLUGIN [ROWS [ROUNDS]]");
	for (int i = 0; i < rounds; i++) {
		const double ours_s = run_plugin(argv[1], rows, &cpu);
		double floor_s;

		server("SELECT count() FROM rtl_dispatch", answer);
		if (strtoull(answer, NULL, 10) != rows)
			die("rows", answer);
		server("DROP TABLE IF EXISTS bare", answer);
		server("CREATE TABLE bare AS rtl_dispatch", answer);
		floor_s = server("INSERT INTO bare SELECT * FROM rtl_dispatch", answer);
		server("TRUNCATE TABLE rtl_dispatch", answer);
		ours[i] = (double)rows / ours_s * 1e-6;
		floors[i] = (double)rows / floor_s * 1e-6;
		ratio[i] = floor_s / ours_s;
		printf("round %d: %.2f M rows/s (%.0f ns of this process's time a row), the server "
		       "alone %.2f, ratio %.2f\n",
		       i + 1, ours[i], cpu * 1e9 / (double)rows, floors[i], ratio[i]);
		fflush(stdout);
	}
	printf("median: %.2f M rows/s, the server alone %.2f, ratio %.2f\n", median(ours, rounds),
	       median(floors, rounds), median(ratio, rounds));
	return 0;
}
