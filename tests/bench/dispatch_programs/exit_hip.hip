/* SPDX-License-Identifier: MIT */
/*
 * exit_hip ROUNDS THREADS: ROUNDS children, one after the other, each of which launches some kernels,
 * waits for them, and calls exit() while THREADS threads go on to launch and wait. For each one
 * line:
 *	exit NS status STATUS
 * from the call of exit() to the end of the process, and as what it ended (waitpid).
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <hip/hip_runtime.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

__global__ void nothing()
{
}

static uint64_t now_ns()
{
	timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return static_cast<uint64_t>(time.tv_sec) * 1000000000u +
	       static_cast<uint64_t>(time.tv_nsec);
}

static void launch_for_ever()
{
	hipStream_t stream;

	if (hipStreamCreate(&stream))
		_exit(1);
	for (;;) {
		for (int i = 0; i < 50; i++)
			nothing<<<1, 64, 0, stream>>>();
		(void)hipStreamSynchronize(stream);
	}
}

static void work(int threads, int to)
{
	uint64_t begin;

	for (int i = 0; i < threads; i++)
		std::thread(launch_for_ever).detach();
	for (int i = 0; i < 100; i++)
		nothing<<<1, 64>>>();
	if (hipDeviceSynchronize())
		_exit(1);
	if (threads)
		usleep(50000);
	alarm(10); /* HIP may wait for ever for what it has ended itself */
	begin = now_ns();
	if (write(to, &begin, sizeof(begin)) != sizeof(begin))
		_exit(1);
	exit(0);
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 5;
	const int threads = argc > 2 ? atoi(argv[2]) : 0;

	for (int i = 0; i < rounds; i++) {
		uint64_t begin = 0;
		int ends[2], status;

		if (pipe(ends))
			return 1;
		if (!fork())
			work(threads, ends[1]);
		wait(&status);
		const uint64_t end = now_ns();

		if (read(ends[0], &begin, sizeof(begin)) != sizeof(begin))
			return 1;
		close(ends[0]);
		close(ends[1]);
		printf("exit %llu status %d\n", static_cast<unsigned long long>(end - begin),
		       status);
		fflush(stdout);
	}
	return 0;
}
