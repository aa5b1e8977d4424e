/* SPDX-License-Identifier: MIT */
/* Events of rtl.hsa and rtl.hsa.copy: what a GPU does, as far as the source of the work knows. Intercepted queues know
 * packets; another source may know less: then members are 0.
 *
 * Threads: any; no locks. The record may wait for room in a ring, as the policy says, also inside a queue's lock, which
 * nobody who makes room needs. On the runtime's own thread a begin without room is discarded and counted. */
#pragma once

#include <rtl/publish.h>
#include <stddef.h>
#include <stdint.h>

struct kernel;
struct rtl_hsa_metadata;

/* The queue that work has gone through. */
struct work_queue {
	uint64_t uid;
	uint64_t agent_uid;
	uint32_t number; /* in the process, from 1; 0: not known */
	uint32_t node;   /* KFD node id of the GPU */
};

/* What the submitting thread was within. */
struct work_scope {
	uint64_t correlation;
	uint64_t scope;
	uint64_t scope_instance;
	uint64_t call_ticks; /* see common/shared.h */
	uint64_t hip_stream;
	uint64_t range;
};

/* When the GPU worked; 0 both: not known. */
struct work_times {
	uint64_t begin_ns, end_ns;
};

/* What a packet has, whatever it is: the first members of the structs below. */
#define PUBLISH_PACKET                                                                             \
	uint64_t submit_ticks; /* rtl_ticks */                                                     \
	uint64_t packet_id;    /* counts the queue's packets */                                    \
	uint32_t submit_tid;                                                                       \
	uint16_t flags /* enum rtl_hsa_dispatch_flags */

struct packet {
	PUBLISH_PACKET;
};

struct dispatch {
	PUBLISH_PACKET;
	uint16_t workgroup[3];
	uint32_t group_bytes;
	uint64_t kernel_object;
	const struct kernel *kernel;
	uint32_t private_bytes;
	uint32_t grid[3];
};
_Static_assert(sizeof(struct dispatch) == 64, "a cache line");

struct barrier {
	PUBLISH_PACKET;
	uint16_t kind; /* enum rtl_hsa_barrier_kind */
	uint32_t dependencies;
};

/* A copy or a fill. */
struct copy {
	uint64_t number; /* counts the process's copies */
	uint64_t submit_ticks;
	uint64_t src, dst, bytes;
	uint64_t signal; /* the application's; 0: none */
	uint32_t extent[3];
	uint32_t engine, parts;
	uint32_t submit_tid;
	uint32_t flags;  /* enum rtl_hsa_copy_flags */
	uint32_t status; /* that of a refused one */
	uint16_t node, src_node, dst_node;
	uint8_t direction, function; /* and enum rtl_hsa_copy_... */
};

/* The tracepoint of where it copies from and to. */
uint64_t publish_copy_path(const struct copy *copy);
/* From the nodes of its ends; 0 is the host's. */
uint8_t copy_direction(uint16_t src_node, uint16_t dst_node);

/* Once, before there is work: registers the tracepoints of barriers. */
void publish_init(void);

/* Of a queue that is not known, a packet's number counts the work of all such; it is not published. */

/* The number by which events of a queue's packet go together: it names the packet for as long as the process lives. */
static inline uint64_t publish_instance(const struct work_queue *queue, uint64_t packet_id)
{
	return (uint64_t)queue->number << 44 | ((packet_id + 1) & ((1ull << 44) - 1));
}

/* What an event is about, and goes together with. */
struct publish_ids {
	uint64_t uid, parent_uid, instance, correlation;
};

/* An event of a stream, if somebody wants it. The payload is that of its type. */
void publish_payload(struct rtl_stream *stream, uint16_t type, const struct publish_ids *ids,
		     const void *payload, uint32_t size);

/* A GPU, a code object or a kernel has become known, or has gone. */
void publish_metadata(uint64_t uid, uint64_t parent_uid, const struct rtl_hsa_metadata *payload);

/* `type` is the begin's or the end's. scope NULL: none. */
void publish_dispatch(uint16_t type, const struct work_queue *queue,
		      const struct dispatch *dispatch, const struct work_scope *scope,
		      struct work_times times);
void publish_barrier(uint16_t type, const struct work_queue *queue, const struct barrier *barrier,
		     const struct work_scope *scope, struct work_times times);
void publish_copy(uint16_t type, const struct copy *copy, const struct work_scope *scope,
		  struct work_times times);
