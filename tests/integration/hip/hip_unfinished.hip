/* SPDX-License-Identifier: MIT */
/* hip_unfinished kill|_exit|exec: a thread waits for a stream whose callback does not return, within a range of roctx
 * and with another one started; meanwhile the process ends in that way. Prints the thread's id, and the stream that it
 * waits for. */
#include <hip/hip_runtime.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

extern "C" {
#pragma weak roctxRangePushA
#pragma weak roctxRangePop
#pragma weak roctxRangeStartA
int roctxRangePushA(const char *message);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *message);
}

__global__ void kernel(int *out)
{
	*out = 1;
}

static volatile int waits;

static void stay(hipStream_t, hipError_t, void *)
{
	for (;;)
		pause();
}

static void work()
{
	hipStream_t stream;
	int *memory;

	if (hipStreamCreate(&stream) || hipMalloc((void **)&memory, 64))
		_exit(3);
	roctxRangePushA("done");
	roctxRangePop();
	roctxRangeStartA("job");
	roctxRangePushA("step");
	hipLaunchKernelGGL(kernel, dim3(1), dim3(64), 0, stream, memory);
	printf("thread %ld stream 0x%lx\n", (long)syscall(SYS_gettid), (unsigned long)stream);
	fflush(stdout);
	if (hipStreamAddCallback(stream, stay, nullptr, 0))
		_exit(3);
	waits = 1;
	(void)hipStreamSynchronize(stream);
	_exit(4);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	char *const command[] = {(char *)"true", nullptr};

	std::thread(work).detach();
	while (!waits)
		usleep(1000);
	usleep(500000); /* it is about to call; then it waits for ever */
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "exec"))
		execvp(*command, command);
	_exit(0);
}
