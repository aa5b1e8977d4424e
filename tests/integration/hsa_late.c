/* SPDX-License-Identifier: MIT */
/*
 * hsa_late [DISPATCHES]: ends the HSA runtime while a subscriber is far behind with the dispatches,
 * all of which have ended, begins it again, and leaves the second time with some that have not
 * ended. Prints "hsa_late: ok". The kernels have no names (kernel object 0).
 */
#include <hsa/hsa.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			printf("hsa_late: FAILED: line %d: %s\n", __LINE__, #condition);           \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)
#define PACKETS 4096

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
	hsa_kernel_dispatch_packet_t *packet;

	while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
		;
	packet = (hsa_kernel_dispatch_packet_t *)queue->base_address + index % queue->size;
	memset((char *)packet + 4, 0, sizeof(*packet) - 4);
	packet->grid_size_x = packet->workgroup_size_x = 64;
	packet->grid_size_y = packet->workgroup_size_y = 1;
	packet->grid_size_z = packet->workgroup_size_z = 1;
	packet->completion_signal = completion;
	__atomic_store_n((uint32_t *)packet, header | 1u << 16, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

/* What is not waited for is under way when this returns. */
static void one_round(long waited, long left)
{
	hsa_agent_t gpu = {0};
	hsa_signal_t last;
	hsa_queue_t *queue;

	CHECK(!hsa_init());
	CHECK(!hsa_iterate_agents(find_gpu, &gpu) && gpu.handle);
	CHECK(!hsa_queue_create(gpu, PACKETS, HSA_QUEUE_TYPE_SINGLE, NULL, NULL, UINT32_MAX,
				UINT32_MAX, &queue));
	CHECK(!hsa_signal_create(1, 0, NULL, &last));
	for (long i = 1; i <= waited; i++)
		dispatch(queue, i == waited ? last : (hsa_signal_t){0});
	while (hsa_signal_wait_scacquire(last, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
					 HSA_WAIT_STATE_BLOCKED))
		;
	for (long i = 0; i < left; i++)
		dispatch(queue, (hsa_signal_t){0});
	CHECK(!hsa_signal_destroy(last));
}

int main(int argc, char **argv)
{
	const long dispatches = argc > 1 ? atol(argv[1]) : 2000;

	one_round(dispatches, 0);
	CHECK(!hsa_shut_down());
	one_round(dispatches, 20);
	printf("hsa_late: ok\n");
	return 0;
}
