/* SPDX-License-Identifier: MIT */
/*
 * A GPU's ticks as nanoseconds. The runtime's conversion takes a lock and a division; it is linear
 * until the runtime calibrates anew, which it does a few times a second. So it is asked now and
 * then, and what lies near is computed from its answers: the same to a nanosecond.
 *
 * Threads: the caller's; one at a time for each clock.
 */
#ifndef STREAMS_HSA_GPU_CLOCK_H
#define STREAMS_HSA_GPU_CLOCK_H

#include <hsa/hsa.h>
#include <stdint.h>

/* All 0 is one that has asked for nothing yet. */
struct gpu_clock {
	uint64_t ticks, ns; /* what the runtime said last; 0: nothing */
	double ns_per_tick;
};

/* What asks the runtime; 0: it cannot tell. */
typedef uint64_t gpu_clock_ask(hsa_agent_t agent, uint64_t ticks);

/* 0: not known. */
uint64_t gpu_clock_ns(struct gpu_clock *clock, gpu_clock_ask *ask, hsa_agent_t agent,
		      uint64_t ticks);

#endif
