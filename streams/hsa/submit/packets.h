/* SPDX-License-Identifier: MIT */
/*
 * Packets of queues as slots: dispatches, barriers, and packets that are no events.
 *
 * Threads: what stands in a slot is written by the queue's submitting thread before it is
 * submitted; the functions of the kinds are called by who makes a pass.
 */
#ifndef STREAMS_HSA_PACKETS_H
#define STREAMS_HSA_PACKETS_H

#include "publish.h"
#include "slots.h"

/* Three cache lines; the third is touched within a scope only. */
struct packet_slot {
	struct slot slot;
	union {
		struct packet packet;
		struct dispatch dispatch;
		struct barrier barrier;
	};
	struct work_scope scope; /* if slot.in_scope */
};
_Static_assert(offsetof(struct packet_slot, scope) == 128, "two lines that each dispatch needs");
_Static_assert(sizeof(struct packet_slot) == 192, "whole lines");

extern const struct slot_kinds dispatch_kinds;
extern const struct slot_kinds barrier_kinds;

/* Submitting thread, inside the queue's lock. */
struct queue;
void packets_publish_begin(const struct queue *queue, const struct packet_slot *slot);

/* Of a slot that a queue has submitted. */
static inline struct packet_slot *packet_slot_of(struct slot *slot)
{
	return (struct packet_slot *)slot;
}

#endif
