/* SPDX-License-Identifier: MIT */
/*
 * Queues of newer runtimes: made by descriptors (hsa_amd_queue_create, which HIP uses from 7.15 on), or shared and
 * counted (hsa_amd_counted_queue_acquire). See queue.h.
 *
 * An intercepted queue has its ring in the system's memory, whatever a descriptor asks for; the application sees no
 * difference. Priority and mask of compute units are set before the application has it.
 */
#include "queue.h"

#define DESCRIPTOR_VERSION 1
#define ENGINE_COMPUTE     0
#define PACKET_BYTES       64

/* Whether it is one that we know, and asks for nothing that an intercepted queue cannot have. */
static bool is_representable(const struct queue_descriptor *d)
{
	return d->version == DESCRIPTOR_VERSION && !d->traffic_class &&
	       d->compute.type <= HSA_QUEUE_TYPE_COOPERATIVE && d->queue_size_bytes &&
	       d->queue_size_bytes % PACKET_BYTES == 0 &&
	       (d->priority == HSA_AMD_QUEUE_PRIORITY_NORMAL ||
		interceptor.hsa.queue_set_priority) &&
	       (!d->compute.cu_mask_count || interceptor.hsa.queue_cu_set_mask);
}

static hsa_status_t configure(hsa_queue_t *queue, const struct queue_descriptor *d)
{
	hsa_status_t status = HSA_STATUS_SUCCESS;

	if (d->priority != HSA_AMD_QUEUE_PRIORITY_NORMAL)
		status = interceptor.hsa.queue_set_priority(queue,
							    (hsa_amd_queue_priority_t)d->priority);
	if (!status && d->compute.cu_mask_count)
		status = interceptor.hsa.queue_cu_set_mask(queue, d->compute.cu_mask_count,
							   d->compute.cu_mask);
	return status;
}

static hsa_status_t create_intercepted(hsa_agent_t agent, struct queue_descriptor *d)
{
	hsa_queue_t *queue;
	hsa_status_t status =
		queue_make(agent, d->queue_size_bytes / PACKET_BYTES, d->compute.type, d->callback,
			   d->callback_data, d->compute.private_segment_size, UINT32_MAX, &queue);

	if (status)
		return status;
	status = configure(queue, d);
	if (status) {
		queue_destroy(queue);
		return status;
	}
	if (d->flags)
		rtl_log(RTL_LEVEL_INFO, "hsa",
			"a queue's ring is in the system's memory, where it can be intercepted");
	d->queue = queue;
	return HSA_STATUS_SUCCESS;
}

/* What cannot be intercepted, and what is wrong, is the runtime's. */
static hsa_status_t create_one(hsa_agent_t agent, struct queue_descriptor *d)
{
	const bool compute = d->engine_type == ENGINE_COMPUTE;
	hsa_status_t status;

	if (compute && is_representable(d) && !create_intercepted(agent, d))
		return HSA_STATUS_SUCCESS;
	status = interceptor.hsa.queue_create_described(agent, d, 1);
	if (!status && compute)
		queue_count_unseen("its descriptor asks for more than an intercepted one can have");
	return status;
}

hsa_status_t queue_create_described(hsa_agent_t agent, struct queue_descriptor *descriptors,
				    uint32_t count)
{
	hsa_status_t first = HSA_STATUS_SUCCESS;

	if (!interceptor_on() || queue_is_being_made || !descriptors || !count)
		return interceptor.hsa.queue_create_described(agent, descriptors, count);
	for (uint32_t i = 0; i < count; i++) {
		const hsa_status_t status = create_one(agent, &descriptors[i]);

		if (!first)
			first = status;
	}
	return first;
}

hsa_status_t queue_acquire_counted(hsa_agent_t agent, uint32_t type, uint32_t priority,
				   queue_error_callback callback, void *data, uint64_t flags,
				   hsa_queue_t **queue)
{
	const hsa_status_t status = interceptor.hsa.counted_queue_acquire(
		agent, type, priority, callback, data, flags, queue);

	if (!status && interceptor_on() && queue)
		queue_found_unseen(*queue, "the runtime shares it among several");
	return status;
}
