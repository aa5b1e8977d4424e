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
