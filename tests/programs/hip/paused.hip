/* SPDX-License-Identifier: MIT */
/*
 * paused [ROUNDS]: pauses and resumes recording by roctx, and launches, copies, calls and marks in
 * between; what has an even number is to be recorded, what has an odd one is not. Kernels have as
 * many blocks, copies as many bytes more than 1 MiB, and marks the text, of their number;
 * hipDeviceGetName, which is used for nothing else, gets it as the size. Without roctx in the
 * process it says that it was skipped.
 *
 * Between a launch and the change that follows there is nothing: the kernel ends when it may.
 */
#define PROGRAM "paused"
#include "../check.h"
#include <dlfcn.h>
#include <hip/hip_runtime.h>
#include <string>
#include <thread>

static int (*pause_all)(uint64_t), (*resume_all)(uint64_t), (*range_push)(const char *),
	(*range_pop)();
static void (*mark)(const char *);
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
static unsigned number(bool recorded)
{
	do
		last_number++;
	while (last_number % 2 == recorded);
	return last_number;
}

static void work(const buffers &b, bool recorded)
{
	char name[4096];
	unsigned n = number(recorded);

	range_push(("range " + std::to_string(n)).c_str());
	numbered<<<n, 64, 0, b.stream>>>(nullptr);
	CHECK_HIP(hipMemcpyAsync(b.gpu, b.host, copy_bytes + n, hipMemcpyHostToDevice, b.stream));
	CHECK_HIP(hipDeviceGetName(name, 1024 + n, 0));
	mark(("mark " + std::to_string(n)).c_str());
	n = number(recorded);
	CHECK_HIP(hipMemcpy(b.host, b.gpu, copy_bytes + n, hipMemcpyDeviceToHost));
	range_pop();
	numbered<<<n, 64, 0, b.stream>>>(nullptr);
}

static void round(const buffers &b)
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
static void across(const buffers &b)
{
	unsigned n = number(true);

	range_push(("range " + std::to_string(n)).c_str());
	std::thread([] { pause_all(0); }).join();
	range_push("inner");
	work(b, false);
	std::thread([] { resume_all(12345); }).join();
	range_pop();
	work(b, true);
	range_pop();
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

	find(pause_all, "roctxProfilerPause");
	find(resume_all, "roctxProfilerResume");
	find(range_push, "roctxRangePushA");
	find(range_pop, "roctxRangePop");
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
