/* SPDX-License-Identifier: MIT */
/*
 * hsa_storm MS: submits dispatches to one queue without a pause, and waits for none. After MS
 * milliseconds it prints the time (CLOCK_BOOTTIME, ns) and is killed.
 */
#define PROGRAM "hsa_storm"
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hsa_program.h"

static void *die(void *data)
{
	const long ms = *(const long *)data;
	struct timespec now;
	char line[32];
	int length;

	usleep((useconds_t)ms * 1000);
	clock_gettime(CLOCK_BOOTTIME, &now);
	length = snprintf(line, sizeof(line), "%lld%09ld\n", (long long)now.tv_sec, now.tv_nsec);
	CHECK(write(STDOUT_FILENO, line, (size_t)length) == length);
	kill(getpid(), SIGKILL);
	return NULL;
}

int main(int argc, char **argv)
{
	const long ms = argc > 1 ? atol(argv[1]) : 1000;
	hsa_agent_t gpu = {0};
	hsa_queue_t *queue;
	pthread_t thread;

	CHECK(!hsa_init());
	CHECK(!hsa_iterate_agents(find_gpu, &gpu) && gpu.handle);
	CHECK(!hsa_queue_create(gpu, 16384, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX,
				UINT32_MAX, &queue));
	CHECK(!pthread_create(&thread, NULL, die, (void *)(uintptr_t)&ms));
	for (;;)
		dispatch_nothing(queue, (hsa_signal_t){0});
}
