/* SPDX-License-Identifier: MIT */
/*
 * Who a packet comes from: what the thread was within that took the packet's place in the queue.
 *
 * HIP lets streams of several threads share a queue. When two submit at once, the one that rings the doorbell carries
 * both packets through the interceptor. So in the modes with calls, the submitter is noted when a packet's place is
 * taken (hsa_queue_add_write_index_...) while work is wanted.
 *
 * Threads: notes by any thread, on the place that it got from the runtime. submitters_find: the holder of the runtime's
 * lock of the queue, for packets that it has seen in the ring. Adding and removing: one lock; looking up takes none.
 */
#pragma once

#include <hsa/amd_hsa_queue.h>
#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "publish.h"
#include "table.h"

/* Of one packet. */
struct submitter {
	struct work_scope scope; /* if in_scope */
	uint32_t tid;
	uint32_t in_scope;
};

/* Where it is noted. */
struct submitter_note {
	/* The packet's index plus 1; 0 while it is written, which the release of the words keeps before them. Release
	 * behind the words; acquire in submitters_find, which looks again after it has read them. */
	uint64_t number;
	struct submitter submitter; /* each member: release, acquire */
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct submitter_note) == 64, "a cache line");

/* How many notes a queue has: more than packets, as places are taken before there is room for them. */
static inline uint32_t submitters_count(uint32_t packets)
{
	return packets < 1024 ? 2048 : 2 * packets;
}

/* The calling thread's id, as in its notes; 0: it has written none. */
extern __thread uint32_t submitter_tid __attribute__((tls_model("initial-exec")));

/* What the calling thread is within just now. */
void submitter_fill(struct submitter *submitter);

/* The innermost scope of it alone; false: none, and *within is as it was. */
bool submitter_scope(struct work_scope *within);

/* Hooks the runtime's functions; with notes, or only to keep what is pending small. */
void submitters_hook(struct root_table *root, bool notes);

/* Room for the packets of a queue, and notes from now on. NULL: not hooked, or no memory. */
struct submitter_note *submitters_add(const hsa_queue_t *queue);
/* No more notes: the queue is about to be destroyed. */
void submitters_remove(const hsa_queue_t *queue);
/* Gives the room back; NULL is fine. packets: the size of the queue. */
void submitters_free(struct submitter_note *notes, uint32_t packets);

/* Of the packet at that index; false: its place was taken in a way that was not seen, or too many
 * places have been taken since. Then *within holds nothing of use. */
static inline __attribute__((always_inline)) bool
submitters_find(const struct submitter_note *notes, uint32_t packets, uint64_t index,
		struct work_scope *within, uint32_t *tid, bool *in_scope)
{
	const struct submitter_note *note = &notes[index & (submitters_count(packets) - 1)];
	const struct submitter *from = &note->submitter;

	if (__atomic_load_n(&note->number, __ATOMIC_ACQUIRE) != index + 1)
		return false;
	/* With the release in submitters.c: who reads what is of a later packet sees then that the
	 * number is another. */
	*tid = __atomic_load_n(&from->tid, __ATOMIC_ACQUIRE);
	*in_scope = __atomic_load_n(&from->in_scope, __ATOMIC_ACQUIRE);
	if (*in_scope) {
		within->correlation = __atomic_load_n(&from->scope.correlation, __ATOMIC_ACQUIRE);
		within->scope = __atomic_load_n(&from->scope.scope, __ATOMIC_ACQUIRE);
		within->scope_instance =
			__atomic_load_n(&from->scope.scope_instance, __ATOMIC_ACQUIRE);
		within->call_ticks = __atomic_load_n(&from->scope.call_ticks, __ATOMIC_ACQUIRE);
		within->hip_stream = __atomic_load_n(&from->scope.hip_stream, __ATOMIC_ACQUIRE);
		within->range = __atomic_load_n(&from->scope.range, __ATOMIC_ACQUIRE);
	}
	return __atomic_load_n(&note->number, __ATOMIC_RELAXED) == index + 1;
}

/*
 * Keeps few packets pending: places that are taken and that the interceptor has not been given yet.
 *
 * An intercept queue of ROCm 7.2 hands on all packets that become valid at once, about the end of the ring through a
 * buffer of 256, without checking that they fit. When a thread has taken a place and loses the processor, the packets
 * behind it become valid at once when it runs again, and a correct program crashes under any tool that intercepts. So a
 * thread waits here while many are pending, and first rings the doorbell for the valid ones, which may be processed
 * then.
 *
 * The wait is bounded, for programs that never fill their places. More places at once than the buffer cannot be helped.
 *
 * Threads: any that is about to take a place.
 */

/* The runtime's buffer, and how much of it may be used: threads may take more places between look and taking. */
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
