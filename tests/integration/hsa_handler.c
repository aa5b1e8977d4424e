/* SPDX-License-Identifier: MIT */
/*
 * hsa_handler: a handler of the program's keeps the runtime's own handler thread busy until a
 * signal is 0 that two dispatches count down, submitted meanwhile. The GPU needs nobody's help for
 * that, so that it ends. Prints "hsa_handler: ok". The kernels have no names (kernel object 0).
 */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../programs/hang_guard.h"

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("hsa_handler: FAILED: line %d: %s\n", __LINE__, #condition);        \
			fflush(stdout);                                                            \
			_Exit(1);                                                                  \
		}                                                                                  \
	} while (0)
#define PACKETS     256
#define ROUNDS      20
#define DISPATCHES  2
#define PATIENCE_NS 120000000000u

static hsa_signal_t counted;
static atomic_int entered, left;

static hsa_status_t find_gpu(hsa_agent_t agent, void *data)
{
	hsa_agent_t *gpu = data;
	hsa_device_type_t type;

	CHECK(!hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_GPU && !gpu->handle)
		*gpu = agent;
	return HSA_STATUS_SUCCESS;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void dispatch(hsa_queue_t *queue, hsa_signal_t completion)
{
	const uint16_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE |
				1 << HSA_PACKET_HEADER_BARRIER;
	const uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
	hsa_kernel_dispatch_packet_t *packet =
		(hsa_kernel_dispatch_packet_t *)queue->base_address + index % PACKETS;

	memset((char *)packet + 4, 0, sizeof(*packet) - 4);
	packet->grid_size_x = packet->workgroup_size_x = 64;
	packet->grid_size_y = packet->workgroup_size_y = 1;
	packet->grid_size_z = packet->workgroup_size_z = 1;
	packet->completion_signal = completion;
	__atomic_store_n((uint32_t *)packet, header | 1u << 16, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

/* The runtime's handler thread; until it returns, no other handler runs. */
static bool handler(hsa_signal_value_t value, void *data)
{
	const uint64_t deadline = now_ns() + PATIENCE_NS;

	(void)value;
	(void)data;
	entered++;
	while (hsa_signal_load_scacquire(counted) > 0)
		CHECK(now_ns() < deadline);
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
		dispatch(queue, counted);
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
