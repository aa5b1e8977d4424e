/* SPDX-License-Identifier: MIT */
#include "system_clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "interceptor.h"

/* Of the HSA system clock to rtl's; offset 0 wherever both are CLOCK_BOOTTIME. */
static struct {
	int64_t offset_ns;
	double ns_per_tick;
} system_clock = {.ns_per_tick = 1};

/* Both clocks are read several times: the narrowest pair has the least error. */
void system_clock_read(void)
{
	uint64_t hz = 0, ticks = 0, best = UINT64_MAX;

	system_clock.ns_per_tick = 1;
	system_clock.offset_ns = 0;
	if (!interceptor.hsa.system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &hz) && hz)
		system_clock.ns_per_tick = 1e9 / (double)hz;
	for (int i = 0; i < 5; i++) {
		const uint64_t before = rtl_clock_ns();

		if (interceptor.hsa.system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &ticks))
			return;
		const uint64_t after = rtl_clock_ns();
		const uint64_t hsa_ns =
			hz == 1000000000 ? ticks
					 : (uint64_t)((double)ticks * system_clock.ns_per_tick);

		if (after - before < best) {
			best = after - before;
			system_clock.offset_ns = (int64_t)(before + best / 2 - hsa_ns);
		}
	}
	/* A small difference is the time that reading takes: it is the same clock. */
	if (llabs(system_clock.offset_ns) < 100000)
		system_clock.offset_ns = 0;
	else
		rtl_log(RTL_LEVEL_INFO, "hsa", "the HSA system clock is %" PRId64 " ns behind ours",
			system_clock.offset_ns);
}

uint64_t system_clock_ns(uint64_t ticks)
{
	if (system_clock.ns_per_tick != 1.0)
		ticks = (uint64_t)((double)ticks * system_clock.ns_per_tick);
	return ticks + (uint64_t)system_clock.offset_ns;
}

uint64_t system_clock_of_hip(uint64_t ns)
{
	return ns ? ns + (uint64_t)system_clock.offset_ns : 0;
}

uint64_t system_clock_gpu_ns(hsa_agent_t agent, uint64_t gpu_ticks)
{
	const int saved = errno;
	uint64_t ticks = 0;
	bool known;

	if (!gpu_ticks)
		return 0;
	known = !interceptor.hsa.convert_tick(agent, gpu_ticks, &ticks);
	errno = saved;
	return known ? system_clock_ns(ticks) : 0;
}

/* ---- a GPU's ticks as nanoseconds */

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
