/* SPDX-License-Identifier: MIT */
#include "gpu_clock.h"

/* How far apart the two answers are that tell the rate: an error of 1 ns in one of them is 0.01 ns
 * at GPU_CLOCK_NEAR. */
#define RATE_SHIFT 20
#define RATE_TICKS ((uint64_t)1 << RATE_SHIFT)
/* A clock of less than a megahertz is none of a GPU's: its times are not computed. */
#define RATE_MOST 10

/* For a time after the last answer: of what ended. An older one is not worth a new answer. */
static uint64_t ask_anew(struct gpu_clock *clock, gpu_clock_ask *ask, hsa_agent_t agent,
			 uint64_t ticks)
{
	/* The later first: the runtime may calibrate for it, which serves both. */
	const uint64_t ns = ask(agent, ticks);
	const uint64_t before = ticks > RATE_TICKS ? ask(agent, ticks - RATE_TICKS) : 0;

	if (!before || before > ns)
		return ns;
	if (ns - before < RATE_TICKS << RATE_MOST)
		*clock = (struct gpu_clock){ticks, ns,
					    (int64_t)((ns - before) << (32 - RATE_SHIFT))};
	return ns;
}

uint64_t gpu_clock_far_ns(struct gpu_clock *clock, gpu_clock_ask *ask, hsa_agent_t agent,
			  uint64_t ticks)
{
	if (!ticks)
		return 0;
	return ticks > clock->ticks ? ask_anew(clock, ask, agent, ticks) : ask(agent, ticks);
}
