/* SPDX-License-Identifier: MIT */
/* steps [ROUNDS]: ranges of roctx whose end work determined that is known. Kernels are told apart by their grids, in
 * blocks:
 *
 *	chain   3, beside it 1 on another stream, then 2 on a third one, which waits for an event behind 1; the host waits
 *		for 2
 *	alone   4, the host sleeps, 5 on the same stream, the host waits
 *	ahead   6, and nobody waits for it */
#define PROGRAM "steps"
#include "../check.h"
#include <hip/hip_runtime.h>

static int (*range_push)(const char *), (*range_pop)();
static const unsigned block = 64;

__global__ void work(unsigned *data)
{
	if (data)
		data[0] = 1;
}

static void kernel(unsigned blocks, hipStream_t stream)
{
	work<<<blocks, block, 0, stream>>>(nullptr);
	CHECK_HIP(hipGetLastError());
}

int main(int argc, char **argv)
{
	const long rounds = number_arg(argc, argv, 1, 4);
	hipStream_t streams[3];
	hipEvent_t event;

	find_or_skip(range_push, "roctxRangePushA");
	find_or_skip(range_pop, "roctxRangePop");
	for (hipStream_t &stream : streams) {
		CHECK_HIP(hipStreamCreate(&stream));
		kernel(7, stream);
	}
	CHECK_HIP(hipEventCreate(&event));
	CHECK_HIP(hipDeviceSynchronize());
	for (long i = 0; i < rounds; i++) {
		range_push("chain");
		kernel(3, streams[2]);
		kernel(1, streams[0]);
		CHECK_HIP(hipEventRecord(event, streams[0]));
		CHECK_HIP(hipStreamWaitEvent(streams[1], event, 0));
		kernel(2, streams[1]);
		CHECK_HIP(hipStreamSynchronize(streams[1]));
		range_pop();
		CHECK_HIP(hipDeviceSynchronize());
		range_push("alone");
		kernel(4, streams[0]);
		range_push("asleep");
		usleep(15000);
		range_pop();
		kernel(5, streams[0]);
		CHECK_HIP(hipStreamSynchronize(streams[0]));
		range_pop();
		range_push("ahead");
		kernel(6, streams[0]);
		range_pop();
		CHECK_HIP(hipDeviceSynchronize());
	}
	return finish("rounds=%ld", rounds);
}
