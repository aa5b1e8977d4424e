/* SPDX-License-Identifier: MIT */
/* exit_ways WAY [DISPATCHES] [sync|nosync] [STATUS]: launches DISPATCHES kernels (100), waits for them and checks what
 * they counted, or does not wait, prints its result line and ends in this way:
 *
 *	return		from main, with STATUS (0)
 *	exit, _exit	with STATUS
 *	thread_exit	exit(STATUS) in a thread while main waits for it
 *	static_dtor	returns from main; then static destructors make HIP calls
 *	abort, segv	by SIGABRT, SIGSEGV
 *	kill9, term	by SIGKILL, SIGTERM, which it sends itself */
#define PROGRAM "exit_ways"
#include "../check.h"
#include <csignal>
#include <cstring>
#include <hip/hip_runtime.h>
#include <thread>

extern "C" __global__ void exit_ways_count(unsigned *counters, unsigned n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		counters[i]++;
}

static constexpr unsigned counter_count = 64;

/* A buffer of counters, which the static destructor below uses too */
class Counters
{
      public:
	void create()
	{
		CHECK_HIP(hipMalloc(&gpu, size));
		CHECK_HIP(hipMemset(gpu, 0, size));
	}

	void launch()
	{
		exit_ways_count<<<1, counter_count>>>(gpu, counter_count);
		CHECK_HIP(hipGetLastError());
		expected++;
	}

	/* Waits for all launches. */
	void check()
	{
		unsigned counters[counter_count];

		CHECK_HIP(hipDeviceSynchronize());
		CHECK_HIP(hipMemcpy(counters, gpu, size, hipMemcpyDeviceToHost));
		for (unsigned i = 0; kernels_run() && i < counter_count; i++)
			if (counters[i] != expected)
				fail("counter %u differs: %u instead of %u", i, counters[i],
				     expected);
	}

	bool in_destructor = false;

	/* At the end of the program, but before its kernels are unregistered */
	~Counters()
	{
		if (!in_destructor)
			return;
		for (int i = 0; i < 10; i++)
			launch();
		check();
		CHECK_HIP(hipFree(gpu));
	}

      private:
	static constexpr size_t size = counter_count * sizeof(unsigned);
	unsigned *gpu = nullptr;
	unsigned expected = 0;
};

static Counters &counters()
{
	static Counters instance;

	return instance;
}

/* What lives from before main to after the end of the program's kernels */
static struct late {
	bool in_destructor;

	~late()
	{
		const unsigned expected[4] = {0x77777777, 0x77777777, 0x77777777, 0x77777777};
		unsigned data[4] = {}, *gpu;

		if (!in_destructor)
			return;
		CHECK_HIP(hipMalloc(&gpu, sizeof(data)));
		CHECK_HIP(hipMemset(gpu, 0x77, sizeof(data)));
		CHECK_HIP(hipDeviceSynchronize());
		CHECK_HIP(hipMemcpy(data, gpu, sizeof(data), hipMemcpyDeviceToHost));
		CHECK(!memcmp(data, expected, sizeof(data)));
		CHECK_HIP(hipFree(gpu));
		settle();
		printf("%s: ok in static destructors\n", PROGRAM);
	}
} late;

static void segv()
{
	int *volatile nowhere = nullptr;

	*nowhere = 1;
}

static int leave(const char *way, int status)
{
	if (!strcmp(way, "exit"))
		exit(status);
	if (!strcmp(way, "_exit"))
		_exit(status);
	if (!strcmp(way, "thread_exit"))
		std::thread([status] { exit(status); }).join();
	if (!strcmp(way, "static_dtor"))
		late.in_destructor = counters().in_destructor = true;
	if (!strcmp(way, "abort"))
		abort();
	if (!strcmp(way, "segv"))
		segv();
	if (!strcmp(way, "kill9"))
		raise(SIGKILL);
	if (!strcmp(way, "term"))
		raise(SIGTERM);
	return status;
}

static bool is_way(const char *way)
{
	static const char *const ways[] = {"return", "exit", "_exit", "thread_exit", "static_dtor",
					   "abort",  "segv", "kill9", "term"};

	for (const char *known : ways)
		if (!strcmp(way, known))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "return";
	const long dispatches = number_arg(argc, argv, 2, 100);
	const bool sync = argc <= 3 || !strcmp(argv[3], "sync");
	const int status = number_arg(argc, argv, 4, 0);

	if (!is_way(way) || (!sync && strcmp(argv[3], "nosync")))
		fail("unknown argument: see the head of the source");
	counters().create();
	for (long i = 0; i < dispatches; i++)
		counters().launch();
	if (sync)
		counters().check();
	report("way=%s dispatches=%ld %s", way, dispatches, sync ? "sync" : "nosync");
	if (sync)
		settle();
	return leave(way, status);
}
