/* SPDX-License-Identifier: MIT */
/*
 * The service: a thread that sees what has ended and gives turns, and one that calls the tool's handlers.
 *
 * Not the runtime's thread of handlers: a handler of the program's may wait there for the very kernel
 * whose turn we would give.
 *
 * Threads: any hand work over; the rest is the service's own. One lock, around the list of new work.
 */
#ifndef ROCPROFILER_SERVICE_H
#define ROCPROFILER_SERVICE_H

#include "context.h"

/* A dispatch of which the tool wants something. Made by the submitting thread, then the service's. */
struct work {
	struct work *next;  /* of the service's list */
	struct work *after; /* of those that wait for their turn */
	struct gpu *gpu;
	struct queue *queue;
	uint64_t position; /* packets of the queue up to its last */
	struct context *context;
	rocprofiler_group_t group;
	hsa_signal_t kernel, original; /* ours in the packet, or 0, and the program's */
	/* The tool's once it was told of it: freed by nobody here, and given `complete` at the end in any
	 * case. NULL: no times. */
	rocprofiler_dispatch_record_t *record;
	bool counts;
	bool arrived, has_turn, kernel_ended, counts_ended; /* seen by the service */
};

struct queue {
	struct queue *next;
	hsa_queue_t *queue;
	struct gpu *gpu;
	uint32_t id;
	bool times;                     /* of its kernels are wanted */
	struct library_packet *packets; /* of one call */
	size_t room;
	uint64_t written; /* packets, in the queue's lock */
	/* Of these, how many are known to have ended; work under way. Release by the service, acquire by
	 * who waits for room. A queue's memory stays: work may name it when it is destroyed. */
	uint64_t ended;
	uint32_t under_way;
	bool destroyed; /* release, acquire */
};

/* From now on the service's. False after a line: there is no service. */
bool service_take(struct work *work);

/* Whether turns have ended for good: nothing more is counted. */
bool service_released(void);

/* RTL_COUNTERS_TIMEOUT, or what it is without that. */
uint64_t service_wait_ns(void);

/* Waits until the tool has been told of all that was submitted before, five seconds at most; whether it was. */
bool service_wait(void);
/* The same; what has not ended by then is dropped. */
void service_finish(void);

/* The last that is written of a record: its tool may wait for that. */
void record_complete(rocprofiler_dispatch_record_t *record);

/* The HSA system clock, ns. */
uint64_t clock_hsa_ns(void);

#endif
