/* SPDX-License-Identifier: MIT */
/* clock.h: the clocks that the subscriber reads. Any thread. */
#ifndef RTL_CLICKHOUSE_CLOCK_H
#define RTL_CLICKHOUSE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/** For waiting. */
static inline uint64_t clock_now_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

/** Since 1970. */
static inline uint64_t clock_realtime_ns(void)
{
	return clock_read_ns(CLOCK_REALTIME);
}

#endif
