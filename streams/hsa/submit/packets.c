/* SPDX-License-Identifier: MIT */

#include <rtl/events.h>

#include "interceptor.h"
#include "kernel_table.h"
#include "queue.h"
#include "signal_watch.h"
#include "system_clock.h"
#include "turn.h"

static const struct work_scope *scope_of(const struct packet_slot *slot)
{
	return __builtin_expect(slot->slot.in_scope, 0) ? &slot->scope : NULL;
}

static bool is_copy(const struct packet_slot *slot)
{
	return __builtin_expect(slot->dispatch.kernel->copies, 0) && slot->copy.is_known;
}

static __attribute__((noinline)) void publish_as_copy(uint16_t type, const struct queue *queue,
						      const struct packet_slot *slot,
						      struct work_times times)
{
	const uint32_t both = RTL_HSA_DISPATCH_APP_SIGNAL | RTL_HSA_DISPATCH_NO_TIME;
	const uint32_t others = RTL_HSA_DISPATCH_CARRIED | RTL_HSA_DISPATCH_PASSED_ON;
	const struct copy copy = {
		.number = publish_instance(&queue->id, slot->packet.packet_id),
		.submit_ticks = slot->packet.submit_ticks,
		.src = slot->copy.facts.src,
		.dst = slot->copy.facts.dst,
		.bytes = slot->copy.facts.bytes,
		.extent = {slot->copy.facts.extent[0], slot->copy.facts.extent[1],
			   slot->copy.facts.extent[2]},
		.parts = 1,
		.submit_tid = slot->packet.submit_tid,
		.flags = (slot->packet.flags & both) | RTL_HSA_COPY_BLIT | RTL_HSA_COPY_HIP |
			 (slot->packet.flags & others ? RTL_HSA_COPY_CARRIED : 0) |
			 (slot->packet.flags & RTL_HSA_DISPATCH_WAITED ? RTL_HSA_COPY_WAITED : 0),
		.node = (uint16_t)queue->id.node,
		.src_node = slot->copy.src_node,
		.dst_node = slot->copy.dst_node,
		.direction = slot->copy.direction,
		.function = slot->copy.facts.kind,
	};

	publish_copy(type, &copy, scope_of(slot), times);
}
_Static_assert((int)RTL_HSA_DISPATCH_APP_SIGNAL == RTL_HSA_COPY_APP_SIGNAL &&
		       (int)RTL_HSA_DISPATCH_NO_TIME == RTL_HSA_COPY_NO_TIME,
	       "the same bits");

/* `type`: as a dispatch's or a barrier's. */
static inline void publish(uint16_t type, const struct queue *queue, const struct packet_slot *slot,
			   struct work_times times)
{
	if (type >= RTL_BARRIER_BEGIN)
		publish_barrier(type, &queue->id, &slot->barrier, scope_of(slot), times);
	else if (is_copy(slot))
		publish_as_copy((uint16_t)(type - RTL_TASK_BEGIN + RTL_TRANSFER_BEGIN), queue, slot,
				times);
	else
		publish_dispatch(type, &queue->id, &slot->dispatch, scope_of(slot), times);
}

void packets_publish_begin(const struct queue *queue, const struct packet_slot *slot)
{
	publish(slot->slot.kind->end_type - 1, queue, slot, (struct work_times){0, 0});
}

/* A packet has ended, if it is known when, so the GPU has taken all before it from the ring. */
static inline struct queue *taken(struct source *source, const struct packet_slot *slot)
{
	struct queue *queue = queue_of(source);

	if (slot->slot.kind->signal != SLOT_OVER &&
	    slot->packet.packet_id >= __atomic_load_n(&queue->taken, __ATOMIC_RELAXED))
		__atomic_store_n(&queue->taken, slot->packet.packet_id + 1, __ATOMIC_RELAXED);
	return queue;
}

/* The slot's times; where there are none, its flags say so. */
static __attribute__((noinline, cold)) struct work_times times_far(struct queue *queue,
								   struct packet_slot *slot)
{
	struct work_times times;

	/* The end first: the runtime may take a new calibration for it, which serves both. */
	times.end_ns = gpu_clock_ns(&queue->clock, system_clock_gpu_ns, queue->agent,
				    slot->slot.ticks.end);
	times.begin_ns = gpu_clock_ns(&queue->clock, system_clock_gpu_ns, queue->agent,
				      slot->slot.ticks.begin);
	if (times.begin_ns && times.end_ns)
		return times;
	slot->packet.flags |= RTL_HSA_DISPATCH_NO_TIME;
	return (struct work_times){0, 0};
}

static inline struct work_times times_of(struct queue *queue, struct packet_slot *slot)
{
	const uint64_t begin = slot->slot.ticks.begin, end = slot->slot.ticks.end;
	const struct gpu_clock *clock = &queue->clock;

	if (__builtin_expect(clock->ns && gpu_clock_is_near(clock, begin) &&
				     gpu_clock_is_near(clock, end),
			     1))
		return (struct work_times){gpu_clock_near_ns(clock, begin),
					   gpu_clock_near_ns(clock, end)};
	return times_far(queue, slot);
}

static void publish_end(struct source *source, struct slot *slot)
{
	struct packet_slot *packet = packet_slot_of(slot);
	struct queue *queue = taken(source, packet);
	const struct work_times times = times_of(queue, packet);
	struct turn *turn = turn_out_for_room();

	publish(slot->kind->end_type, queue, packet, times);
	turn_in_with_room(turn);
}

static void publish_unfinished(struct source *source, struct slot *slot)
{
	struct packet_slot *packet = packet_slot_of(slot);
	const struct work_times none = {0, 0};

	packet->packet.flags |= RTL_HSA_DISPATCH_UNFINISHED;
	if (rtl_enabled(interceptor.stream, RTL_TASK_UNFINISHED))
		publish_dispatch(RTL_TASK_UNFINISHED, &queue_of(source)->id, &packet->dispatch,
				 scope_of(packet), none);
}

const struct slot_kinds dispatch_kinds =
	SLOT_KINDS(.stream = &interceptor.stream, .end_type = RTL_TASK_END,
		   .payload_bytes = sizeof(struct rtl_hsa_copy), /* the larger one */
		   .publish = publish_end, .unfinished = publish_unfinished);

const struct slot_kinds barrier_kinds =
	SLOT_KINDS(.stream = &interceptor.stream, .end_type = RTL_BARRIER_END,
		   .payload_bytes = sizeof(struct rtl_hsa_barrier), .publish = publish_end);
