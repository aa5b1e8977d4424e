/* SPDX-License-Identifier: MIT */
/* Events of rtl.hsa.copy: see publish.h. */
#include <rtl/events.h>

#include "agents.h"
#include "interceptor.h"
#include "publish.h"

/* Tracepoints by path. Whoever finds none registers it, which gives the same id however often it
 * is done: so relaxed, key and id in turn; a path that shares its place is registered anew. */
static struct path {
	uint64_t key, uid;
} paths[256];

static uint64_t register_path(const struct copy *copy, uint64_t key)
{
	struct rtl_tracepoint_desc desc = {.struct_size = sizeof(desc),
					   .kind = "copy",
					   .name = rtl_hsa_copy_direction_text(copy->direction),
					   .hash = key};
	uint64_t uid = 0;

	if (rtl_tracepoint_register(&desc, &uid))
		return 0;
	interceptor_set_number(uid, "src_gpu", copy->src_node);
	interceptor_set_number(uid, "dst_gpu", copy->dst_node);
	return uid;
}

static uint64_t path_uid(const struct copy *copy)
{
	const uint64_t key =
		(uint64_t)copy->direction << 32 | (uint64_t)copy->src_node << 16 | copy->dst_node;
	struct path *path = &paths[(key * 0x9e3779b97f4a7c15u) >> 56];
	uint64_t uid;

	/* Acquire: pairs with the release below, the id belongs to the key. A place is written
	 * once. */
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

void publish_copy(uint16_t type, const struct copy *copy, const struct work_scope *scope,
		  struct work_times times)
{
	static const struct work_scope none;
	const struct agent *agent = agents_find_node(copy->node);
	const uint64_t uid = path_uid(copy);
	struct rtl_record *record =
		publish_reserve(interceptor.copies, type, sizeof(struct rtl_hsa_copy));

	if (!record)
		return;
	if (!scope)
		scope = &none;
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
