/* SPDX-License-Identifier: MIT */
/* idle [ROUNDS]: leaves a GPU idle for reasons that it knows: the host sleeps in a range, calls HIP, waits for nothing;
 * nodes of a graph, that run one after the other; and recording that is paused. It says for each how long that was at
 * least and at most, in ns:
 *
 *	idle CAUSE LEAST MOST
 *
 * Kernels of a graph have grids of 2 blocks and more. */
#define PROGRAM "idle"
#include "../check.h"
#include <hip/hip_runtime.h>

static int (*range_push)(const char *), (*range_pop)(), (*pause_all)(uint64_t),
	(*resume_all)(uint64_t);
static const unsigned block = 64, nodes = 4;

__global__ void work(unsigned *data)
{
	if (data)
		data[0] = 1;
}

struct known {
	const char *cause;
	uint64_t least, most;
};

static known asleep{"outside_hip", 0, 0}, in_calls{"in_call", 0, 0}, in_waits{"in_wait", 0, 0},
	paused{"paused", 0, 0};

/* From before what ended first to after what began last, and the part that is certain. */
static void add(known &to, uint64_t least, uint64_t begin)
{
	to.least += least;
	to.most += monotonic_ns() - begin;
}

static void kernel(unsigned blocks = 1)
{
	work<<<blocks, block>>>(nullptr);
	CHECK_HIP(hipGetLastError());
}

static void sleep_in_range()
{
	uint64_t begin, slept;

	kernel();
	CHECK_HIP(hipDeviceSynchronize());
	begin = monotonic_ns();
	range_push("asleep");
	slept = monotonic_ns();
	usleep(15000);
	slept = monotonic_ns() - slept;
	range_pop();
	add(asleep, slept, begin);
	kernel();
	CHECK_HIP(hipDeviceSynchronize());
}

static void call_and_wait()
{
	uint64_t begin;
	void *memory;

	kernel();
	CHECK_HIP(hipDeviceSynchronize());
	for (int i = 0; i < 5; i++) {
		begin = monotonic_ns();
		CHECK_HIP(hipMalloc(&memory, 1 << 20));
		add(in_calls, 0, begin);
		begin = monotonic_ns();
		CHECK_HIP(hipDeviceSynchronize());
		add(in_waits, 0, begin);
		begin = monotonic_ns();
		CHECK_HIP(hipFree(memory));
		add(in_calls, 0, begin);
	}
	kernel();
	CHECK_HIP(hipDeviceSynchronize());
}

/* Around the pause too, in the same gap, the GPU may have done what is not recorded. */
static void be_paused()
{
	const uint64_t begin = monotonic_ns();

	kernel();
	CHECK_HIP(hipDeviceSynchronize());
	pause_all(0);
	const uint64_t slept = monotonic_ns();
	usleep(20000);
	kernel();
	CHECK_HIP(hipDeviceSynchronize());
	const uint64_t least = monotonic_ns() - slept;
	resume_all(0);
	kernel();
	CHECK_HIP(hipDeviceSynchronize());
	add(paused, least, begin);
}

static hipGraphExec_t make_graph(hipStream_t stream)
{
	hipGraph_t graph;
	hipGraphExec_t exec;

	CHECK_HIP(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
	for (unsigned i = 0; i < nodes; i++)
		work<<<2 + i, block, 0, stream>>>(nullptr);
	CHECK_HIP(hipStreamEndCapture(stream, &graph));
	CHECK_HIP(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	CHECK_HIP(hipGraphDestroy(graph));
	return exec;
}

int main(int argc, char **argv)
{
	const long rounds = number_arg(argc, argv, 1, 5);
	hipGraphExec_t graph;
	hipStream_t stream;

	find_or_skip(range_push, "roctxRangePushA");
	find_or_skip(range_pop, "roctxRangePop");
	find_or_skip(pause_all, "roctxProfilerPause");
	find_or_skip(resume_all, "roctxProfilerResume");
	kernel();
	CHECK_HIP(hipStreamCreate(&stream));
	graph = make_graph(stream);
	for (long i = 0; i < rounds; i++) {
		sleep_in_range();
		call_and_wait();
		CHECK_HIP(hipGraphLaunch(graph, stream));
		CHECK_HIP(hipStreamSynchronize(stream));
		be_paused();
	}
	CHECK_HIP(hipGraphExecDestroy(graph));
	CHECK_HIP(hipStreamDestroy(stream));
	for (const known *k : {&asleep, &in_calls, &in_waits, &paused})
		printf("idle %s %llu %llu\n", k->cause, (unsigned long long)k->least,
		       (unsigned long long)k->most);
	return finish("rounds=%ld", rounds);
}
