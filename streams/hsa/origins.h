/* SPDX-License-Identifier: MIT */
/*
 * Who a packet comes from: what the thread was within that took the packet's place in the queue.
 *
 * HIP lets streams of several threads share a queue. When two of them submit at the same moment,
 * the one that rings the doorbell carries both packets through the interceptor; so what a packet
 * works for is noted when its place is taken (hsa_queue_add_write_index_...), where there are calls
 * that it may work for: in the modes that have them.
 *
 * Threads: origins_take: any, on the place that it has got from the runtime. origins_find: who
 * holds the runtime's lock of the queue, for packets that it has seen in the ring. Adding and
 * removing: one lock; looking up takes none.
 */
#ifndef STREAMS_HSA_ORIGINS_H
#define STREAMS_HSA_ORIGINS_H

#include <hsa/hsa.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "table.h"

/* Of one packet. */
struct origin {
	/* Its index in the queue and 1. Release behind the rest, acquire in origins_find: what a
	 * later packet in the same place leaves there is not there before this one has gone. */
	_Atomic uint64_t number;
	uint64_t correlation;
	uint64_t scope;
	uint64_t scope_instance;
	uint64_t call_ticks; /* see common/cause.h */
	uint64_t stream;
	uint64_t range;
	uint32_t tid;
	bool in_scope;
} __attribute__((aligned(64)));

/* What the calling thread is within just now; number is left alone. */
void origin_fill(struct origin *origin);

/* Hooks the runtime's functions. */
void origins_hook(struct root_table *root);

/* Room for the packets of a queue, and notes from now on. NULL: not hooked, or no memory. */
struct origin *origins_add(const hsa_queue_t *queue);
/* No more notes: the queue is about to be destroyed. */
void origins_remove(const hsa_queue_t *queue);
/* Gives the room back; NULL is fine. packets: the size of the queue. */
void origins_free(struct origin *origins, uint32_t packets);

/* Of the packet at that index; NULL: its place was taken in a way that was not seen. */
static inline const struct origin *origins_find(const struct origin *origins, uint32_t packets,
						uint64_t index)
{
	const struct origin *origin = &origins[index & (packets - 1)];

	return atomic_load_explicit(&origin->number, memory_order_acquire) == index + 1 ? origin
											: NULL;
}

#endif
