/* SPDX-License-Identifier: MIT */
/* threads [THREADS] [DISPATCHES] [SYNC_EVERY]: THREADS threads, dealt out over all GPUs, each launch DISPATCHES kernels
 * on a stream of their own, and wait for the stream after every SYNC_EVERY of them (0: only at the end; more than
 * DISPATCHES: there it asks for its device, for ever). Each kernel counts, each thread compares. */
#define PROGRAM "threads"
#include "../check.h"
#include <hip/hip_runtime.h>
#include <thread>
#include <vector>

extern "C" __global__ void threads_count(unsigned *counters, unsigned n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		counters[i]++;
}

static constexpr unsigned counter_count = 64;

static void check_counters(int thread, unsigned *gpu_counters, unsigned expected)
{
	unsigned counters[counter_count];

	CHECK_HIP(hipMemcpy(counters, gpu_counters, sizeof(counters), hipMemcpyDeviceToHost));
	for (unsigned i = 0; kernels_run() && i < counter_count; i++)
		if (counters[i] != expected)
			fail("thread %d: counter %u differs: %u instead of %u", thread, i,
			     counters[i], expected);
}

static void run_thread(int thread, int device, long dispatches, long sync_every)
{
	hipStream_t stream;
	unsigned *counters;

	CHECK_HIP(hipSetDevice(device));
	CHECK_HIP(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
	CHECK_HIP(hipMalloc(&counters, counter_count * sizeof(*counters)));
	CHECK_HIP(hipMemset(counters, 0, counter_count * sizeof(*counters)));
	CHECK_HIP(hipDeviceSynchronize());
	for (long i = 1; i <= dispatches; i++) {
		threads_count<<<1, counter_count, 0, stream>>>(counters, counter_count);
		if (sync_every && i % sync_every == 0)
			CHECK_HIP(hipStreamSynchronize(stream));
	}
	while (sync_every > dispatches && usleep(1000) == 0)
		(void)hipGetDevice(&device); /* asks no signal: that helps the harvester */
	CHECK_HIP(hipGetLastError());
	CHECK_HIP(hipStreamSynchronize(stream));
	check_counters(thread, counters, dispatches);
	CHECK_HIP(hipFree(counters));
	CHECK_HIP(hipStreamDestroy(stream));
}

int main(int argc, char **argv)
{
	const long thread_count = number_arg(argc, argv, 1, 4);
	const long dispatches = number_arg(argc, argv, 2, 1000);
	const long sync_every = number_arg(argc, argv, 3, 0);
	std::vector<std::thread> threads;
	int devices;

	CHECK_HIP(hipGetDeviceCount(&devices));
	uint64_t start_ns = monotonic_ns();
	for (long i = 0; i < thread_count; i++)
		threads.emplace_back(run_thread, i, i % devices, dispatches, sync_every);
	for (std::thread &thread : threads)
		thread.join();
	double ms = (monotonic_ns() - start_ns) * 1e-6;
	return finish("threads=%ld dispatches=%ld devices=%d ms=%.3f", thread_count,
		      thread_count * dispatches, devices, ms);
}
