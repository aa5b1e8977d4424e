/* SPDX-License-Identifier: MIT */
/* The room `counter`: hardware counters of dispatches, or of a GPU in intervals; see README.md. Nothing of it has run
 * on hardware yet. A dispatch that is not counted waits for a turn, too, as its work would count.
 *
 * Threads: a queue's submitting thread takes samples and fills packets, in the runtime's lock of the queue.
 * rtl-counters gives turns, and copies what was read before the next one. Who makes a pass over the sources (harvest.h)
 * publishes. Intervals are rtl-sampler's. The thread that creates a GPU's first queue makes its plan, which does not
 * change. Locks: that of the list of GPUs (plan.c), and that of the turns (turns.c), held for loads and stores. */
#pragma once

#include <hsa/hsa.h>
#include <stdbool.h>

#include "publish.h"

/* Packets that a dispatch becomes, at most. */
#define COUNTER_PACKETS 6

struct counter_queue;
struct counter_sample;
struct source;

/* A queue on that GPU was created; its dispatches are recorded by that source. NULL: no counters are asked for, or not
 * of dispatches. */
struct counter_queue *counter_queue_add(hsa_agent_t agent, const struct work_queue *id,
					hsa_queue_t *hsa, const struct source *recorded);

/* Whether nothing of it was under way at the last pass. */
bool counter_queue_is_drained(const struct counter_queue *queue);

/* The runtime is about to destroy it: nothing waits for what is in it any more. NULL is fine. */
void counter_queue_leave(struct counter_queue *queue);

/* It is gone: the harvester frees it. NULL is fine. */
void counter_queue_remove(struct counter_queue *queue);

/* Whether dispatches of the queue go one at a time just now: they are to be counted, or, where nothing is recorded
 * (`wanted` is false), some are still counted. */
bool counter_queue_counts(const struct counter_queue *queue, bool wanted);

/* So many dispatches of the queue go without a turn: what is counted meanwhile is given up.
 * `wanted`: their counts were. */
void counter_queue_pass_by(struct counter_queue *queue, uint64_t dispatches, bool wanted);

/* A dispatch of that kernel is about to be submitted: its sample, or NULL, when it goes without a turn. `recorded`: it
 * is one that the user has chosen. */
struct counter_sample *counter_take(struct counter_queue *queue, const struct kernel *kernel,
				    bool wanted, bool recorded);

/* Packets before and after the dispatch's own; returns how many that is. */
unsigned counter_put_before(const struct counter_sample *sample, void *packets);
unsigned counter_put_after(const struct counter_sample *sample, void *packets);

/* Its packets are made and about to be written; what is known of its dispatch. */
void counter_submit(struct counter_sample *sample, uint64_t packet_id, uint64_t correlation);
