/* SPDX-License-Identifier: MIT */
/* dispatch_hip DISPATCHES THREADS LOOPS [NODES]: each thread launches DISPATCHES empty kernels, or graphs of NODES of
 * them, on a stream of its own and waits for them; LOOPS times. For each loop one line:
 *	launch NS total NS cpu NS each NS
 * for each launch: on the launching thread, until all have finished, the processor's time that the launching thread
 * took, which other programs disturb less, and the median of the single launches. It waits after every 2,000 kernels
 * (not counted as launch): the interception of ROCm 5.2 ends the program when the GPU's ring overflows, whatever the
 * tool. */
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <thread>
#include <time.h>
#include <vector>

#include "../dispatch_each.h"

#define CHECK(call)                                                                                \
	do {                                                                                       \
		hipError_t error_ = (call);                                                        \
		if (error_ != hipSuccess) {                                                        \
			fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(error_));             \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

__global__ void empty(unsigned *data)
{
}

static double now_ns(clockid_t clock)
{
	timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1e9 + time.tv_nsec;
}

struct cost {
	double wall_ns, cpu_ns, each_ns;
};

static long nodes;

static hipGraphExec_t capture(hipStream_t stream)
{
	hipGraphExec_t executable;
	hipGraph_t graph;

	CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeThreadLocal));
	for (long i = 0; i < nodes; i++)
		empty<<<1, 64, 0, stream>>>(nullptr);
	CHECK(hipStreamEndCapture(stream, &graph));
	CHECK(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
	return executable;
}

static void launch(hipStream_t stream, long dispatches, cost *cost)
{
	const hipGraphExec_t graph = nodes ? capture(stream) : nullptr;
	const long batch = 2000 / (nodes ? nodes : 1);
	struct each each;

	*cost = {};
	each_init(&each, dispatches);
	for (long i = 0; i < dispatches;) {
		const double wall_begin = now_ns(CLOCK_MONOTONIC);
		const double cpu_begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
		const long end = i + batch < dispatches ? i + batch : dispatches;

		for (; i < end; i++) {
			const uint64_t tick = each_begin();

			if (graph)
				CHECK(hipGraphLaunch(graph, stream));
			else
				empty<<<1, 64, 0, stream>>>(nullptr);
			each_end(&each, tick);
		}
		cost->cpu_ns += (now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begin) / dispatches;
		cost->wall_ns += (now_ns(CLOCK_MONOTONIC) - wall_begin) / dispatches;
		CHECK(hipStreamSynchronize(stream));
	}
	cost->each_ns = each_median_ns(&each);
}

int main(int argc, char **argv)
{
	const long dispatches = argc > 1 ? atol(argv[1]) : 100000;
	const int threads = argc > 2 ? atoi(argv[2]) : 1;
	const int loops = argc > 3 ? atoi(argv[3]) : 5;
	nodes = argc > 4 ? atol(argv[4]) : 0;
	std::vector<hipStream_t> streams(threads);
	std::vector<cost> costs(threads);

	for (hipStream_t &stream : streams) {
		CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
		launch(stream, 100, &costs[0]);
	}
	for (int loop = 0; loop < loops; loop++) {
		std::vector<std::thread> workers;
		const double begin = now_ns(CLOCK_MONOTONIC);
		cost sum = {};

		for (int i = 1; i < threads; i++)
			workers.emplace_back(launch, streams[i], dispatches, &costs[i]);
		launch(streams[0], dispatches, &costs[0]);
		for (std::thread &worker : workers)
			worker.join();
		const double total =
			(now_ns(CLOCK_MONOTONIC) - begin) / (double(dispatches) * threads);
		for (const cost &each : costs) {
			sum.wall_ns += each.wall_ns / threads;
			sum.cpu_ns += each.cpu_ns / threads;
			sum.each_ns += each.each_ns / threads;
		}
		printf("launch %.1f total %.1f cpu %.1f each %.1f\n", sum.wall_ns, total,
		       sum.cpu_ns, sum.each_ns);
	}
	return 0;
}
