/* SPDX-License-Identifier: MIT */
/* two_gpus [ROUNDS]: hands data to and fro between two GPUs, by peer copies that wait for events of the other, with a
 * kernel on each; then a kernel of one reads the memory of the other, where the GPUs can. With one GPU it says so and
 * exits with 77. */
#define PROGRAM "two_gpus"
#include "../check.h"
#include <hip/hip_runtime.h>
#include <vector>

namespace two_gpus
{

struct span {
	unsigned *data;
	unsigned n;
};

__global__ void increment(span numbers, unsigned by)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < numbers.n)
		numbers.data[i] += by;
}

__global__ void gather(span to, const unsigned *from)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < to.n)
		to.data[i] = from[i];
}

} // namespace two_gpus

static constexpr unsigned n = 1 << 14, block = 256;
static constexpr size_t size = n * sizeof(unsigned);

struct gpu {
	int number;
	hipStream_t stream;
	hipEvent_t done;
	two_gpus::span numbers;
};

static void gpu_create(struct gpu *gpu, int number)
{
	gpu->number = number;
	gpu->numbers.n = n;
	CHECK_HIP(hipSetDevice(number));
	CHECK_HIP(hipStreamCreate(&gpu->stream));
	CHECK_HIP(hipEventCreateWithFlags(&gpu->done, hipEventDisableTiming));
	CHECK_HIP(hipMalloc(&gpu->numbers.data, size));
	CHECK_HIP(hipMemsetAsync(gpu->numbers.data, 0, size, gpu->stream));
	CHECK_HIP(hipStreamSynchronize(gpu->stream));
}

static void gpu_destroy(struct gpu *gpu)
{
	CHECK_HIP(hipSetDevice(gpu->number));
	CHECK_HIP(hipStreamDestroy(gpu->stream));
	CHECK_HIP(hipEventDestroy(gpu->done));
	CHECK_HIP(hipFree(gpu->numbers.data));
}

/* Adds to the numbers on one GPU and sends them to the other. */
static void hand_over(struct gpu *from, struct gpu *to)
{
	CHECK_HIP(hipSetDevice(from->number));
	two_gpus::increment<<<n / block, block, 0, from->stream>>>(from->numbers, from->number + 1);
	CHECK_HIP(hipMemcpyPeerAsync(to->numbers.data, to->number, from->numbers.data, from->number,
				     size, from->stream));
	CHECK_HIP(hipEventRecord(from->done, from->stream));
	CHECK_HIP(hipSetDevice(to->number));
	CHECK_HIP(hipStreamWaitEvent(to->stream, from->done, 0));
}

static void check_numbers(struct gpu *gpu, const char *what, unsigned expected)
{
	std::vector<unsigned> numbers(n);

	CHECK_HIP(hipSetDevice(gpu->number));
	CHECK_HIP(hipMemcpy(numbers.data(), gpu->numbers.data, size, hipMemcpyDeviceToHost));
	for (unsigned i = 0; kernels_run() && i < n; i++)
		if (numbers[i] != expected)
			fail("%s, GPU %d: element %u differs: %u instead of %u", what, gpu->number,
			     i, numbers[i], expected);
}

static bool read_directly(struct gpu *reader, struct gpu *owner)
{
	int can = 0;

	CHECK_HIP(hipDeviceCanAccessPeer(&can, reader->number, owner->number));
	if (!can)
		return false;
	CHECK_HIP(hipSetDevice(owner->number));
	two_gpus::increment<<<n / block, block, 0, owner->stream>>>(owner->numbers, 100);
	CHECK_HIP(hipStreamSynchronize(owner->stream));
	CHECK_HIP(hipSetDevice(reader->number));
	CHECK_HIP(hipDeviceEnablePeerAccess(owner->number, 0));
	two_gpus::gather<<<n / block, block, 0, reader->stream>>>(reader->numbers,
								  owner->numbers.data);
	CHECK_HIP(hipStreamSynchronize(reader->stream));
	CHECK_HIP(hipDeviceDisablePeerAccess(owner->number));
	return true;
}

int main(int argc, char **argv)
{
	const long rounds = number_arg(argc, argv, 1, 20);
	struct gpu first, second;
	int count;

	CHECK_HIP(hipGetDeviceCount(&count));
	if (count < 2) {
		printf("%s: SKIPPED: there is one GPU only\n", PROGRAM);
		return EXIT_SKIPPED;
	}
	gpu_create(&first, 0);
	gpu_create(&second, 1);
	for (long round = 0; round < rounds; round++) {
		hand_over(&first, &second);
		hand_over(&second, &first);
	}
	CHECK_HIP(hipGetLastError());
	CHECK_HIP(hipStreamSynchronize(first.stream));
	CHECK_HIP(hipStreamSynchronize(second.stream));
	check_numbers(&first, "after the copies", 3 * rounds);
	check_numbers(&second, "after the copies", 3 * rounds);
	bool direct = read_directly(&second, &first);
	check_numbers(&second, "after reading directly", 3 * rounds + (direct ? 100 : 0));
	gpu_destroy(&first);
	gpu_destroy(&second);
	return finish("rounds=%ld direct=%d", rounds, direct);
}
