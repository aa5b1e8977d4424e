/* SPDX-License-Identifier: MIT */
/* Unit tests of libstats_sub.so: collectives and their kernels, on the fake host. */
#include "events/events.h"
#include "fake_host.h"
#include "unit.h"

static struct fake_host *host;
static struct rtl_process *process;

static void operation_of(int rank, uint64_t sequence, const char *name, uint64_t correlation,
			 uint64_t bytes)
{
	const struct rtl_rccl p = {.operation = fake_host_string(host, process, name),
				   .communicator = 0xabc,
				   .ranks = 4,
				   .rank = rank,
				   .sequence = sequence,
				   .peer = *name == 'S' || *name == 'R' ? 1 : -1,
				   .bytes = bytes};

	FAKE_DELIVER(host, &rccl_stream_info, RTL_SIGNAL, process, &p, .correlation = correlation,
		     .time_ns = 1);
}

static void operation(const char *name, uint64_t correlation, uint64_t bytes)
{
	operation_of(0, 1000 + correlation, name, correlation, bytes);
}

static void kernel_at(uint64_t uid, uint64_t correlation, uint64_t begin_ns, uint64_t end_ns)
{
	const struct rtl_hsa_dispatch p = {.begin_ns = begin_ns, .end_ns = end_ns};

	FAKE_DELIVER(host, fake_hsa_stream(), RTL_TASK_END, process, &p, .uid = uid,
		     .correlation = correlation);
}

static void kernel(uint64_t uid, uint64_t correlation, uint64_t end_ns)
{
	kernel_at(uid, correlation, 1000, end_ns);
}

static void start(char *path)
{
	char settings[64];

	close(mkstemp(path));
	snprintf(settings, sizeof(settings), "output=%s&format=json", path);
	host = fake_host_create();
	process = fake_host_process(host, 1, 4711, "/bin/app");
	fake_host_tracepoint(host, process, 1, "kernel", "ncclDevKernel", NULL, NULL);
	fake_host_tracepoint(host, process, 2, "kernel", "other", NULL, NULL);
	assert_int_equal(fake_host_load(host, STATS_SUB, settings), 0);
	fake_host_stream(host, &rccl_stream_info);
	fake_host_stream(host, fake_hsa_stream());
	fake_host_begin(host, process);
}

static char *end(const char *path)
{
	char *text = NULL;
	size_t size = 0;

	assert_int_equal(fake_host_end(host), 0);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	assert_true(getdelim(&text, &size, '\0', file) > 0);
	fclose(file);
	unlink(path);
	fake_host_destroy(host);
	return text;
}

TEST(test_collectives__of_a_group__share_the_time_by_bytes)
{
	char path[] = "/tmp/rtl-test-coll-XXXXXX", *text;

	start(path);
	operation("AllReduce", 7, 3000);
	operation("AllGather", 7, 1000);
	kernel(1, 7, 5000);
	kernel(2, 7, 9000);
	kernel(1, 8, 3000); /* before its operation */
	operation("AllReduce", 8, 6000);
	operation("Broadcast", 0, 10); /* of a graph */
	operation("Send", 9, 100);
	operation("Recv", 9, 100);
	kernel(1, 9, 2000);
	text = end(path);
#define ROW(name, count) "{\"name\":\"" name ", 4 ranks, communicator abc\",\"count\":" count
	assert_non_null(strstr(text, ROW("AllReduce", "2,\"bytes\":9000,\"total_ns\":5000")));
	assert_non_null(strstr(text, "\"gb_per_s\":1.800000,\"bus_gb_per_s\":2.700000,"));
	assert_non_null(strstr(text, ROW("AllGather", "1,\"bytes\":1000,\"total_ns\":1000")));
	assert_non_null(strstr(text, "\"gb_per_s\":1.000000,\"bus_gb_per_s\":0.750000,"));
	assert_non_null(strstr(text, ROW("Broadcast", "1,\"untimed\":1,\"bytes\":10}")));
	assert_non_null(strstr(text, ROW("Send", "1,\"bytes\":100,\"total_ns\":1000")));
	assert_non_null(strstr(text, ROW("Recv", "1,\"bytes\":100,\"total_ns\":1000")));
	free(text);
}

TEST(test_collectives__of_ranks__say_who_came_last)
{
	char path[] = "/tmp/rtl-test-coll-XXXXXX", *text;

	start(path);
	for (int rank = 0; rank < 4; rank++) {
		operation_of(rank, 5, "AllReduce", 20 + (uint64_t)rank, 10);
		kernel_at(1, 20 + (uint64_t)rank, rank == 2 ? 4000 : 1000, 5000);
		operation_of(rank, 6, "AllReduce", 0, 10); /* all at once */
		if (rank)
			operation_of(rank, 7, "AllReduce", 30, 10); /* one is not there */
		operation_of(rank, 0, "Send", 30, 10);
	}
	text = end(path);
	assert_non_null(strstr(
		text,
		"\"skew_count\":2,\"mean_skew_ns\":1500.0,\"max_skew_ns\":3000,\"waited_for\":[\n"
		"      {\"rank\":2,\"count\":1,\"ns\":3000},\n      "
		"{\"rank\":3,\"count\":1,\"ns\":0}]"));
	assert_null(strstr(strstr(text, "skew_count") + 1, "skew_count"));
	free(text);
}

RUN_TESTS(NULL, NULL, NULL, NULL)
