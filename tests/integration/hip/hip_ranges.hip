/* SPDX-License-Identifier: MIT */
/*
 * hip_ranges [ROUNDS]: launches, copies, calls and marks within ranges "wanted" of roctx and outside of them.
 * What has an even number is inside; numbers as in tests/programs/hip/paused.hip. A range ends as soon as its
 * work is submitted.
 */
#define PROGRAM "hip_ranges"
#include "../../programs/check.h"
#include <dlfcn.h>
#include <hip/hip_runtime.h>
#include <string>
#include <thread>

static int (*range_push)(const char *), (*range_pop)();
static uint64_t (*range_start)(const char *);
static void (*range_stop)(uint64_t), (*mark)(const char *);
static unsigned last_number = 0;
static const size_t copy_bytes = 1 << 20;

extern "C" __global__ void numbered(unsigned *data)
{
	if (data)
		data[0] = 1;
}

struct buffers {
	unsigned char *host, *gpu;
	hipStream_t stream;
};

/* A number that tells whether it is to be recorded. */
static unsigned number(bool inside)
{
	do
		last_number++;
	while (last_number % 2 == inside);
	return last_number;
}

static void work(const buffers &b, bool inside)
{
	const unsigned n = number(inside);
	char name[4096];

	range_push(("range " + std::to_string(n)).c_str());
	mark(("mark " + std::to_string(n)).c_str());
	CHECK_HIP(hipDeviceGetName(name, 1024 + n, 0));
	CHECK_HIP(hipMemcpyAsync(b.gpu, b.host, copy_bytes + n, hipMemcpyHostToDevice, b.stream));
	numbered<<<n, 64, 0, b.stream>>>(nullptr);
	range_pop();
}

static void round(const buffers &b)
{
	work(b, false);
	range_push("wanted");
	work(b, true);
	range_pop();
	work(b, false);
	range_push("not wanted"); /* nor what its name is a part of */
	work(b, false);
	range_push("wanted");
	range_push("wanted");
	work(b, true);
	range_pop();
	work(b, true); /* the outer one is open */
	range_pop();
	work(b, false);
	range_pop();
}

/* As long as it is open anywhere, all threads are inside. */
static void across(const buffers &b)
{
	uint64_t id = 0;

	std::thread([&] { id = range_start("wanted"); }).join();
	work(b, true);
	range_push("wanted");
	std::thread([&] { work(b, true); }).join();
	range_pop();
	work(b, true);
	range_stop(id);
	work(b, false);
	std::thread([&] { range_push("wanted"); }).join(); /* ends with its thread */
	work(b, false);
}

template <typename T> static void find(T &function, const char *name)
{
	*reinterpret_cast<void **>(&function) = dlsym(RTLD_DEFAULT, name);
	if (!function) {
		printf("%s: SKIPPED: there is no %s\n", PROGRAM, name);
		exit(EXIT_SKIPPED);
	}
}

int main(int argc, char **argv)
{
	const long rounds = number_arg(argc, argv, 1, 10);
	buffers b;

	find(range_push, "roctxRangePushA");
	find(range_pop, "roctxRangePop");
	find(range_start, "roctxRangeStartA");
	find(range_stop, "roctxRangeStop");
	find(mark, "roctxMarkA");
	CHECK_HIP(hipStreamCreate(&b.stream));
	CHECK_HIP(hipHostMalloc((void **)&b.host, 2 * copy_bytes, 0));
	CHECK_HIP(hipMalloc((void **)&b.gpu, 2 * copy_bytes));
	for (long i = 0; i < rounds; i++)
		round(b);
	across(b);
	CHECK_HIP(hipStreamSynchronize(b.stream));
	CHECK_HIP(hipFree(b.gpu));
	CHECK_HIP(hipHostFree(b.host));
	CHECK_HIP(hipStreamDestroy(b.stream));
	printf("numbers %u\n", last_number);
	return finish("rounds=%ld", rounds);
}
