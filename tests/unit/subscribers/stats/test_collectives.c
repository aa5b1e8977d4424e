/* SPDX-License-Identifier: MIT */
/* Unit tests of libstats_sub.so: collectives and their kernels, on the fake host. */
#include "events/events.h"
#include "stats_run.h"

static void operation_of(struct run *run, int rank, uint64_t sequence, const char *name,
			 uint64_t correlation, uint64_t bytes)
{
	const struct rtl_rccl p = {.operation = fake_host_string(run->host, run->process, name),
				   .communicator = 0xabc,
				   .ranks = 4,
				   .rank = rank,
				   .sequence = sequence,
				   .peer = *name == 'S' || *name == 'R' ? 1 : -1,
				   .bytes = bytes};

	FAKE_DELIVER(run->host, &rccl_stream_info, RTL_SIGNAL, run->process, &p,
		     .correlation = correlation, .time_ns = 1);
}

static void operation(struct run *run, const char *name, uint64_t correlation, uint64_t bytes)
{
	operation_of(run, 0, 1000 + correlation, name, correlation, bytes);
}

static void kernel_at(struct run *run, uint64_t uid, uint64_t correlation, uint64_t begin_ns,
		      uint64_t end_ns)
{
	const struct rtl_hsa_dispatch p = {.begin_ns = begin_ns, .end_ns = end_ns};

	FAKE_DELIVER(run->host, run->hsa, RTL_TASK_END, run->process, &p, .uid = uid,
		     .correlation = correlation);
}

static void kernel(struct run *run, uint64_t uid, uint64_t correlation, uint64_t end_ns)
{
	kernel_at(run, uid, correlation, 1000, end_ns);
}

static void start_rccl(struct run *run)
{
	fake_host_tracepoint(run->host, run->process, 1, "kernel", "ncclDevKernel", NULL, NULL);
	fake_host_tracepoint(run->host, run->process, 2, "kernel", "other", NULL, NULL);
	start(run, "&format=json");
	fake_host_stream(run->host, &rccl_stream_info);
}

TEST_OF(test_collectives__of_a_group__share_the_time_by_bytes, struct run *run)
{
	start_rccl(run);
	operation(run, "AllReduce", 7, 3000);
	operation(run, "AllGather", 7, 1000);
	kernel(run, 1, 7, 5000);
	kernel(run, 2, 7, 9000);
	kernel(run, 1, 8, 3000); /* before its operation */
	operation(run, "AllReduce", 8, 6000);
	operation(run, "Broadcast", 0, 10); /* of a graph */
	operation(run, "Send", 9, 100);
	operation(run, "Recv", 9, 100);
	kernel(run, 1, 9, 2000);
	end(run);
#define ROW(name, count) "{\"name\":\"" name ", 4 ranks, communicator abc\",\"count\":" count
	assert_written(run, ROW("AllReduce", "2,\"bytes\":9000,\"total_ns\":5000"));
	assert_written(run, "\"gb_per_s\":1.800000,\"bus_gb_per_s\":2.700000,");
	assert_written(run, ROW("AllGather", "1,\"bytes\":1000,\"total_ns\":1000"));
	assert_written(run, "\"gb_per_s\":1.000000,\"bus_gb_per_s\":0.750000,");
	assert_written(run, ROW("Broadcast", "1,\"untimed\":1,\"bytes\":10}"));
	assert_written(run, ROW("Send", "1,\"bytes\":100,\"total_ns\":1000"));
	assert_written(run, ROW("Recv", "1,\"bytes\":100,\"total_ns\":1000"));
}

TEST_OF(test_collectives__of_ranks__say_who_came_last, struct run *run)
{
	start_rccl(run);
	for (int rank = 0; rank < 4; rank++) {
		operation_of(run, rank, 5, "AllReduce", 20 + (uint64_t)rank, 10);
		kernel_at(run, 1, 20 + (uint64_t)rank, rank == 2 ? 4000 : 1000, 5000);
		operation_of(run, rank, 6, "AllReduce", 0, 10); /* all at once */
		if (rank)
			operation_of(run, rank, 7, "AllReduce", 30, 10); /* one is not there */
		operation_of(run, rank, 0, "Send", 30, 10);
	}
	end(run);
	assert_written(
		run,
		"\"skew_count\":2,\"mean_skew_ns\":1500.0,\"max_skew_ns\":3000,\"waited_for\":[\n"
		"      {\"rank\":2,\"count\":1,\"ns\":3000},\n      "
		"{\"rank\":3,\"count\":1,\"ns\":0}]");
	assert_null(strstr(strstr(run->text, "skew_count") + 1, "skew_count"));
}

RUN_TESTS(setup, teardown, NULL, NULL)
