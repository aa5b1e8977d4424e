/* SPDX-License-Identifier: MIT */
/*
 * Counters of a GPU in intervals (RTL_COUNTERS_SAMPLE), of whatever its queues do meanwhile.
 *
 * Each GPU has a queue of ours on which counters are started when its first queue is created, read at
 * each interval, and stopped at the end. The work of a program's queue counts once that queue has run a
 * packet of ours, its first. Dispatches are not held back.
 *
 * If a reading does not end for RTL_COUNTERS_TIMEOUT, nothing more is read on that GPU, and a line says so.
 * If there are not registers enough, passes take turns from interval to interval.
 *
 * Threads: sampler_add_queue by those that create queues; the rest is the thread rtl-sampler's, which alone
 * evaluates and publishes. The end waits until it is out of the runtime, never until it has published.
 * Locks: one, around the list of GPUs, and while a GPU's counters are started.
 */
#ifndef STREAMS_HSA_COUNTER_SAMPLER_H
#define STREAMS_HSA_COUNTER_SAMPLER_H

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

struct counter_gpu;

/* A queue of that GPU was created: its work counts from here on. */
void sampler_add_queue(struct counter_gpu *gpu, hsa_queue_t *queue);

/* Reads once more, stops, and waits for that; not longer than so long. */
void sampler_stop(uint32_t timeout_ms);

/* In the child of a fork: the thread is not here. */
void sampler_forked(void);

#endif
