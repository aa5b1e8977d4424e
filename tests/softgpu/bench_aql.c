/* SPDX-License-Identifier: MIT
 *
 * bench_aql [DISPATCHES [SIGNAL_EVERY]]: dispatches a second that ROCr's user-mode queue and
 * the software GPU do, written as AQL packets by one thread. Every SIGNAL_EVERYth (default
 * 1) has a completion signal. Set SOFTGPU_KERNEL_NS=0. Prints the best of five.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hsa_fixture.h"

#define ROUNDS 5

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double run(hsa_queue_t *queue, hsa_signal_t signal, long dispatches, long every)
{
	hsa_signal_t none = {0};
	double begin = seconds();

	hsa_signal_store_relaxed(signal, (dispatches + every - 1) / every);
	for (long i = 0; i < dispatches; i++) {
		hsa_kernel_dispatch_packet_t packet =
			fixture_dispatch(64, (dispatches - i) % every == 1 % every ? signal : none);

		fixture_submit(queue, &packet);
	}
	if (!fixture_wait(signal, 600))
		exit(1);
	return seconds() - begin;
}

int main(int argc, char **argv)
{
	long dispatches = argc > 1 ? atol(argv[1]) : 500000;
	long every = argc > 2 ? atol(argv[2]) : 1;
	double best = 1e9;
	struct fixture f;
	hsa_queue_t *queue;

	fixture_open(&f);
	queue = fixture_queue(&f, 4096, NULL, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		double time = run(queue, fixture_signal(0), dispatches, every);

		best = time < best ? time : best;
	}
	printf("%.0f dispatches/s, %.0f ns each\n", (double)dispatches / best,
	       best / (double)dispatches * 1e9);
	fixture_close();
	return 0;
}
