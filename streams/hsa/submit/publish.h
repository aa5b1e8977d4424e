/* SPDX-License-Identifier: MIT */
/*
 * Events of rtl.hsa.
 *
 * Threads: each function says whose; no locks. What is published may wait for room in a ring, as
 * the policy says: inside a queue's lock, too, which nobody who makes room needs. The runtime's own
 * thread completes for others: on it what finds no room is discarded (and counted).
 */
#ifndef STREAMS_HSA_PUBLISH_H
#define STREAMS_HSA_PUBLISH_H

#include <hsa/hsa.h>
#include <rtl/publish.h>
#include <stdint.h>

struct queue;
struct rtl_hsa_metadata;
struct slot;

/* rtl_reserve, for threads that submit: without waiting on the runtime's own. */
struct rtl_record *publish_reserve(struct rtl_stream *stream, uint16_t type, uint32_t size);

/* Application's threads, when something becomes known. */
void publish_metadata(uint64_t uid, uint64_t parent_uid, const struct rtl_hsa_metadata *payload);
void publish_queue(uint16_t type, const struct queue *queue);

/* Once, before there is a queue: registers the tracepoints of barriers. */
void publish_init(void);

/* Submitting thread, inside the queue's lock: of a dispatch or a barrier. */
void publish_begin(const struct queue *queue, const struct slot *slot);

/* Ticks of a GPU in the clock of rtl, by the runtime's own translation; 0 if it cannot. */
uint64_t publish_gpu_ns(hsa_agent_t agent, uint64_t gpu_ticks);

/* Ticks of the HSA system clock in the clock of rtl. */
uint64_t publish_system_ns(uint64_t ticks);

/* Whether this thread can publish the end of what is in the slot at once, as rtl_room. */
int publish_room(const struct queue *queue, const struct slot *slot);

/* Harvester or helper; the slot's times are there. The slot's flags say if they are none. */
void publish_end(struct queue *queue, struct slot *slot);

#endif
