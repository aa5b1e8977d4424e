/* SPDX-License-Identifier: MIT */
/*
 * hsa_again [ROUNDS]: starts and ends the HSA runtime again and again, with dispatches and a copy, and leaves it to the
 * runtime to destroy the queue. Prints "hsa_again: ok". The kernels have no names (kernel object 0).
 */
#define PROGRAM "hsa_again"

#include "hsa_program.h"

#define PACKETS    256
#define DISPATCHES 10

/* From one part of the GPU's memory to another. */
static void copy(hsa_agent_t gpu)
{
	hsa_amd_memory_pool_t pool = {0};
	hsa_signal_t done;
	char *memory;

	CHECK(!hsa_amd_agent_iterate_memory_pools(gpu, find_pool, &pool));
	CHECK(!hsa_amd_memory_pool_allocate(pool, 8192, 0, (void **)&memory));
	done = create_signal(1);
	CHECK(!hsa_amd_memory_async_copy(memory, gpu, memory + 4096, gpu, 4096, 0, NULL, done));
	wait_done(done);
	CHECK(!hsa_signal_destroy(done));
}

static void one_round(void)
{
	hsa_agent_t gpu;
	hsa_signal_t last;
	hsa_queue_t *queue;

	CHECK(!hsa_init());
	gpu = first_gpu();
	queue = create_queue(gpu, PACKETS, HSA_QUEUE_TYPE_SINGLE);
	last = create_signal(1);
	for (int i = 1; i <= DISPATCHES; i++)
		dispatch(queue, 64, i == DISPATCHES ? last : (hsa_signal_t){0});
	wait_done(last);
	CHECK(!hsa_signal_destroy(last));
	copy(gpu);
	CHECK(!hsa_shut_down());
}

int main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 20;

	for (int i = 0; i < rounds; i++)
		one_round();
	printf("hsa_again: ok\n");
	return 0;
}
