/* SPDX-License-Identifier: MIT */
/*
 * Room in the GPU's ring of a queue, as far as ended dispatches show it.
 *
 * Runtimes of 5.x can hold back one packet when the GPU's ring is full, and may still call us for the next one (the
 * doorbell was rung for several, or from their handler thread). That one would overtake the first, or fail an
 * assertion. Some of 7.x write beyond a buffer when they have held back many. So a packet waits here until the GPU has
 * surely taken some, as the program would wait for room in the ring without us.
 *
 * We know less of the ring than the runtime: packets without a slot, or under way, may have left it. So there is a
 * wait only where the end of a packet with a slot will tell, and it is bounded. It is short where a barrier in the
 * ring waits for a signal, as a program may fill the ring before it gives the signal, and on the runtime's handler
 * thread, for which the GPU may wait.
 *
 * Where nothing tells for an eighth of the ring (nothing is recorded, mode lite, signals that several packets
 * share), a barrier packet of ours follows, a probe. Only the submitting thread looks at it, when the ring may be
 * full, and so also after the end, without a harvester.
 *
 * Threads: the queue's submitting thread. No locks but those of signal_watch.h.
 */
#pragma once

#include "queue.h"

union aql_packet;

/* Packets of the GPU's ring that the runtime may need for itself, one for this packet, and one for a probe. */
#define ROOM_LEAST 5

/* Packets below this one have left the GPU's ring, as far as is known. */
static inline uint64_t room_taken(const struct queue *queue)
{
	const uint64_t harvested = __atomic_load_n(&queue->taken, __ATOMIC_RELAXED);

	return harvested > queue->taken_seen ? harvested : queue->taken_seen;
}

static inline bool room_may_lack(const struct queue *queue, uint64_t id)
{
	return id + ROOM_LEAST >= room_taken(queue) + queue->packets;
}

/* The packet has that slot: its end will tell how far the GPU has got, unless others share its signal. Some of them
 * are remembered, too, to be looked at when the harvester is busy, or has ended. */
static inline void room_expect(struct queue *queue, struct packet_slot *slot, uint64_t id)
{
	if (slot->slot.kind->signal == SLOT_OVER)
		return;
	queue->expected = id + 1;
	if (id < queue->next_mark)
		return;
	queue->marked = id + 1;
	queue->next_mark = id + queue->packets / QUEUE_MARKS;
	queue->marks[queue->mark_count++ % QUEUE_MARKS] = (struct queue_mark){slot, id};
}

/* Whether the packet with that id should be a probe, as none before it will tell for long. */
static inline bool room_lacks_probe(const struct queue *queue, uint64_t id)
{
	return id >= queue->expected + queue->packets / QUEUE_PROBES;
}

/* Writes a probe with that id to *packet, if one is needed and to be had. Returns how many that are. */
unsigned room_put_probe(struct queue *queue, hsa_barrier_and_packet_t *packet, uint64_t id);

/* Creates the probes' signals; without some of them there are fewer probes. */
void room_init(struct queue *queue);

/* Gives the signals back. */
void room_fini(struct queue *queue);

/* A packet with that id goes by that can wait for signals. */
void room_see_barrier(struct queue *queue, const union aql_packet *packet, uint64_t id);

void room_wait(struct queue *queue, uint64_t id);

/* Whether the GPU's ring surely has room for the packet with that id; waits for it. */
static inline bool room_for(struct queue *queue, uint64_t id)
{
	if (__builtin_expect(room_may_lack(queue, id), 0))
		room_wait(queue, id);
	else
		queue->no_room_known = false;
	return !queue->no_room_known;
}
