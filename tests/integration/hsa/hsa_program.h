/* SPDX-License-Identifier: MIT */
/*
 * hsa_program.h: what the HSA programs of these tests have in common, beside
 * tests/programs/check.h: a program defines PROGRAM, its name, before it includes this.
 */
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <string.h>

#include "../../programs/check.h"

/* For hsa_iterate_agents; data: the first GPU, 0 before. */
static inline hsa_status_t find_gpu(hsa_agent_t agent, void *data)
{
	hsa_agent_t *gpu = data;
	hsa_device_type_t type;

	CHECK(!hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_GPU && !gpu->handle)
		*gpu = agent;
	return HSA_STATUS_SUCCESS;
}

static inline hsa_agent_t first_gpu(void)
{
	hsa_agent_t gpu = {0};

	CHECK(!hsa_iterate_agents(find_gpu, &gpu) && gpu.handle);
	return gpu;
}

static inline hsa_signal_t create_signal(hsa_signal_value_t value)
{
	hsa_signal_t signal;

	CHECK(!hsa_signal_create(value, 0, NULL, &signal));
	return signal;
}

static inline hsa_queue_t *create_queue(hsa_agent_t agent, uint32_t packets,
					hsa_queue_type32_t type)
{
	hsa_queue_t *queue;

	CHECK(!hsa_queue_create(agent, packets, type, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
	return queue;
}

/* For hsa_amd_agent_iterate_memory_pools; data: the first global pool, 0 before. */
static inline hsa_status_t find_pool(hsa_amd_memory_pool_t pool, void *data)
{
	hsa_amd_memory_pool_t *found = data;
	hsa_amd_segment_t segment;

	CHECK(!hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
	if (segment == HSA_AMD_SEGMENT_GLOBAL && !found->handle)
		*found = pool;
	return HSA_STATUS_SUCCESS;
}

/* A dispatch of a kernel without code, in order, when there is room for it. */
static inline void dispatch_nothing(hsa_queue_t *queue, hsa_signal_t completion)
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

/* Until the signal is below 1, without end: see hang_guard.h. */
static inline void wait_done(hsa_signal_t signal)
{
	while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
					 HSA_WAIT_STATE_BLOCKED) >= 1)
		;
}
