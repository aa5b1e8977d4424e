/* SPDX-License-Identifier: MIT */
/*
 * Packets whose places are taken, and that the interceptor has not been given yet: kept few.
 *
 * An intercept queue of ROCm 7.2 hands on all packets that have become valid at once, through a
 * buffer of 256 where they lie about the end of the ring, and does not look whether they fit. When
 * a thread has taken a place and is not running, others go on behind it, and the packets that it
 * holds up become valid at once when it runs again: a program that was right would crash, under any
 * tool that intercepts. So who takes a place waits here while many are pending. First it rings the
 * doorbell for those that are valid: a packet may be processed as soon as it is.
 *
 * The wait is bounded, for programs that take places and never fill them. What one thread takes at
 * once and is more than the buffer cannot be helped.
 *
 * Threads: any that is about to take a place.
 */
#ifndef STREAMS_HSA_PENDING_H
#define STREAMS_HSA_PENDING_H

#include <hsa/amd_hsa_queue.h>
#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

#include "table.h"

/* The runtime's buffer, and how much of it we let be used: each thread may take one more place
 * between another's look and its taking. */
#define PENDING_BUFFER 256u
#define PENDING_MOST   128u

/* Set in OnLoad: this runtime hands on several packets at once. */
extern bool pending_is_bounded;

void pending_init(struct root_table *root);

void pending_wait(const hsa_queue_t *queue, uint64_t count);

/* How many; the runtime writes both numbers with its own ordering, relaxed: a hint. */
static inline uint64_t pending_count(const hsa_queue_t *queue, uint64_t *read)
{
	const amd_queue_t *amd = (const amd_queue_t *)(const void *)queue;

	*read = __atomic_load_n(&amd->read_dispatch_id, __ATOMIC_RELAXED);
	return __atomic_load_n(&amd->write_dispatch_id, __ATOMIC_RELAXED) - *read;
}

/* Before that many places are taken in the queue. */
static inline void pending_bound(const hsa_queue_t *queue, uint64_t count)
{
	uint64_t read;

	if (pending_is_bounded &&
	    __builtin_expect(pending_count(queue, &read) + count > PENDING_MOST, 0))
		pending_wait(queue, count);
}

#endif
