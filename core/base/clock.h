/* SPDX-License-Identifier: MIT */
/*
 * rtl's clock. Events are stamped in ticks: the TSC where the kernel itself trusts it (it is the
 * current clock source), else CLOCK_BOOTTIME in ns. A clock line turns ticks into ns of
 * CLOCK_BOOTTIME, the HSA system clock, by interpolating between pairs of readings of both that
 * were taken before and after: no frequency has to be known, and the result never runs backwards.
 *
 * Threads: clock_ticks from any; a clock line belongs to one thread, or to its owner's lock.
 */
#ifndef RTL_CORE_CLOCK_H
#define RTL_CORE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "compiler.h"

enum clock_kind { CLOCK_KIND_NS = 0, CLOCK_KIND_TSC = 1 };

/* Both clocks at one moment. */
struct clock_pair {
	uint64_t ticks;
	uint64_t ns;
	uint64_t error_ticks; /* the reading of ns lies within +- this of ticks */
	uint64_t slope; /* ns per tick << 48 in the stretch that ends here; clock_line_add's */
};

#define CLOCK_LINE_PAIRS 64

/* The pairs of one process, oldest first; a full line forgets every second of its older half. */
struct clock_line {
	uint32_t count;
	uint32_t taken; /* since the beginning */
	struct clock_pair pairs[CLOCK_LINE_PAIRS];
};

/* Set once when the library is loaded, read-only afterwards. */
extern enum clock_kind clock_kind HIDDEN;
/* 0: a reading costs no call. The same for whoever tests several things at once. */
extern uint32_t clock_calls HIDDEN;

static inline uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_ticks(void)
{
#ifdef __x86_64__
	if (__builtin_expect(clock_kind == CLOCK_KIND_TSC, 1))
		return __builtin_ia32_rdtsc();
#endif
	return clock_ns();
}

/* As clock_ticks, but all earlier loads are complete when it reads. */
static inline uint64_t clock_ticks_after_loads(void)
{
#ifdef __x86_64__
	if (__builtin_expect(clock_kind == CLOCK_KIND_TSC, 1)) {
		__builtin_ia32_lfence();
		return __builtin_ia32_rdtsc();
	}
#else
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
	return clock_ns();
}

/* As clock_ticks, but no earlier load is still under way when it reads, nor later ones begun. */
static inline uint64_t clock_ticks_ordered(void)
{
#ifdef __x86_64__
	uint64_t t;

	__builtin_ia32_lfence();
	t = clock_ticks();
	__builtin_ia32_lfence();
	return t;
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return clock_ticks();
#endif
}

void clock_pair_take(struct clock_pair *pair);
void clock_line_add(struct clock_line *line, const struct clock_pair *pair);
/* ns of CLOCK_BOOTTIME at `ticks`; the line needs at least one pair. */
uint64_t clock_line_ns(const struct clock_line *line, uint64_t ticks);

#endif
