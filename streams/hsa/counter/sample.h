/* SPDX-License-Identifier: MIT */
/*
 * A dispatch that is counted, or goes in its turn among others that are: a slot (slots.h) whose signal
 * is that of the last packet. Behind it stands what the GPU has left, copied when its turn ended.
 *
 * Threads: filled by the queue's submitting thread; then of the thread rtl-counters until it has
 * stored `seen`; then of who makes a pass over the sources.
 */
#pragma once

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

#include "counter.h"
#include "plan.h"

struct counter_sample {
	struct slot slot;
	struct counter_queue *queue;
	const struct counter_pass *pass; /* NULL: it is not counted */
	const struct kernel *kernel;
	/* Signals of the barriers, made when they are first needed: the queue has come to it; it may
	 * go on. */
	uint64_t ready, grant;
	uint64_t instance, correlation; /* of the dispatch */
	struct counter_sample *next_taken;
	bool spoilt; /* something else ran meanwhile, or its turn was not waited for */
	bool seen;   /* its turn is over; release, acquire */
	uint64_t output[] __attribute__((aligned(64)));
};

/* Makes the kinds of the GPU's slots. */
void sample_kinds_init(struct counter_gpu *gpu);

/* Its last packet has ended: copies what was read. */
void sample_keep(struct counter_sample *sample);

/* Publishes the GPU's ledger: who makes a pass, or nobody does any more. */
void sample_publish_ledger(struct counter_gpu *gpu);

/* Whether all that its queue has let by without a turn has surely ended. */
struct turns_line;
bool sample_line_is_idle(const struct turns_line *line);

/* Nobody waits for its turn any more. */
void sample_give_up(struct counter_sample *sample);

/*
 * Counters of a GPU in intervals (RTL_COUNTERS_SAMPLE), of whatever its queues do meanwhile.
 *
 * Each GPU has a queue of ours on which counters are started when its first queue is created, read at
 * each interval, and stopped at the end. The work of a program's queue counts once that queue has run a
 * packet of ours, its first. Dispatches are not held back.
 *
 * If a reading does not end for RTL_COUNTERS_TIMEOUT, nothing more is read on that GPU, which is logged.
 * If there are not registers enough, passes take turns from interval to interval.
 *
 * Threads: sampler_add_queue by those that create queues; the rest is the thread rtl-sampler's, which alone
 * evaluates and publishes. The end waits until it is out of the runtime, never until it has published.
 * Locks: one, around the list of GPUs, and while a GPU's counters are started.
 */

struct counter_gpu;

/* A queue of that GPU was created: its work counts from here on. */
void sampler_add_queue(struct counter_gpu *gpu, hsa_queue_t *queue);

/* Reads once more, stops, and waits for that; not longer than so long. */
void sampler_stop(uint32_t timeout_ms);
