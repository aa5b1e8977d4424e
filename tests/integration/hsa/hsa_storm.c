/* SPDX-License-Identifier: MIT */
/*
 * hsa_storm DISPATCHES: stops its parent, the collector, submits that many dispatches, a hundred in a millisecond, then
 * one in a millisecond for 200 of them, waits for none, and is killed. Then its parent goes on.
 */
#define PROGRAM "hsa_storm"
#include <signal.h>
#include <sys/types.h>

#include "hsa_program.h"

/* A child that lets the collector go on when this process has ended. */
static void watch_over(pid_t collector)
{
	int ends[2];
	char nothing;

	CHECK(!pipe(ends));
	if (fork()) {
		close(ends[0]);
		return;
	}
	close(ends[1]);
	while (read(ends[0], &nothing, 1) > 0)
		;
	kill(collector, SIGCONT);
	_exit(0);
}

int main(int argc, char **argv)
{
	const long dispatches = argc > 1 ? atol(argv[1]) : 1000;
	const pid_t collector = getppid();
	hsa_agent_t gpu;
	hsa_queue_t *queue;

	watch_over(collector);
	CHECK(!hsa_init());
	gpu = first_gpu();
	queue = create_queue(gpu, 16384, HSA_QUEUE_TYPE_SINGLE);
	CHECK(!kill(collector, SIGSTOP));
	for (long i = 0; i < dispatches + 200; i++) {
		if (i % 100 == 0 || i >= dispatches)
			usleep(1000);
		dispatch(queue, 64, (hsa_signal_t){0});
	}
	return kill(getpid(), SIGKILL);
}
