/* SPDX-License-Identifier: MIT */
/*
 * hsa_begin_end [ROUNDS]: three threads begin and end the HSA runtime, each on its own, so that it
 * begins in one while it ends in another; in between each uses it. Prints "hsa_begin_end: ok".
 */
#define _GNU_SOURCE
#define PROGRAM "hsa_begin_end"
#include "hsa_program.h"

#include "../../programs/hang_guard.h"

static long rounds = 100;

static void use(void)
{
	hsa_agent_t gpu = first_gpu();
	hsa_queue_t *queue = create_queue(gpu, 64, HSA_QUEUE_TYPE_MULTI);
	hsa_signal_t done = create_signal(1);

	for (int i = 0; i < 10; i++) {
		hsa_signal_store_relaxed(done, 1);
		dispatch(queue, 64, done);
		wait_done(done);
	}
	CHECK(!hsa_signal_destroy(done));
	CHECK(!hsa_queue_destroy(queue));
}

static void *begin_and_end(void *data)
{
	const bool uses = data;

	for (long i = 0; i < rounds; i++) {
		CHECK(!hsa_init());
		if (uses)
			use();
		CHECK(!hsa_shut_down());
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];

	if (argc > 1)
		rounds = atol(argv[1]);
	for (int i = 0; i < 3; i++)
		CHECK(!pthread_create(&threads[i], NULL, begin_and_end, i ? argv : NULL));
	for (int i = 0; i < 3; i++)
		CHECK(!pthread_join(threads[i], NULL));
	printf("hsa_begin_end: ok\n");
	return 0;
}
