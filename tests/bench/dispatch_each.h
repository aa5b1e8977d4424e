/* SPDX-License-Identifier: MIT */
/* dispatch_each.h: the time of each single submission by the processor's counter, and its median: what other programs
 * on the machine take from a few of them does not show in it. One struct each is one thread's. The reading of the
 * counter, some 20 ns, is in every figure. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

struct each {
	uint32_t *ticks;
	long count;
	uint64_t first_tick;
	double first_ns;
};

static inline double each_clock_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Room for `most` submissions; ends the program if there is none. */
static inline void each_init(struct each *each, long most)
{
	each->ticks = (uint32_t *)calloc((size_t)most, sizeof(*each->ticks));
	if (!each->ticks)
		abort();
	each->count = 0;
	each->first_ns = each_clock_ns();
	each->first_tick = __rdtsc();
}

static inline uint64_t each_begin(void)
{
	return __rdtsc();
}

static inline void each_end(struct each *each, uint64_t begin)
{
	const uint64_t ticks = __rdtsc() - begin;

	each->ticks[each->count++] = ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;
}

static inline int each_compare(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The median in ns; frees what each_init took. */
static inline double each_median_ns(struct each *each)
{
	const double ns_per_tick =
		(each_clock_ns() - each->first_ns) / (double)(__rdtsc() - each->first_tick);
	double median = 0;

	if (each->count) {
		qsort(each->ticks, (size_t)each->count, sizeof(*each->ticks), each_compare);
		median = each->ticks[each->count / 2] * ns_per_tick;
	}
	free(each->ticks);
	each->ticks = NULL;
	return median;
}
