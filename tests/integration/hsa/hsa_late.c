/* SPDX-License-Identifier: MIT */
/*
 * hsa_late DISPATCHES [leave]: ends the HSA runtime while a subscriber is far behind with the dispatches,
 * all of which have ended; or leaves with some more that have not. Prints "hsa_late: ok". The kernels have no
 * names (kernel object 0).
 */
#define PROGRAM "hsa_late"

#include "hsa_program.h"

#define PACKETS 4096

/* What is not waited for is under way when this returns. */
static void one_round(long waited, long left)
{
	hsa_agent_t gpu;
	hsa_signal_t last;
	hsa_queue_t *queue;

	CHECK(!hsa_init());
	gpu = first_gpu();
	queue = create_queue(gpu, PACKETS, HSA_QUEUE_TYPE_SINGLE);
	last = create_signal(1);
	for (long i = 1; i <= waited; i++)
		dispatch(queue, 64, i == waited ? last : (hsa_signal_t){0});
	wait_done(last);
	for (long i = 0; i < left; i++)
		dispatch(queue, 64, (hsa_signal_t){0});
	CHECK(!hsa_signal_destroy(last));
}

int main(int argc, char **argv)
{
	const bool leaves = argc > 2;

	one_round(argc > 1 ? atol(argv[1]) : 2000, leaves ? 20 : 0);
	if (!leaves)
		CHECK(!hsa_shut_down());
	printf("hsa_late: ok\n");
	return 0;
}
