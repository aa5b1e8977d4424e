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

/* Writes a packet to a place that was taken, when there is room for it; in order, its first four bytes last. */
static inline void put_packet(hsa_queue_t *queue, uint64_t index, const void *packet)
{
	char *place = (char *)queue->base_address + 64 * (index & (queue->size - 1));
	uint32_t head;

	while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
		;
	memcpy(&head, packet, 4);
	memcpy(place + 4, (const char *)packet + 4, 60);
	__atomic_store_n((uint32_t *)place, head | 1u << HSA_PACKET_HEADER_BARRIER,
			 __ATOMIC_RELEASE);
}

/* A dispatch of a kernel without code. */
static inline void put_dispatch(hsa_queue_t *queue, uint64_t index, uint32_t work_items,
				hsa_signal_t completion)
{
	const hsa_kernel_dispatch_packet_t packet = {
		.header = HSA_PACKET_TYPE_KERNEL_DISPATCH,
		.setup = 1,
		.workgroup_size_x = 64,
		.workgroup_size_y = 1,
		.workgroup_size_z = 1,
		.grid_size_x = work_items,
		.grid_size_y = 1,
		.grid_size_z = 1,
		.completion_signal = completion,
	};

	put_packet(queue, index, &packet);
}

static inline void ring(hsa_queue_t *queue, uint64_t index)
{
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
}

static inline void submit(hsa_queue_t *queue, const void *packet)
{
	const uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);

	put_packet(queue, index, packet);
	ring(queue, index);
}

static inline void dispatch(hsa_queue_t *queue, uint32_t work_items, hsa_signal_t completion)
{
	const uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);

	put_dispatch(queue, index, work_items, completion);
	ring(queue, index);
}

/* Until the signal is below 1, without end: see hang_guard.h. */
static inline void wait_done(hsa_signal_t signal)
{
	while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
					 HSA_WAIT_STATE_BLOCKED) >= 1)
		;
}
