/* SPDX-License-Identifier: MIT */
/* destroy_busy [STREAMS]: threads keep a GPU at work, without a pause where its kernels take 20 us, until another one
 * has made that many streams, each with a kernel, and destroyed them at once. */
#define PROGRAM "destroy_busy"
#include "../check.h"
#include <atomic>
#include <hip/hip_runtime.h>
#include <thread>
#include <vector>

static constexpr int busy_threads = 8;
static constexpr int ahead = 128; /* kernels of a busy thread that may be under way */
static std::atomic<bool> done{false};
static std::atomic<int> busy{0};

extern "C" __global__ void busy_kernel(float *data)
{
	if (data)
		data[threadIdx.x] = 1;
}

extern "C" __global__ void last_kernel(float *data)
{
	if (data)
		data[threadIdx.x] = 2;
}

/* Always with work under way: it waits for the half before the last. */
static void keep_busy()
{
	hipEvent_t events[2];
	hipStream_t stream;

	CHECK_HIP(hipStreamCreate(&stream));
	for (hipEvent_t &event : events)
		CHECK_HIP(hipEventCreate(&event));
	for (long half = 0; !done; half++) {
		for (int i = 0; i < ahead / 2; i++)
			busy_kernel<<<1, 64, 0, stream>>>(nullptr);
		CHECK_HIP(hipEventRecord(events[half % 2], stream));
		if (half)
			CHECK_HIP(hipEventSynchronize(events[(half - 1) % 2]));
		busy += half == 1;
	}
	CHECK_HIP(hipStreamSynchronize(stream));
	for (hipEvent_t event : events)
		CHECK_HIP(hipEventDestroy(event));
	CHECK_HIP(hipStreamDestroy(stream));
}

int main(int argc, char **argv)
{
	const long streams = number_arg(argc, argv, 1, 10);
	std::vector<std::thread> all;

	CHECK_HIP(hipInit(0));
	for (int i = 0; i < busy_threads; i++)
		all.emplace_back(keep_busy);
	while (busy < busy_threads)
		std::this_thread::yield();
	for (long i = 0; i < streams; i++) {
		hipStream_t stream;

		CHECK_HIP(hipStreamCreate(&stream));
		last_kernel<<<1, 64, 0, stream>>>(nullptr);
		CHECK_HIP(hipStreamDestroy(stream));
	}
	done = true;
	for (std::thread &thread : all)
		thread.join();
	return finish("streams=%ld", streams);
}
