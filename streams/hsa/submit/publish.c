/* SPDX-License-Identifier: MIT */
/* Events of rtl.hsa: see publish.h. */
#include "publish.h"

#include <rtl/events.h>

#include "harvest.h"
#include "interceptor.h"
#include "kernel_table.h"
#include "queue.h"
#include "relay.h"

static void write_metadata(uint64_t uid, uint64_t parent_uid,
			   const struct rtl_hsa_metadata *payload)
{
	struct rtl_record *record =
		rtl_reserve(interceptor.stream, RTL_METADATA, sizeof(struct rtl_hsa_metadata));

	if (!record)
		return;
	record->uid = uid;
	record->parent_uid = parent_uid;
	*(struct rtl_hsa_metadata *)rtl_record_payload(record) = *payload;
	rtl_commit(record);
}

void publish_metadata(uint64_t uid, uint64_t parent_uid, const struct rtl_hsa_metadata *payload)
{
	if (!rtl_enabled(interceptor.stream, RTL_METADATA))
		return;
	harvest_out();
	write_metadata(uid, parent_uid, payload);
	harvest_in();
}

void publish_queue(uint16_t type, const struct queue *queue)
{
	struct rtl_record *record;

	if (!rtl_enabled(interceptor.stream, type))
		return;
	record = rtl_reserve(interceptor.stream, type, sizeof(struct rtl_hsa_queue));
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

static uint64_t barrier_uids[3]; /* by kind; written once, before there is a queue */

void publish_init(void)
{
	static const char *const names[] = {
		[RTL_HSA_BARRIER_AND] = "barrier-AND", [RTL_HSA_BARRIER_OR] = "barrier-OR"};

	for (int kind = RTL_HSA_BARRIER_AND; kind <= RTL_HSA_BARRIER_OR; kind++) {
		const struct rtl_tracepoint_desc desc = {
			.struct_size = sizeof(desc), .kind = "barrier", .name = names[kind]};

		(void)rtl_tracepoint_register(&desc, &barrier_uids[kind]);
	}
}

static void fill_record(struct rtl_record *record, const struct queue *queue,
			const struct slot *slot)
{
	record->parent_uid = queue->uid;
	record->instance = instance_of(queue, slot);
	record->correlation = slot->correlation;
}

static void fill(struct rtl_record *record, const struct queue *queue, const struct slot *slot,
		 uint64_t begin_ns, uint64_t end_ns)
{
	struct rtl_hsa_dispatch *payload = rtl_record_payload(record);

	fill_record(record, queue, slot);
	record->uid = slot->kernel->uid;
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
	payload->scope = payload->scope_instance = payload->call_ns = 0;
	payload->hip_stream = payload->range = 0;
	if (__builtin_expect(!slot->in_scope, 1))
		return;
	payload->scope = slot->scope;
	payload->scope_instance = slot->scope_instance;
	payload->call_ns = slot->call_ticks ? rtl_ticks_to_ns(slot->call_ticks) : 0;
	payload->hip_stream = slot->hip_stream;
	payload->range = slot->range;
}

static void fill_barrier(struct rtl_record *record, const struct queue *queue,
			 const struct slot *slot, uint64_t begin_ns, uint64_t end_ns)
{
	fill_record(record, queue, slot);
	record->uid = barrier_uids[slot->grid[0]];
	*(struct rtl_hsa_barrier *)rtl_record_payload(record) = (struct rtl_hsa_barrier){
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.submit_ns = rtl_ticks_to_ns(slot->submit_ticks),
		.packet_id = slot->packet_id,
		.gpu = queue->node,
		.queue = queue->number,
		.submit_tid = slot->submit_tid,
		.flags = slot->flags,
		.kind = slot->grid[0],
		.dependencies = slot->grid[1],
	};
}

struct rtl_record *publish_reserve(struct rtl_stream *stream, uint16_t type, uint32_t size)
{
	return __builtin_expect(relay_is_runtime_thread(), 0) ? rtl_try_reserve(stream, type, size)
							      : rtl_reserve(stream, type, size);
}

void publish_begin(const struct queue *queue, const struct slot *slot)
{
	const bool barrier = slot->what == SLOT_BARRIER;
	struct rtl_record *record = publish_reserve(
		interceptor.stream, barrier ? RTL_BARRIER_BEGIN : RTL_TASK_BEGIN,
		barrier ? sizeof(struct rtl_hsa_barrier) : sizeof(struct rtl_hsa_dispatch));

	if (!record)
		return;
	if (barrier)
		fill_barrier(record, queue, slot, 0, 0);
	else
		fill(record, queue, slot, 0, 0);
	rtl_commit(record);
}

uint64_t publish_system_ns(uint64_t ticks)
{
	if (interceptor.clock_ns_per_tick != 1.0)
		ticks = (uint64_t)((double)ticks * interceptor.clock_ns_per_tick);
	return ticks + (uint64_t)interceptor.clock_offset_ns;
}

uint64_t publish_gpu_ns(hsa_agent_t agent, uint64_t gpu_ticks)
{
	uint64_t ticks = 0;

	if (!gpu_ticks || interceptor.hsa.convert_tick(agent, gpu_ticks, &ticks))
		return 0;
	return publish_system_ns(ticks);
}

static void publish_barrier_end(const struct queue *queue, const struct slot *slot,
				uint64_t begin_ns, uint64_t end_ns)
{
	struct rtl_record *record =
		rtl_reserve(interceptor.stream, RTL_BARRIER_END, sizeof(struct rtl_hsa_barrier));

	if (!record)
		return;
	fill_barrier(record, queue, slot, begin_ns, end_ns);
	rtl_commit(record);
}

static void publish_dispatch_end(const struct queue *queue, const struct slot *slot,
				 uint64_t begin_ns, uint64_t end_ns)
{
	struct rtl_record *record =
		rtl_reserve(interceptor.stream, RTL_TASK_END, sizeof(struct rtl_hsa_dispatch));

	if (!record)
		return;
	fill(record, queue, slot, begin_ns, end_ns);
	rtl_commit(record);
}

int publish_room(const struct queue *queue, const struct slot *slot)
{
	if (queue->copies)
		return rtl_room(interceptor.copies, RTL_TRANSFER_END, sizeof(struct rtl_hsa_copy));
	if (slot->what == SLOT_SILENT)
		return 0;
	if (slot->what == SLOT_BARRIER)
		return rtl_room(interceptor.stream, RTL_BARRIER_END,
				sizeof(struct rtl_hsa_barrier));
	return rtl_room(interceptor.stream, RTL_TASK_END, sizeof(struct rtl_hsa_dispatch));
}

void publish_end(struct queue *queue, struct slot *slot)
{
	const bool barrier = slot->what == SLOT_BARRIER;

	if (slot->what == SLOT_SILENT ||
	    !rtl_enabled(interceptor.stream, barrier ? RTL_BARRIER_END : RTL_TASK_END))
		return;
	/* The end first: the runtime may take a new calibration for it, which serves both. */
	uint64_t end_ns =
		gpu_clock_ns(&queue->clock, publish_gpu_ns, queue->agent, slot->end_ticks);
	uint64_t begin_ns =
		gpu_clock_ns(&queue->clock, publish_gpu_ns, queue->agent, slot->begin_ticks);

	if (!begin_ns || !end_ns) {
		slot->flags |= RTL_HSA_DISPATCH_NO_TIME;
		begin_ns = end_ns = 0;
	}
	harvest_out();
	if (barrier)
		publish_barrier_end(queue, slot, begin_ns, end_ns);
	else
		publish_dispatch_end(queue, slot, begin_ns, end_ns);
	harvest_in();
}
