/* SPDX-License-Identifier: MIT */
/*
 * Queues: every queue that the application creates becomes one whose packets we see, also where
 * another tool creates it with the table's functions for intercept queues.
 *
 * Threads: hooks run on the application's threads. A struct queue belongs to three: the
 * submitting thread (the runtime's lock of the queue makes it one at a time), the harvester,
 * which also frees it, and the thread that destroys it.
 * Locks: one for the list of queues, by which hsa_queue_destroy finds ours.
 */
#pragma once

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

#include "agents.h"
#include "copy_kernels.h"
#include "interceptor.h"
#include "publish.h"
#include "slots.h"
#include "source.h"
#include "system_clock.h"

/* How many dispatches are remembered to tell how far the GPU has got. */
#define QUEUE_MARKS 32

/* How many packets at a time tell it where few or none are recorded. */
#define QUEUE_PROBES 8

struct queue_mark {
	struct packet_slot *slot;
	uint64_t index;
};

/* A packet of ours that tells how far the GPU has got. */
struct queue_probe {
	uint64_t signal; /* 0: none could be made */
	uint64_t packet_id;
	bool under_way;
};

struct queue {
	struct source source; /* its slots are of struct packet_slot */

	/* Set when it is created. */
	hsa_queue_t *hsa;
	hsa_agent_t agent;
	uint32_t packets;
	uint32_t type;
	struct work_queue id;
	bool unseen;                   /* its packets are not seen: it is only listed */
	queue_error_callback on_error; /* the program's, and what it is given; NULL: none */
	void *on_error_data;
	struct submitter_note *submitters; /* where its packets come from; NULL: not noted */

	/* The list's lock: how many have the GPU's cooperative queue. The runtime has one, gives it to all who ask,
	 * and keeps using it; intercepted, it cannot be destroyed. */
	uint32_t cooperators;

	/* The submitting thread's. */
	uint64_t
		next_id; /* of the next packet; not the runtime's index, as other tools add packets */
	struct counter_queue *counters; /* NULL: nobody asks for counters */
	void *batch;        /* room for as many packets as the ring has; NULL until needed */
	bool gave_up;       /* it has waited for a slot in vain */
	bool no_room_known; /* it has waited in vain for the GPU to take packets */
	bool barrier_seen;  /* a packet without a slot had the barrier bit, since the last slot */
	bool waits;         /* since the last dispatch of any, a barrier had to wait for a signal */
	bool slept;         /* packets went by, or places were taken, while nobody wanted work */
	/* Below this index, as the program counts, a packet without a note may be anybody's. */
	uint64_t unnoted;
	/* room.h: as `taken`, from marks and probes; one more than the last packet with a slot or a probe, than the
	 * last whose end this thread sees by itself, and than the last barrier that had to wait for a signal. */
	uint64_t taken_seen, expected, marked, gate;
	uint64_t next_mark;
	uint32_t mark_count;
	uint32_t probe_count;
	struct queue_mark marks[QUEUE_MARKS];
	struct queue_probe probes[QUEUE_PROBES];

	/* Dispatches that mode lite passes on; the harvester counts them as missed. Relaxed: it only grows. */
	uint64_t lite;
	uint64_t lite_counted; /* the harvester's */

	struct queue *next_listed; /* the list's lock */
	/* Who makes a pass: */
	struct gpu_clock clock;
	/* One more than the highest packet that has finished: the GPU has taken all below. Relaxed: a hint. */
	uint64_t taken;
};

static inline struct queue *queue_of(struct source *source)
{
	return (struct queue *)source;
}
_Static_assert(offsetof(struct queue, source) == 0, "queue_of");

struct root_table;

/* Puts the hooks into the runtime's tables, where it has these functions. */
void queue_hook(struct root_table *root);

/* dispatch.c, the interceptor: sees every packet of a queue (data) on its way to the GPU, inside the runtime's lock of
 * the queue, on the thread that rings the doorbell, or the runtime's handler thread when the ring had been full. It
 * makes no system call but to wake a sleeping harvester, and waits only where no slot is left. */
void dispatch_intercept(const void *packets, uint64_t count, uint64_t index, void *data,
			packet_writer write);

/* ---- for queue_described.c */

/* By descriptors; each is a queue of its own, and one that fails leaves the others. */
hsa_status_t queue_create_described(hsa_agent_t agent, struct queue_descriptor *descriptors,
				    uint32_t count);

/* A queue of the runtime's that several share: it cannot be intercepted. */
hsa_status_t queue_acquire_counted(hsa_agent_t agent, uint32_t type, uint32_t priority,
				   queue_error_callback callback, void *data, uint64_t flags,
				   hsa_queue_t **queue);

hsa_status_t queue_destroy(hsa_queue_t *queue);

/* Makes an intercepted queue, or returns why not. */
hsa_status_t queue_make(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
			queue_error_callback callback, void *data, uint32_t private_bytes,
			uint32_t group_bytes, hsa_queue_t **queue);

/* This thread is in a function of the runtime, or of a tool before us, that makes a queue of ours: what is called from
 * there is not another queue. */
extern __thread bool queue_is_being_made __attribute__((tls_model("initial-exec")));

/* A queue whose packets are not seen: says why, and counts it. */
void queue_count_unseen(const char *why);

/* The same once for each queue that is not known. */
void queue_found_unseen(hsa_queue_t *queue, const char *why);

/* Whether packets of that queue go through the interceptor, and there are more of them than that. */
bool queue_is_intercepted(const hsa_queue_t *queue, uint32_t packets);

/* Packets of queues as slots: dispatches and barriers. The queue's submitting thread fills a slot before it submits it;
 * the functions of the kinds are called by who makes a pass. */

/* Of its cache lines the third is touched within a scope only, the fourth by copies. */
struct packet_slot {
	struct slot slot;
	union {
		struct packet packet;
		struct dispatch dispatch;
		struct barrier barrier;
	};
	struct work_scope scope; /* if slot.in_scope */
	/* If dispatch.kernel copies. */
	struct {
		struct copy_facts facts;
		uint16_t src_node, dst_node;
		uint8_t direction;
		bool is_known; /* then its event is a copy's */
	} copy;
};
_Static_assert(offsetof(struct packet_slot, scope) == 128, "two lines that each dispatch needs");

extern const struct slot_kinds dispatch_kinds;
extern const struct slot_kinds barrier_kinds;

/* Submitting thread, inside the queue's lock. */
void packets_publish_begin(const struct queue *queue, const struct packet_slot *slot);

/* Of a slot that a queue has submitted. */
static inline struct packet_slot *packet_slot_of(struct slot *slot)
{
	return (struct packet_slot *)slot;
}
