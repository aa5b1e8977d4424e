/* SPDX-License-Identifier: MIT */
/*
 * hsa_again [ROUNDS]: starts and ends the HSA runtime again and again, with dispatches and a copy,
 * and leaves it to the runtime to destroy the queue. Prints "hsa_again: ok". The kernels have no
 * names (kernel object 0).
 */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../programs/hang_guard.h"

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("hsa_again: FAILED: line %d: %s\n", __LINE__, #condition);          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)
#define PACKETS    256
#define DISPATCHES 10

static hsa_status_t find_gpu(hsa_agent_t agent, void *data)
{
	hsa_agent_t *gpu = data;
	hsa_device_type_t type;

	CHECK(!hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_GPU && !gpu->handle)
		*gpu = agent;
	return HSA_STATUS_SUCCESS;
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

static hsa_status_t find_pool(hsa_amd_memory_pool_t pool, void *data)
{
	hsa_amd_memory_pool_t *found = data;

	if (!found->handle)
		*found = pool;
	return HSA_STATUS_SUCCESS;
}

/* From one part of the GPU's memory to another. */
static void copy(hsa_agent_t gpu)
{
	hsa_amd_memory_pool_t pool = {0};
	hsa_signal_t done;
	char *memory;

	CHECK(!hsa_amd_agent_iterate_memory_pools(gpu, find_pool, &pool));
	CHECK(!hsa_amd_memory_pool_allocate(pool, 8192, 0, (void **)&memory));
	CHECK(!hsa_signal_create(1, 0, NULL, &done));
	CHECK(!hsa_amd_memory_async_copy(memory, gpu, memory + 4096, gpu, 4096, 0, NULL, done));
	while (hsa_signal_wait_scacquire(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
					 HSA_WAIT_STATE_BLOCKED))
		;
	CHECK(!hsa_signal_destroy(done));
}

static void one_round(void)
{
	hsa_agent_t gpu = {0};
	hsa_signal_t last;
	hsa_queue_t *queue;

	CHECK(!hsa_init());
	CHECK(!hsa_iterate_agents(find_gpu, &gpu));
	CHECK(!hsa_queue_create(gpu, PACKETS, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX,
				UINT32_MAX, &queue));
	CHECK(!hsa_signal_create(1, 0, NULL, &last));
	for (int i = 1; i <= DISPATCHES; i++)
		dispatch(queue, i == DISPATCHES ? last : (hsa_signal_t){0});
	while (hsa_signal_wait_scacquire(last, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
					 HSA_WAIT_STATE_BLOCKED))
		;
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
