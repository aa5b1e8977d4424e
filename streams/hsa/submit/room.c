/* SPDX-License-Identifier: MIT */
#include "room.h"

#include "aql.h"
#include "harvest.h"
#include "interceptor.h"
#include "signal_watch.h"

#define SHORT_WAIT_NS 100000000u
#define LONG_WAIT_NS  30000000000u

/* A slot that holds another packet was given back, so its packet has ended. A free one keeps what it says, and only
 * this thread takes it anew: it is safe to look. */
static bool mark_over(const struct queue_mark *mark)
{
	struct slot *slot = &mark->slot->slot;

	if (mark->slot->packet.packet_id != mark->index ||
	    !slot->kind) /* a child of fork has zeros */
		return true;
	if (slot->kind->signal == SLOT_OWN)
		return !slot_signal_is_pending(slot->signal);
	return signal_watch_seems_over(slot);
}

/* The harvester may be waiting for a subscriber, or have ended. */
static void look_at_marks(struct queue *queue)
{
	for (uint32_t i = 0; i < QUEUE_MARKS && i < queue->mark_count; i++) {
		const struct queue_mark *mark = &queue->marks[i];

		if (mark->index >= queue->taken_seen && mark_over(mark))
			queue->taken_seen = mark->index + 1;
	}
}

/* Whether the probe is not under way; if it was, how far the GPU has got. */
static bool probe_over(struct queue *queue, struct queue_probe *probe)
{
	if (probe->under_way && slot_signal_is_pending(probe->signal))
		return false;
	if (probe->under_way && probe->packet_id >= queue->taken_seen)
		queue->taken_seen = probe->packet_id + 1;
	probe->under_way = false;
	return true;
}

__attribute__((cold, noinline)) unsigned
room_put_probe(struct queue *queue, hsa_barrier_and_packet_t *packet, uint64_t id)
{
	struct queue_probe *probe = &queue->probes[queue->probe_count % QUEUE_PROBES];

	/* If it is under way the ring is full, and others will tell. */
	if (!room_lacks_probe(queue, id) || !probe_over(queue, probe) || !probe->signal)
		return 0;
	slot_signal_rearm(probe->signal);
	*packet = (hsa_barrier_and_packet_t){.header = HSA_PACKET_TYPE_BARRIER_AND,
					     .completion_signal = {probe->signal}};
	probe->packet_id = id;
	probe->under_way = true;
	queue->probe_count++;
	queue->expected = queue->marked = id + 1;
	return 1;
}

void room_init(struct queue *queue)
{
	for (int i = 0; i < QUEUE_PROBES; i++)
		queue->probes[i].signal = slot_signal_make();
}

void room_fini(struct queue *queue)
{
	for (int i = 0; i < QUEUE_PROBES; i++)
		slot_signal_destroy(queue->probes[i].signal);
}

/* Whether the packet has to wait for its signals, now. */
static bool has_to_wait(const union aql_packet *packet)
{
	const hsa_amd_barrier_value_packet_t *value = (const void *)packet;
	const hsa_signal_t *signals = ((const hsa_barrier_and_packet_t *)packet)->dep_signal;
	uint32_t waiting, given = 0;

	if (!aql_is_barrier(packet))
		return value->signal.handle &&
		       !signal_holds(signal_value(value->signal) & value->mask,
				     (hsa_signal_condition_t)value->cond, value->value);
	waiting = signals_waiting(signals, 5);
	for (int i = 0; i < 5; i++)
		given += signals[i].handle != 0;
	return waiting &&
	       (waiting == given || (packet->any.header & 0xff) == HSA_PACKET_TYPE_BARRIER_AND);
}

void room_see_barrier(struct queue *queue, const union aql_packet *packet, uint64_t id)
{
	if (has_to_wait(packet)) {
		queue->gate = id + 1;
		queue->waits = true;
	}
}

/* Whether the end of a packet under way will tell that there is room for that one. Without a
 * harvester only what this thread sees itself does. */
static bool will_be_told(const struct queue *queue, uint64_t id)
{
	const uint64_t last = interceptor_on() ? queue->expected : queue->marked;

	return last + queue->packets > id + ROOM_LEAST;
}

static uint64_t longest_wait_ns(const struct queue *queue)
{
	return queue->gate > room_taken(queue) || handler_thread_is_this() ? SHORT_WAIT_NS
									   : LONG_WAIT_NS;
}

__attribute__((cold, noinline)) void room_wait(struct queue *queue, uint64_t id)
{
	const uint64_t begin = rtl_clock_ns();

	for (;;) {
		look_at_marks(queue);
		for (int i = 0; i < QUEUE_PROBES; i++)
			(void)probe_over(queue, &queue->probes[i]);
		if (!room_may_lack(queue, id)) {
			queue->no_room_known = false;
			return;
		}
		if (!will_be_told(queue, id) || queue->no_room_known ||
		    rtl_clock_ns() - begin >= longest_wait_ns(queue))
			break;
		harvest_wait_pass();
	}
	queue->no_room_known = true;
}
