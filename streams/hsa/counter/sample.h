/* SPDX-License-Identifier: MIT */
/* A dispatch that is counted, or takes a turn among those that are: a slot (slots.h) with the signal of the last
 * packet, and behind it the GPU's output, copied when its turn ended.
 *
 * Threads: the queue's submitting thread; then rtl-counters until it has stored `seen`; then who makes a pass. */
#pragma once

#include "counter.h"
#include "plan.h"

struct counter_sample {
	struct slot slot;
	struct counter_queue *queue;
	const struct counter_pass *pass; /* NULL: it is not counted */
	const struct kernel *kernel;
	/* Signals of the barriers, made when they are first needed: the queue has come to it; it may go on. */
	uint64_t ready, grant;
	uint64_t instance, correlation; /* of the dispatch */
	struct counter_sample *next;    /* of its line */
	bool spoilt; /* something else ran meanwhile, or its turn was not waited for */
	bool seen;   /* its turn is over; release, acquire */
	uint64_t output[] __attribute__((aligned(64)));
};

/* ---- turns.c ----
 *
 * One dispatch at a time has a GPU while its counters, registers of the GPU, are collected: see README.md. If one has
 * not ended RTL_COUNTERS_TIMEOUT after its turn began while others wait, it may wait for one of them, in memory. Then
 * all go, and counting ends for that GPU, which is logged. At the end of the process all go, too.
 *
 * Threads: turns_add by a queue's submitting thread, turns_join, turns_leave and turns_gone by those that create and
 * destroy it; the rest is the thread rtl-counters', which polls while something is under way and sleeps otherwise.
 */

/* What a queue waits with: samples in the order of their packets. All but `gpu` is the lock's. */
struct turns_line {
	struct turns_line *next;
	struct counter_gpu *gpu;
	struct counter_sample *first, **last;
	uint64_t added, taken;  /* how many samples */
	uint64_t arrived;       /* in which place its first one has come; 0: not yet */
	bool passed;            /* dispatches went by without a turn, and may still run */
	uint64_t passed_behind; /* how many samples were added before them */
};

/* Between two looks, of the counters' threads: a part of a time, within bounds. */
#define POLL_NS     20000u
#define POLL_MAX_NS 1000000u
static inline uint64_t turns_poll_ns(uint64_t since_ns, uint32_t part)
{
	const uint64_t ns = since_ns / part;

	return ns < POLL_NS ? POLL_NS : ns > POLL_MAX_NS ? POLL_MAX_NS : ns;
}

/* Starts the thread. False: there is none. */
bool turns_join(struct turns_line *line, struct counter_gpu *gpu);

/* Its queue is about to go: nothing of it gets a turn. What has one keeps it until the queue is gone. */
void turns_leave(struct turns_line *line);

/* Its queue is gone: nothing of it is looked at any more. */
void turns_gone(struct turns_line *line);

/* A sample whose packets are about to be submitted. */
void turns_add(struct turns_line *line, struct counter_sample *sample);

/* A dispatch goes by without a turn, behind what was added: until it has ended nobody else is counted right. */
void turns_pass_by(struct turns_line *line);

/* Counting has ended: all go, also those that come. */
void turns_release_all(void);

/* The runtime is about to end, and with it all queues and GPUs. */
void turns_forget(void);

/* ---- sample.c ---- */

/* Its last packet has ended: copies what was read. */
void sample_keep(struct counter_sample *sample);

/* Whether all that its queue has let by without a turn has surely ended. */
bool sample_line_is_idle(const struct turns_line *line);

/* Nobody waits for its turn any more. */
void sample_give_up(struct counter_sample *sample);

/* ---- sampler.c ----
 *
 * Counters of a GPU in intervals (RTL_COUNTERS_SAMPLE), of whatever its queues do meanwhile: see README.md. Dispatches
 * are not held back. If a reading takes longer than RTL_COUNTERS_TIMEOUT, nothing more is read on that GPU, which is
 * logged. Without enough registers passes take turns from interval to interval.
 *
 * Threads: sampler_add_queue by those that create queues; the rest is the thread rtl-sampler's, which alone
 * evaluates and publishes. The end waits until it is out of the runtime, never until it has published.
 * Locks: one, around the list of GPUs, and while a GPU's counters are started.
 */

/* A queue of that GPU was created: its work counts from here on. */
void sampler_add_queue(struct counter_gpu *gpu, hsa_queue_t *queue);

/* Reads once more, stops, and waits for that; not longer than so long. */
void sampler_stop(uint32_t timeout_ms);
