/* SPDX-License-Identifier: MIT */
#include "publish.h"

#include <rtl/events.h>
#include <string.h>

#include "agents.h"
#include "interceptor.h"
#include "kernel_table.h"

#define SAME_PACKET(type)                                                                          \
	_Static_assert(offsetof(struct type, packet_id) == offsetof(struct packet, packet_id) &&   \
			       offsetof(struct type, flags) == offsetof(struct packet, flags),     \
		       "they begin alike")
SAME_PACKET(dispatch);
SAME_PACKET(barrier);

static const struct work_scope no_scope;
static uint64_t barrier_uids[3]; /* by kind; written once, before there is a queue */

void publish_init(void)
{
	barrier_uids[RTL_HSA_BARRIER_AND] =
		interceptor_tracepoint("barrier", "barrier-AND", NULL, 0);
	barrier_uids[RTL_HSA_BARRIER_OR] = interceptor_tracepoint("barrier", "barrier-OR", NULL, 0);
}

/* A begin, whose number is even, is published where the program submits. That may be on the
 * runtime's own thread. What has not finished is given up at once. */
static inline struct rtl_record *reserve(struct rtl_stream *stream, uint16_t type, uint32_t size)
{
	return type == RTL_TASK_UNFINISHED || (!(type & 1) && handler_thread_is_this())
		       ? rtl_try_reserve(stream, type, size)
		       : rtl_reserve(stream, type, size);
}

void publish_payload(struct rtl_stream *stream, uint16_t type, const struct publish_ids *ids,
		     const void *payload, uint32_t size)
{
	struct rtl_record *record = rtl_enabled(stream, type) ? reserve(stream, type, size) : NULL;

	if (!record)
		return;
	record->uid = ids->uid;
	record->parent_uid = ids->parent_uid;
	record->instance = ids->instance;
	record->correlation = ids->correlation;
	memcpy(rtl_record_payload(record), payload, size);
	rtl_commit(record);
}

void publish_metadata(uint64_t uid, uint64_t parent_uid, const struct rtl_hsa_metadata *payload)
{
	publish_payload(interceptor.stream, RTL_METADATA,
			&(struct publish_ids){.uid = uid, .parent_uid = parent_uid}, payload,
			sizeof(*payload));
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
	scope = scope ? scope : &no_scope;
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
	payload->scope = scope->scope;
	payload->scope_instance = scope->scope_instance;
	payload->call_ns = scope->call_ticks ? rtl_ticks_to_ns(scope->call_ticks) : 0;
	payload->hip_stream = scope->hip_stream;
	payload->range = scope->range;
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

/* ---- copies */

/* Tracepoints by path. Whoever finds none registers it, which gives the same id however often it
 * is done: so relaxed, key and id in turn; a path that shares its place is registered anew. */
static struct path {
	uint64_t key, uid;
} paths[256];

static uint64_t register_path(const struct copy *copy, uint64_t key)
{
	const uint64_t uid = interceptor_tracepoint(
		"copy", rtl_hsa_copy_direction_text(copy->direction), NULL, key);

	if (uid) {
		interceptor_set_number(uid, "src_gpu", copy->src_node);
		interceptor_set_number(uid, "dst_gpu", copy->dst_node);
	}
	return uid;
}

uint64_t publish_copy_path(const struct copy *copy)
{
	const uint64_t key =
		(uint64_t)copy->direction << 32 | (uint64_t)copy->src_node << 16 | copy->dst_node;
	struct path *path = &paths[(key * 0x9e3779b97f4a7c15u) >> 56];
	uint64_t uid;

	/* Acquire: pairs with the release below, the id belongs to the key. A place is written once. */
	if (__atomic_load_n(&path->uid, __ATOMIC_ACQUIRE) &&
	    __atomic_load_n(&path->key, __ATOMIC_RELAXED) == key)
		return __atomic_load_n(&path->uid, __ATOMIC_RELAXED);
	uid = register_path(copy, key);
	uint64_t none = 0;
	/* The key is never 0 but for fills of node 0, which do not exist. */
	if (uid && __atomic_compare_exchange_n(&path->key, &none, key, false, __ATOMIC_RELAXED,
					       __ATOMIC_RELAXED))
		__atomic_store_n(&path->uid, uid, __ATOMIC_RELEASE);
	return uid;
}

uint8_t copy_direction(uint16_t src_node, uint16_t dst_node)
{
	if (src_node && dst_node)
		return src_node == dst_node ? RTL_HSA_COPY_DEVICE_TO_DEVICE : RTL_HSA_COPY_PEER;
	if (src_node)
		return RTL_HSA_COPY_DEVICE_TO_HOST;
	return dst_node ? RTL_HSA_COPY_HOST_TO_DEVICE : RTL_HSA_COPY_HOST_TO_HOST;
}

void publish_copy(uint16_t type, const struct copy *copy, const struct work_scope *scope,
		  struct work_times times)
{
	const struct agent *agent = agents_find_node(copy->node);
	const uint64_t uid = publish_copy_path(copy);
	struct rtl_record *record = reserve(interceptor.copies, type, sizeof(struct rtl_hsa_copy));

	if (!record)
		return;
	if (!scope)
		scope = &no_scope;
	record->uid = uid;
	record->parent_uid = agent ? agent->uid : 0;
	record->instance = copy->number;
	record->correlation = scope->correlation;
	*(struct rtl_hsa_copy *)rtl_record_payload(record) = (struct rtl_hsa_copy){
		.begin_ns = times.begin_ns,
		.end_ns = times.end_ns,
		.submit_ns = copy->submit_ticks ? rtl_ticks_to_ns(copy->submit_ticks) : 0,
		.bytes = copy->bytes,
		.src = copy->src,
		.dst = copy->dst,
		.signal = copy->signal,
		.gpu = copy->node,
		.src_gpu = copy->src_node,
		.dst_gpu = copy->dst_node,
		.direction = copy->direction,
		.kind = copy->function,
		.engine = copy->engine,
		.submit_tid = copy->submit_tid,
		.flags = copy->flags,
		.extent_x = copy->extent[0],
		.extent_y = copy->extent[1],
		.extent_z = copy->extent[2],
		.parts = copy->parts,
		.scope = scope->scope,
		.scope_instance = scope->scope_instance,
		.call_ns = scope->call_ticks ? rtl_ticks_to_ns(scope->call_ticks) : 0,
		.hip_stream = scope->hip_stream,
		.range = scope->range,
		.status = copy->status,
	};
	rtl_commit(record);
}
