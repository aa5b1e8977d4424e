/* SPDX-License-Identifier: MIT */
/*
 * hsa_handler: a handler of the program's keeps the runtime's own handler thread busy until a
 * signal is 0 that two dispatches count down, submitted meanwhile. The GPU needs nobody's help for
 * that, so that it ends. Prints "hsa_handler: ok". The kernels have no names (kernel object 0).
 */
#define PROGRAM "hsa_handler"
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hsa_program.h"

#define PACKETS     256
#define ROUNDS      20
#define DISPATCHES  2
#define PATIENCE_NS 120000000000u

static hsa_signal_t counted;
static atomic_int entered, left;

/* The runtime's handler thread; until it returns, no other handler runs. */
static bool handler(hsa_signal_value_t value, void *data)
{
	const uint64_t deadline = monotonic_ns() + PATIENCE_NS;

	(void)value;
	(void)data;
	entered++;
	while (hsa_signal_load_scacquire(counted) > 0)
		CHECK(monotonic_ns() < deadline);
	left++;
	return false;
}

static void one_round(hsa_queue_t *queue, int round)
{
	hsa_signal_t start;

	CHECK(!hsa_signal_create(DISPATCHES, 0, NULL, &counted));
	CHECK(!hsa_signal_create(1, 0, NULL, &start));
	CHECK(!hsa_amd_signal_async_handler(start, HSA_SIGNAL_CONDITION_LT, 1, handler, NULL));
	hsa_signal_store_screlease(start, 0);
	while (entered <= round)
		;
	for (int i = 0; i < DISPATCHES; i++)
		dispatch_nothing(queue, counted);
	while (left <= round)
		;
	CHECK(!hsa_signal_destroy(start));
	CHECK(!hsa_signal_destroy(counted));
}

int main(void)
{
	hsa_agent_t gpu = {0};
	hsa_queue_t *queue;

	CHECK(!hsa_init());
	CHECK(!hsa_iterate_agents(find_gpu, &gpu) && gpu.handle);
	CHECK(!hsa_queue_create(gpu, PACKETS, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX,
				UINT32_MAX, &queue));
	for (int round = 0; round < ROUNDS; round++)
		one_round(queue, round);
	CHECK(!hsa_queue_destroy(queue));
	CHECK(!hsa_shut_down());
	printf("hsa_handler: ok\n");
	return 0;
}
