/* SPDX-License-Identifier: MIT */
/* Points in time for functions that wait until one. */
#ifndef RTL_CORE_DEADLINE_H
#define RTL_CORE_DEADLINE_H

#include <stdint.h>
#include <time.h>

static inline struct timespec deadline_in(clockid_t clock, uint32_t timeout_ms)
{
	struct timespec until;

	clock_gettime(clock, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	return until;
}

#endif
