/* SPDX-License-Identifier: MIT */
/* The stream rtl.hsa.copy: see copy_publish.h. */
#include "copy_publish.h"

#include <rtl/events.h>
#include <rtl/plugin.h>
#include <stdio.h>

#include "agents.h"
#include "harvest.h"
#include "interceptor.h"
#include "publish.h"
#include "slots.h"

static const char *const names[] = {
	[RTL_HSA_COPY_NONE] = "FillBuffer",
	[RTL_HSA_COPY_HOST_TO_DEVICE] = "CopyHostToDevice",
	[RTL_HSA_COPY_DEVICE_TO_HOST] = "CopyDeviceToHost",
	[RTL_HSA_COPY_DEVICE_TO_DEVICE] = "CopyDeviceToDevice",
	[RTL_HSA_COPY_PEER] = "CopyPeerToPeer",
	[RTL_HSA_COPY_HOST_TO_HOST] = "CopyHostToHost",
};

/* Tracepoints by path. Whoever finds none registers it, which gives the same id however often it
 * is done: so relaxed, key and id in turn; a path that shares its place is registered anew. */
static struct path {
	_Atomic uint64_t key, uid;
} paths[256];

static uint64_t register_path(const struct slot *slot, uint64_t key)
{
	struct rtl_tracepoint_desc desc = {.struct_size = sizeof(desc),
					   .kind = "copy",
					   .name = names[slot->direction],
					   .hash = key};
	uint64_t uid = 0;

	if (rtl_tracepoint_register(&desc, &uid))
		return 0;
	interceptor_set_number(uid, "src_gpu", slot->src_node);
	interceptor_set_number(uid, "dst_gpu", slot->dst_node);
	return uid;
}

static uint64_t path_uid(const struct slot *slot)
{
	const uint64_t key =
		(uint64_t)slot->direction << 32 | (uint64_t)slot->src_node << 16 | slot->dst_node;
	struct path *path = &paths[(key * 0x9e3779b97f4a7c15u) >> 56];
	uint64_t uid;

	/* Acquire: pairs with the release below, the id belongs to the key. A place is written
	 * once. */
	if (atomic_load_explicit(&path->uid, memory_order_acquire) &&
	    atomic_load_explicit(&path->key, memory_order_relaxed) == key)
		return atomic_load_explicit(&path->uid, memory_order_relaxed);
	uid = register_path(slot, key);
	uint64_t none = 0;
	/* The key is never 0 but for fills of node 0, which do not exist. */
	if (uid && atomic_compare_exchange_strong_explicit(
			   &path->key, &none, key, memory_order_relaxed, memory_order_relaxed))
		atomic_store_explicit(&path->uid, uid, memory_order_release);
	return uid;
}

static const struct agent *find_agent(uint32_t node)
{
	uint32_t count;
	const struct agent *list = agents_list(&count);

	for (uint32_t i = 0; i < count && node; i++) {
		if (list[i].node == node)
			return &list[i];
	}
	return NULL;
}

struct uids {
	uint64_t path, agent;
};

static struct uids find_uids(const struct slot *slot)
{
	const struct agent *agent = find_agent(slot->node);

	return (struct uids){path_uid(slot), agent ? agent->uid : 0};
}

struct times {
	uint64_t begin_ns, end_ns;
};

static void publish(struct rtl_record *record, const struct slot *slot, struct uids uids,
		    struct times times)
{
	struct rtl_hsa_copy *payload = rtl_record_payload(record);

	record->uid = uids.path;
	record->parent_uid = uids.agent;
	record->instance = slot->packet_id;
	record->correlation = slot->correlation;
	*payload = (struct rtl_hsa_copy){
		.begin_ns = times.begin_ns,
		.end_ns = times.end_ns,
		.submit_ns = rtl_ticks_to_ns(slot->submit_ticks),
		.bytes = slot->bytes,
		.src = slot->src,
		.dst = slot->dst,
		.signal = slot->watched,
		.gpu = slot->node,
		.src_gpu = slot->src_node,
		.dst_gpu = slot->dst_node,
		.direction = slot->direction,
		.kind = slot->copy_function,
		.engine = slot->engine,
		.submit_tid = slot->submit_tid,
		.flags = slot->flags,
		.extent_x = slot->grid[0],
		.extent_y = slot->grid[1],
		.extent_z = slot->grid[2],
		.parts = slot->parts,
		.scope = slot->in_scope ? slot->scope : 0,
		.scope_instance = slot->in_scope ? slot->scope_instance : 0,
		.call_ns =
			slot->in_scope && slot->call_ticks ? rtl_ticks_to_ns(slot->call_ticks) : 0,
		.hip_stream = slot->in_scope ? slot->hip_stream : 0,
		.range = slot->in_scope ? slot->range : 0,
	};
	if (slot->flags & RTL_HSA_COPY_FAILED)
		payload->status = (uint32_t)slot->end_ticks;
	rtl_commit(record);
}

void copy_publish_begin(const struct slot *slot)
{
	const struct uids uids = find_uids(slot);
	struct rtl_record *record = publish_reserve(interceptor.copies, RTL_TRANSFER_BEGIN,
						    sizeof(struct rtl_hsa_copy));

	if (record)
		publish(record, slot, uids, (struct times){0, 0});
}

/* The times that the slot holds; a thread of the runtime's takes those of the system clock. */
static struct times slot_times(const struct slot *slot, const struct agent *agent)
{
	struct times times = {0, 0};

	if (slot->flags & (RTL_HSA_COPY_FAILED | RTL_HSA_COPY_NO_TIME) || !slot->begin_ticks ||
	    !slot->end_ticks)
		return times;
	/* The end first: the runtime may take a new calibration for it, which serves both. */
	times.end_ns = agent ? publish_gpu_ns(agent->handle, slot->end_ticks)
			     : publish_system_ns(slot->end_ticks);
	times.begin_ns = agent ? publish_gpu_ns(agent->handle, slot->begin_ticks)
			       : publish_system_ns(slot->begin_ticks);
	if (!times.begin_ns || !times.end_ns)
		times = (struct times){0, 0};
	return times;
}

static void publish_ended(const struct slot *slot, struct times times)
{
	const struct uids uids = find_uids(slot);
	struct rtl_record *record;

	harvest_out();
	record = rtl_reserve(interceptor.copies, RTL_TRANSFER_END, sizeof(struct rtl_hsa_copy));
	if (record)
		publish(record, slot, uids, times);
	harvest_in();
}

void copy_publish_end(const struct slot *slot)
{
	struct times times;

	if (!rtl_enabled(interceptor.copies, RTL_TRANSFER_END))
		return;
	times = slot_times(slot, find_agent(slot->node));
	if (!times.end_ns && !(slot->flags & RTL_HSA_COPY_FAILED)) {
		struct slot timeless = *slot;

		timeless.flags |= RTL_HSA_COPY_NO_TIME;
		publish_ended(&timeless, times);
		return;
	}
	publish_ended(slot, times);
}

void copy_publish_call(const struct slot *slot, uint64_t end_ticks)
{
	if (rtl_enabled(interceptor.copies, RTL_TRANSFER_END))
		publish_ended(slot, (struct times){rtl_ticks_to_ns(slot->submit_ticks),
						   rtl_ticks_to_ns(end_ticks)});
}
