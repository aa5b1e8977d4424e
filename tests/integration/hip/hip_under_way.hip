/* SPDX-License-Identifier: MIT */
/* hip_under_way LAUNCHES: two threads launch kernels on two streams each, which take minutes where a workgroup takes 20
 * ms, and wait for them. Prints a line for each launch, and an empty one before they wait; ends by abort when it reads
 * a line. */
#include <cstdio>
#include <cstdlib>
#include <hip/hip_runtime.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

__global__ void hang(int *out)
{
	*out = 1;
}

static hipStream_t streams[4];
static int *memory;

static void launch(int thread, int launches)
{
	for (int i = 0; i < launches; i++) {
		const int stream = 2 * thread + i % 2;

		hipLaunchKernelGGL(hang, dim3(1 + i, 1 + stream, 10000), dim3(64), 0,
				   streams[stream], memory);
		printf("%ld %p %d %d\n", (long)syscall(SYS_gettid), (void *)streams[stream],
		       64 * (1 + i), 1 + stream);
	}
}

static void work(int thread)
{
	(void)hipStreamSynchronize(streams[2 * thread]);
}

int main(int argc, char **argv)
{
	char line[8];

	for (hipStream_t &stream : streams)
		if (hipStreamCreate(&stream))
			return 3;
	if (hipMalloc((void **)&memory, 64))
		return 3;
	for (int i = 0; i < 2; i++)
		std::thread(launch, i, atoi(argv[argc - 1])).join();
	for (int i = 0; i < 2; i++)
		std::thread(work, i).detach();
	puts("");
	fflush(stdout);
	if (fgets(line, sizeof(line), stdin))
		abort();
	_exit(0);
}
