/* SPDX-License-Identifier: MIT */
/* Events of rtl.hsa: see publish.h. */
#include "publish.h"

#include <rtl/events.h>

#include "handler_thread.h"
#include "interceptor.h"
#include "kernel_table.h"

#define SAME_PACKET(type)                                                                          \
	_Static_assert(offsetof(struct type, packet_id) == offsetof(struct packet, packet_id) &&   \
			       offsetof(struct type, flags) == offsetof(struct packet, flags),     \
		       "they begin alike")
SAME_PACKET(dispatch);
SAME_PACKET(barrier);

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

/* A begin, whose number is even, is published where the program submits. That may be on the
 * runtime's own thread. */
static inline struct rtl_record *reserve(struct rtl_stream *stream, uint16_t type, uint32_t size)
{
	return !(type & 1) && handler_thread_is_this() ? rtl_try_reserve(stream, type, size)
						       : rtl_reserve(stream, type, size);
}

struct rtl_record *publish_reserve(struct rtl_stream *stream, uint16_t type, uint32_t size)
{
	return reserve(stream, type, size);
}

void publish_queue(uint16_t type, const struct work_queue *queue,
		   const struct rtl_hsa_queue *payload)
{
	struct rtl_record *record;

	if (!rtl_enabled(interceptor.stream, type))
		return;
	record = rtl_reserve(interceptor.stream, type, sizeof(*payload));
	if (!record)
		return;
	record->uid = queue->uid;
	record->parent_uid = queue->agent_uid;
	record->instance = queue->number;
	*(struct rtl_hsa_queue *)rtl_record_payload(record) = *payload;
	rtl_commit(record);
}

static inline void fill_record(struct rtl_record *record, const struct work_queue *queue,
			       uint64_t packet_id, const struct work_scope *scope)
{
	record->parent_uid = queue->uid;
	record->instance = publish_instance(queue, packet_id);
	record->correlation = scope ? scope->correlation : 0;
}

void publish_dispatch(uint16_t type, const struct work_queue *queue,
		      const struct dispatch *dispatch, const struct work_scope *scope,
		      struct work_times times)
{
	struct rtl_record *record =
		reserve(interceptor.stream, type, sizeof(struct rtl_hsa_dispatch));
	struct rtl_hsa_dispatch *payload;

	if (!record)
		return;
	fill_record(record, queue, dispatch->packet_id, scope);
	record->uid = dispatch->kernel->uid;
	payload = rtl_record_payload(record);
	payload->begin_ns = times.begin_ns;
	payload->end_ns = times.end_ns;
	payload->submit_ns = dispatch->submit_ticks ? rtl_ticks_to_ns(dispatch->submit_ticks) : 0;
	payload->packet_id = queue->number ? dispatch->packet_id : 0;
	payload->kernel_object = dispatch->kernel_object;
	payload->kernel_name = dispatch->kernel->name;
	payload->gpu = queue->node;
	payload->queue = queue->number;
	payload->submit_tid = dispatch->submit_tid;
	payload->flags = dispatch->flags;
	payload->grid_x = dispatch->grid[0];
	payload->grid_y = dispatch->grid[1];
	payload->grid_z = dispatch->grid[2];
	payload->workgroup_x = dispatch->workgroup[0];
	payload->workgroup_y = dispatch->workgroup[1];
	payload->workgroup_z = dispatch->workgroup[2];
	payload->group_segment_bytes = dispatch->group_bytes;
	payload->private_segment_bytes = dispatch->private_bytes;
	payload->scope = payload->scope_instance = payload->call_ns = 0;
	payload->hip_stream = payload->range = 0;
	if (scope) {
		payload->scope = scope->scope;
		payload->scope_instance = scope->scope_instance;
		payload->call_ns = scope->call_ticks ? rtl_ticks_to_ns(scope->call_ticks) : 0;
		payload->hip_stream = scope->hip_stream;
		payload->range = scope->range;
	}
	rtl_commit(record);
}

void publish_barrier(uint16_t type, const struct work_queue *queue, const struct barrier *barrier,
		     const struct work_scope *scope, struct work_times times)
{
	struct rtl_record *record =
		reserve(interceptor.stream, type, sizeof(struct rtl_hsa_barrier));

	if (!record)
		return;
	fill_record(record, queue, barrier->packet_id, scope);
	record->uid = barrier_uids[barrier->kind];
	*(struct rtl_hsa_barrier *)rtl_record_payload(record) = (struct rtl_hsa_barrier){
		.begin_ns = times.begin_ns,
		.end_ns = times.end_ns,
		.submit_ns = barrier->submit_ticks ? rtl_ticks_to_ns(barrier->submit_ticks) : 0,
		.packet_id = queue->number ? barrier->packet_id : 0,
		.gpu = queue->node,
		.queue = queue->number,
		.submit_tid = barrier->submit_tid,
		.flags = barrier->flags,
		.kind = barrier->kind,
		.dependencies = barrier->dependencies,
	};
	rtl_commit(record);
}
