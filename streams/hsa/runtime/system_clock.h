/* SPDX-License-Identifier: MIT */
/* Times of the GPU and of the HSA system clock, in the clock of rtl.
 *
 * Threads: system_clock_read in OnLoad, the others any. No locks. */
#pragma once

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

/* Measures the HSA system clock against rtl's. */
void system_clock_read(void);

/* Ticks of a GPU, by the runtime's own translation; 0 if it cannot. */
uint64_t system_clock_gpu_ns(hsa_agent_t agent, uint64_t gpu_ticks);

/* The same where HIP has made nanoseconds of it. */
uint64_t system_clock_of_hip(uint64_t ns);

/* Ticks of the HSA system clock. */
uint64_t system_clock_ns(uint64_t ticks);

/* A GPU's ticks as nanoseconds. The runtime's conversion takes a lock and a division, and is linear between
 * calibrations, a few times a second. So it is asked now and then, and what lies near is computed from its answers: the
 * same to a nanosecond. Threads: one at a time for each clock. */

/* All 0 is one that has asked for nothing yet. */
struct gpu_clock {
	uint64_t ticks, ns; /* what the runtime said last; 0: nothing */
	int64_t rate;       /* 2^-32 ns a tick */
};

/* How far an answer holds: 82 us of a clock of 100 MHz. */
#define GPU_CLOCK_NEAR 8192

/* What asks the runtime; 0: it cannot tell. */
typedef uint64_t gpu_clock_ask(hsa_agent_t agent, uint64_t ticks);

uint64_t gpu_clock_far_ns(struct gpu_clock *clock, gpu_clock_ask *ask, hsa_agent_t agent,
			  uint64_t ticks);

/* Whether these ticks are near those of the last answer, if there is one. Answers are kept for more ticks
 * than that, so 0, which is no time, is near none. */
static inline bool gpu_clock_is_near(const struct gpu_clock *clock, uint64_t ticks)
{
	return ticks - clock->ticks + GPU_CLOCK_NEAR <= 2 * GPU_CLOCK_NEAR;
}

/* Their ns. */
static inline uint64_t gpu_clock_near_ns(const struct gpu_clock *clock, uint64_t ticks)
{
	const int64_t since = (int64_t)(ticks - clock->ticks);

	return clock->ns + (uint64_t)((since * clock->rate + (1ll << 31)) >> 32);
}

/* 0: not known. */
static inline uint64_t gpu_clock_ns(struct gpu_clock *clock, gpu_clock_ask *ask, hsa_agent_t agent,
				    uint64_t ticks)
{
	return __builtin_expect(ticks && clock->ns && gpu_clock_is_near(clock, ticks), 1)
		       ? gpu_clock_near_ns(clock, ticks)
		       : gpu_clock_far_ns(clock, ask, agent, ticks);
}
