/* SPDX-License-Identifier: MIT */
/*
 * hsa_end ROUNDS DISPATCHES END: ROUNDS children, one after the other. Each submits DISPATCHES
 * dispatches and sees in the memory of the last one's signal that they have ended, which nobody can
 * notice. Then it ends at once in the way END (../../programs/end_ways.h). Prints "hsa_end: ok".
 */
#define _GNU_SOURCE
#define PROGRAM "hsa_end"
#include <hsa/amd_hsa_signal.h>

#include "hsa_program.h"

#include "../../programs/end_ways.h"

static void work(long dispatches, const char *way)
{
	hsa_agent_t gpu;
	hsa_signal_t last;
	hsa_queue_t *queue;
	const volatile int64_t *value;

	CHECK(!hsa_init());
	gpu = first_gpu();
	queue = create_queue(gpu, 4096, HSA_QUEUE_TYPE_SINGLE);
	last = create_signal(1);
	value = &((const amd_signal_t *)(uintptr_t)last.handle)->value;
	for (long i = 1; i <= dispatches; i++)
		dispatch(queue, 64, i == dispatches ? last : (hsa_signal_t){0});
	while (*value)
		;
	end_process(way);
}

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? atol(argv[1]) : 1;
	const long dispatches = argc > 2 ? atol(argv[2]) : 1;
	const char *way = argc > 3 ? argv[3] : "_exit";

	for (long i = 0; i < rounds; i++) {
		const pid_t child = fork();

		if (!child)
			work(dispatches, way);
		check_end(child, way);
	}
	printf("hsa_end: ok\n");
	return 0;
}
