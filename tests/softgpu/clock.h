/* SPDX-License-Identifier: MIT
 *
 * Clock: the host's CLOCK_BOOTTIME (what the HSA system clock counts, in ns) and the GPU's
 * counter, which runs at SOFTGPU_CLOCK_HZ and was at SOFTGPU_CLOCK_OFF at boot.
 *
 * sg_clock_ns() is the first ns of a tick, so sg_clock_ticks(sg_clock_ns(t)) == t: times are
 * logged that way, which is what ROCr makes of the tick. Any thread, no locks.
 */
#pragma once

#include <stdint.h>
#include <time.h>

#include "config.h"

#define SG_NS_PER_S 1000000000u

static inline uint64_t sg_clock_read(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * SG_NS_PER_S + (uint64_t)t.tv_nsec;
}

static inline uint64_t sg_now_ns(void)
{
	return sg_clock_read(CLOCK_BOOTTIME);
}

static inline uint64_t sg_clock_ticks(uint64_t ns)
{
	return (uint64_t)((unsigned __int128)ns * sg_config.clock_hz / SG_NS_PER_S) +
	       sg_config.clock_offset_ticks;
}

static inline uint64_t sg_clock_ns(uint64_t ticks)
{
	unsigned __int128 scaled =
		(unsigned __int128)(ticks - sg_config.clock_offset_ticks) * SG_NS_PER_S;

	return (uint64_t)((scaled + sg_config.clock_hz - 1) / sg_config.clock_hz);
}
