/* SPDX-License-Identifier: MIT */
/* The vendor's library, libhsa-amd-aqlprofile64.so, which the runtime loads as an extension: from
 * events of blocks to packets that count them, and from the memory that these fill to samples.
 *
 * Threads: library_find by the thread that creates a queue, under plan.c's lock; the others afterwards
 * by any thread, for different counts. Knows nothing of queues. */
#pragma once

#include <hsa/hsa.h>

#include "agent.h"

/* A packet of 64 bytes whose completion signal is at its end. */
struct library_packet {
	uint16_t header;
	uint16_t body[27];
	uint64_t signal;
} __attribute__((may_alias)); /* those of others, too, are filled by it */
_Static_assert(sizeof(struct library_packet) == 64, "an AQL packet");

/* In a header: what was before is seen, and what it does is seen by all. */
#define LIBRARY_FENCES                                                                             \
	(HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |                       \
	 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE)

/* A barrier that waits for a signal, and completes one; 0: none. */
static inline struct library_packet library_barrier(uint64_t waits_for, uint64_t completes,
						    uint16_t fences)
{
	struct library_packet packet = {.header = HSA_PACKET_TYPE_BARRIER_AND |
						  1 << HSA_PACKET_HEADER_BARRIER | fences,
					.signal = completes};

	memcpy(&packet.body[3], &waits_for, sizeof(waits_for)); /* the first dependency */
	return packet;
}

/* An event in one instance of a block. */
struct library_event {
	uint32_t block; /* number */
	uint32_t instance;
	uint32_t event;
	uint32_t input; /* of whoever asks; the library is not told */
};

struct library_events {
	struct library_event *list;
	uint32_t count;
};

/* What one part of a GPU has counted. */
struct library_sample {
	uint32_t event; /* place in the list of events */
	uint32_t xcc, engine;
	uint64_t value;
};

/* What lets a queue's work count where counters are started on another queue: a packet for that queue, made
 * once for each GPU. NULL after a line in `why`. One thread at a time. */
const struct library_packet *library_enable(hsa_agent_t agent, char *why, size_t size);

/* Writes packets to a queue as a program would, and rings. Waits for room. */
void library_submit(hsa_queue_t *queue, const struct library_packet *packets, uint32_t count);

/* Events that are counted together. */
struct library_count {
	/* Header and signal are set; of `stop` the signal is to be put in. */
	struct library_packet start, read, stop;
	const void *output; /* what the GPU has left */
	size_t bytes;       /* of that */
};

/* Whether it is there; else a line in `why`. It is looked for once. */
bool library_find(char *why, size_t size);

/* The runtime has ended: it, and all that was made with it, is gone. */
void library_forget(void);

/* As agent_block. */
struct agent_block library_block(hsa_agent_t agent, const char *name);

/* An input's event in the first instance that it asks for; `end`: behind the last. False after a line in `why`. */
bool library_instances(hsa_agent_t agent, const struct metric_input *input,
		       struct library_event *first, uint32_t *end, char *why, size_t size);

/* Whether the event of that instance is among the first so many. */
bool library_has(const struct library_events *events, uint32_t count,
		 const struct library_event *event);
/* Adds one at the end. False: no memory. */
bool library_add(struct library_events *events, struct library_event event);

/* NULL after a line in `why`. Events are copied. */
struct library_count *library_count_make(hsa_agent_t agent, const struct library_events *events,
					 char *why, size_t size);
void library_count_destroy(struct library_count *count); /* NULL is fine */

/* What is in a copy of the output, in the order of the library; returns false if it cannot tell. */
bool library_count_samples(const struct library_count *count, const void *output,
			   void (*found)(void *user, const struct library_sample *sample),
			   void *user);
