/* SPDX-License-Identifier: MIT */
/* paused [ROUNDS] [ranges]: marks, calls, copies and launches, of which those with an even number are to be
 * recorded, and those with an odd one are not: recording is paused and resumed by roctx, or, with "ranges", what is
 * to be recorded is within ranges "wanted". Kernels have as many blocks, copies as many bytes more than 1 MiB, and
 * marks and ranges the text, of their number; hipDeviceGetName, which is used for nothing else, gets it as the size.
 * Without roctx in the process it says that it was skipped.
 *
 * Nothing waits between a launch and the change that follows: the kernel ends when it may. */
#define PROGRAM "paused"
#include "../check.h"
#include <cstring>
#include <hip/hip_runtime.h>
#include <string>
#include <thread>

static int (*pause_all)(uint64_t), (*resume_all)(uint64_t);
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

static void work(const buffers &b, bool recorded)
{
	char name[4096];

	do
		last_number++;
	while (last_number % 2 == recorded);
	const unsigned n = last_number;
	range_push(("range " + std::to_string(n)).c_str());
	mark(("mark " + std::to_string(n)).c_str());
	CHECK_HIP(hipDeviceGetName(name, 1024 + n, 0));
	CHECK_HIP(hipMemcpyAsync(b.gpu, b.host, copy_bytes + n, hipMemcpyHostToDevice, b.stream));
	numbered<<<n, 64, 0, b.stream>>>(nullptr);
	range_pop();
}

static void pause_and_resume(const buffers &b)
{
	work(b, true);
	pause_all(0);
	work(b, false);
	pause_all(0); /* once more is nothing more */
	work(b, false);
	resume_all(0);
	work(b, true);
	resume_all(0);
	work(b, true);
}

/* A range around both; and another thread that pauses for all. */
static void pause_within(const buffers &b)
{
	range_push("around");
	std::thread([] { pause_all(0); }).join();
	range_push("inner");
	work(b, false);
	std::thread([] { resume_all(12345); }).join();
	range_pop();
	work(b, true);
	range_pop();
}

static void in_and_out(const buffers &b)
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
static void in_across(const buffers &b)
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

int main(int argc, char **argv)
{
	const long rounds = number_arg(argc, argv, 1, 10);
	const bool ranges = argc > 2 && !strcmp(argv[2], "ranges");
	buffers b;

	find_or_skip(pause_all, "roctxProfilerPause");
	find_or_skip(resume_all, "roctxProfilerResume");
	find_or_skip(range_push, "roctxRangePushA");
	find_or_skip(range_pop, "roctxRangePop");
	find_or_skip(range_start, "roctxRangeStartA");
	find_or_skip(range_stop, "roctxRangeStop");
	find_or_skip(mark, "roctxMarkA");
	CHECK_HIP(hipStreamCreate(&b.stream));
	CHECK_HIP(hipHostMalloc((void **)&b.host, 2 * copy_bytes, 0));
	CHECK_HIP(hipMalloc((void **)&b.gpu, 2 * copy_bytes));
	for (long i = 0; i < rounds; i++)
		ranges ? in_and_out(b) : pause_and_resume(b);
	ranges ? in_across(b) : pause_within(b);
	CHECK_HIP(hipStreamSynchronize(b.stream));
	CHECK_HIP(hipFree(b.gpu));
	CHECK_HIP(hipHostFree(b.host));
	CHECK_HIP(hipStreamDestroy(b.stream));
	printf("numbers %u\n", last_number);
	return finish("rounds=%ld", rounds);
}
