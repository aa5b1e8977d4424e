/* SPDX-License-Identifier: MIT
 *
 * Queues: a ring of packets that an engine works on, made by a front end.
 *
 * Threads: the maker fills one in and hands it to sg_engine_add(); from then on to
 * sg_engine_remove() everything but `paused` is the engine's.
 */
#pragma once

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernel.h"

#define SG_MAX_INFLIGHT 32u

struct sg_engine;

/* A dispatch that has begun and not ended. */
struct sg_flight {
	uint64_t index;
	uint64_t start_ticks, end_ticks;
	uint64_t end_ns;
	const struct sg_kernel *kernel;
	hsa_kernel_dispatch_packet_t packet;
};

/* The copies since the last signal, which ROCr counts as one. */
struct sg_transfer {
	bool begun;
	uint64_t start_ticks, end_ticks;
	uint64_t bytes;
	uint32_t packets;
	uint64_t source, destination;
};

struct sg_queue {
	/* by the maker */
	uint32_t gpu; /* node id */
	uint32_t id;  /* sg_queue_next_id() */
	char *ring;
	uint64_t ring_bytes;
	_Atomic uint64_t *read_index;        /* AQL: packets; SDMA: bytes */
	const _Atomic uint64_t *write_index; /* SDMA only; or what tells as much */
	amd_queue_t *amd;                    /* AQL only */
	_Atomic bool paused;

	/* by the engine */
	struct sg_engine *engine;
	struct sg_queue *next;
	uint64_t limit; /* SDMA: the highest write index seen */
	bool counted;   /* its COMPUTE_PERFCOUNT_ENABLE */
	union {
		struct {
			unsigned int count;
			struct sg_flight flights[SG_MAX_INFLIGHT];
		} aql;
		struct {
			uint64_t read;
			struct sg_transfer transfer;
		} sdma;
	};
};

/* 1, 2, ... in the order of creation within the process. */
uint32_t sg_queue_next_id(void);

/* How far the producer of an SDMA queue has got. */
static inline uint64_t sg_queue_limit(struct sg_queue *queue)
{
	uint64_t seen = atomic_load_explicit(queue->write_index, memory_order_acquire);

	if (seen > queue->limit)
		queue->limit = seen;
	return queue->limit;
}
