/* SPDX-License-Identifier: MIT */
/*
 * hip_under_way FILE: four threads launch kernels and graphs and copy on two streams each, until FILE (struct counts) says that they stop, then wait
 * for the streams, or abort. A piece of work has a number: its grid or its bytes tell it; modulo 8 it is that of its stream. A graph has one, too;
 * its kernels have 0 to 23, its copy none, as kernels of HIP may do it. FILE counts by number how often the call has begun and returned.
 */
#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <hip/hip_runtime.h>
#include <random>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

static constexpr unsigned numbers = 1 << 17, copy_bytes = 1 << 20;

struct counts {
	uint64_t streams[8], tids[8];
	std::atomic<uint32_t> stop, abort;
	std::atomic<uint32_t> begun[3][numbers], returned[3][numbers]; /* kernels, copies, graphs */
};

static struct counts *counts;
static std::atomic<unsigned> next;
static hipStream_t streams[8];
static hipGraphExec_t graphs[8];
static char *gpu[8], *host[8];

__global__ void work(char *out)
{
	*out = 1;
}

static void check(hipError_t error)
{
	if (error)
		_exit(3);
}

static void launch(unsigned number, int stream, hipStream_t on)
{
	void *args[] = {&gpu[stream]};

	check(hipLaunchKernel((const void *)work, dim3(number + 1), dim3(64), args, 0, on));
}

static void copy(unsigned bytes, int stream)
{
	check(hipMemcpyAsync(host[stream], gpu[stream], bytes, hipMemcpyDeviceToHost,
			     streams[stream]));
}

/* It has begun copy 0 meanwhile, which there is not: HIP may be writing a packet. */
static void wait_for(int stream)
{
	counts->begun[1][0]++;
	check(hipStreamSynchronize(streams[stream]));
	counts->begun[1][0]--;
}

static void prepare(int stream)
{
	hipStream_t other;
	hipEvent_t event;
	hipGraph_t graph;

	check(hipStreamCreate(&other));
	check(hipEventCreate(&event));
	check(hipStreamBeginCapture(streams[stream], hipStreamCaptureModeThreadLocal));
	launch(stream, stream, streams[stream]);
	check(hipEventRecord(event, streams[stream]));
	check(hipStreamWaitEvent(other, event, 0));
	launch(8 + stream, stream, other);
	check(hipEventRecord(event, other));
	copy(copy_bytes / 2, stream);
	check(hipStreamWaitEvent(streams[stream], event, 0));
	launch(16 + stream, stream, streams[stream]);
	check(hipStreamEndCapture(streams[stream], &graph));
	check(hipGraphInstantiate(&graphs[stream], graph, nullptr, nullptr, 0));
}

static void run(int thread)
{
	std::minstd_rand random(getpid() + thread);

	counts->tids[2 * thread] = counts->tids[2 * thread + 1] = syscall(SYS_gettid);
	for (unsigned i = 1; !counts->stop; i++) {
		const int stream = 2 * thread + random() % 2;
		const unsigned number = 8 * (next++ % (numbers / 8 - 3) + 3) + stream;
		const unsigned dice = random() % 16, what = dice < 2 ? 2 - dice : 0;

		counts->begun[what][number]++;
		if (what == 2)
			check(hipGraphLaunch(graphs[stream], streams[stream]));
		else if (what == 1)
			copy(copy_bytes + 4 * number, stream);
		else
			launch(number, stream, streams[stream]);
		counts->returned[what][number]++;
		if (i % 50 == 0)
			wait_for(stream);
	}
	wait_for(2 * thread);
	wait_for(2 * thread + 1);
}

int main(int, char **argv)
{
	alarm(600);
	counts = (struct counts *)mmap(nullptr, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED,
				       open(argv[1], O_RDWR), 0);
	for (int i = 0; i < 8; i++) {
		check(hipStreamCreate(&streams[i]));
		check(hipMalloc((void **)&gpu[i], 2 * copy_bytes));
		check(hipHostMalloc((void **)&host[i], 2 * copy_bytes, 0));
		counts->streams[i] = (uintptr_t)streams[i];
	}
	for (int i = 0; i < 8; i++)
		prepare(i);
	for (int i = 0; i < 4; i++)
		std::thread(run, i).detach();
	while (!counts->abort)
		usleep(1000);
	abort();
}
