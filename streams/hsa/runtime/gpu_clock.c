/* SPDX-License-Identifier: MIT */
/* A GPU's ticks as nanoseconds: see gpu_clock.h. */
#include "gpu_clock.h"

/* How far an answer holds: 82 us of a clock of 100 MHz. */
#define NEAR_TICKS 8192
/* How far apart the two answers are that tell the rate: an error of 1 ns in one of them is 0.01 ns
 * at NEAR_TICKS. */
#define RATE_TICKS ((uint64_t)1 << 20)

static uint64_t computed(const struct gpu_clock *clock, uint64_t ticks)
{
	const double ns = (double)(int64_t)(ticks - clock->ticks) * clock->ns_per_tick;

	return clock->ns + (uint64_t)(int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
}

/* For a time after the last answer: of what ended. An older one is not worth a new answer. */
static uint64_t ask_anew(struct gpu_clock *clock, gpu_clock_ask *ask, hsa_agent_t agent,
			 uint64_t ticks)
{
	/* The later first: the runtime may calibrate for it, which serves both. */
	const uint64_t ns = ask(agent, ticks);
	const uint64_t before = ticks > RATE_TICKS ? ask(agent, ticks - RATE_TICKS) : 0;

	if (!before || before > ns)
		return ns;
	*clock = (struct gpu_clock){ticks, ns, (double)(ns - before) / (double)RATE_TICKS};
	return ns;
}

uint64_t gpu_clock_ns(struct gpu_clock *clock, gpu_clock_ask *ask, hsa_agent_t agent,
		      uint64_t ticks)
{
	if (!ticks)
		return 0;
	if (clock->ns && ticks - clock->ticks + NEAR_TICKS <= 2 * NEAR_TICKS)
		return computed(clock, ticks);
	return ticks > clock->ticks ? ask_anew(clock, ask, agent, ticks) : ask(agent, ticks);
}
