/* SPDX-License-Identifier: MIT */
/* Events of rtl.hsa: see publish.h. */
#include "publish.h"

#include <rtl/rocm.h>

#include "collector.h"
#include "kernel_table.h"
#include "queue.h"

void publish_metadata(uint64_t uid, uint64_t parent_uid, uint64_t address, uint64_t name,
		      uint32_t node)
{
	struct rtl_record *record;

	if (!rtl_enabled(collector.stream, RTL_METADATA))
		return;
	record = rtl_reserve(collector.stream, RTL_METADATA, sizeof(struct rtl_hsa_metadata));
	if (!record)
		return;
	record->uid = uid;
	record->parent_uid = parent_uid;
	*(struct rtl_hsa_metadata *)rtl_record_payload(record) =
		(struct rtl_hsa_metadata){.address = address, .name = name, .gpu = node};
	rtl_commit(record);
}

void publish_queue(uint16_t type, const struct queue *queue)
{
	struct rtl_record *record;

	if (!rtl_enabled(collector.stream, type))
		return;
	record = rtl_reserve(collector.stream, type, sizeof(struct rtl_hsa_queue));
	if (!record)
		return;
	record->uid = queue->uid;
	record->parent_uid = queue->agent_uid;
	record->instance = queue->number;
	*(struct rtl_hsa_queue *)rtl_record_payload(record) = (struct rtl_hsa_queue){
		.address = (uint64_t)(uintptr_t)queue->hsa,
		.gpu = queue->node,
		.queue = queue->number,
		.packets = queue->packets,
		.type = queue->type,
	};
	rtl_commit(record);
}

/* A queue's number and a packet's index name a dispatch for as long as the process lives. */
static uint64_t instance_of(const struct queue *queue, const struct slot *slot)
{
	return (uint64_t)queue->number << 44 | ((slot->packet_id + 1) & ((1ull << 44) - 1));
}

static void fill(struct rtl_record *record, const struct queue *queue, const struct slot *slot,
		 uint64_t begin_ns, uint64_t end_ns)
{
	struct rtl_hsa_dispatch *payload = rtl_record_payload(record);

	record->uid = slot->kernel->uid;
	record->parent_uid = queue->uid;
	record->instance = instance_of(queue, slot);
	record->correlation = slot->correlation;
	payload->begin_ns = begin_ns;
	payload->end_ns = end_ns;
	payload->submit_ns = rtl_ticks_to_ns(slot->submit_ticks);
	payload->packet_id = slot->packet_id;
	payload->kernel_object = slot->kernel_object;
	payload->kernel_name = slot->kernel->name;
	payload->gpu = queue->node;
	payload->queue = queue->number;
	payload->submit_tid = slot->submit_tid;
	payload->flags = slot->flags;
	payload->grid_x = slot->grid[0];
	payload->grid_y = slot->grid[1];
	payload->grid_z = slot->grid[2];
	payload->workgroup_x = slot->workgroup[0];
	payload->workgroup_y = slot->workgroup[1];
	payload->workgroup_z = slot->workgroup[2];
	payload->group_segment_bytes = slot->group_bytes;
	payload->private_segment_bytes = slot->private_bytes;
}

void publish_begin(const struct queue *queue, const struct slot *slot)
{
	struct rtl_record *record =
		rtl_try_reserve(collector.stream, RTL_TASK_BEGIN, sizeof(struct rtl_hsa_dispatch));

	if (!record)
		return;
	fill(record, queue, slot, 0, 0);
	rtl_commit(record);
}

uint64_t publish_system_ns(uint64_t ticks)
{
	if (collector.clock_ns_per_tick != 1.0)
		ticks = (uint64_t)((double)ticks * collector.clock_ns_per_tick);
	return ticks + (uint64_t)collector.clock_offset_ns;
}

uint64_t publish_gpu_ns(hsa_agent_t agent, uint64_t gpu_ticks)
{
	uint64_t ticks = 0;

	if (!gpu_ticks || collector.hsa.convert_tick(agent, gpu_ticks, &ticks))
		return 0;
	return publish_system_ns(ticks);
}

void publish_end(const struct queue *queue, const struct slot *slot)
{
	struct rtl_record *record;
	struct rtl_hsa_dispatch *payload;

	if (!rtl_enabled(collector.stream, RTL_TASK_END))
		return;
	/* The end first: the runtime may take a new calibration for it, which serves both. */
	const uint64_t end_ns = publish_gpu_ns(queue->agent, slot->end_ticks);
	const uint64_t begin_ns = publish_gpu_ns(queue->agent, slot->begin_ticks);

	record = rtl_reserve(collector.stream, RTL_TASK_END, sizeof(struct rtl_hsa_dispatch));
	if (!record)
		return;
	fill(record, queue, slot, begin_ns, end_ns);
	if (!begin_ns || !end_ns) {
		payload = rtl_record_payload(record);
		payload->flags |= RTL_HSA_DISPATCH_NO_TIME;
		payload->begin_ns = payload->end_ns = 0;
	}
	rtl_commit(record);
}
