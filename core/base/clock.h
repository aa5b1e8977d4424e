/* SPDX-License-Identifier: MIT */
/* rtl's clock. Ticks are the TSC where the kernel uses it as its clock source, else CLOCK_BOOTTIME in ns. A clock
 * line converts them to ns of CLOCK_BOOTTIME (the HSA system clock) by interpolating between readings of
 * both: it needs no frequency and never runs backwards.
 *
 * Threads: clock_ticks from any; a clock line belongs to one thread, or to its owner's lock. */
#pragma once

#include <stdbool.h>
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

/* ---- ticks to ns at once, on any thread: for inline events and rtl_ticks_to_ns. Rings are converted later.
 *
 * The line consists of stretches, straight pieces that reach into the future. A stretch never changes, and
 * the next begins where it ends, in ticks and ns: so all threads agree on a tick's ns, and time never runs
 * backwards. The next stretch corrects the drift.
 *
 * Threads: any, signal handlers too; reading takes no lock. A thread near the line's end makes the next
 * stretch. A thread beyond the end while another makes it waits some us and then promises that the last
 * stretch reaches that far: the next one begins behind all promises. */

#define TICKS_STRETCHES 256u

/* A line of its own: whoever reads one that serves meets no writer. */
struct ticks_stretch {
	uint64_t ticks; /* at which it begins */
	uint64_t ns;    /* there */
	uint64_t slope; /* ns per tick << 48 */
	uint64_t
		serves; /* ticks; the newest leaves the rest to ticks_to_ns_slow, which makes the next in time */
	uint64_t length; /* ticks; those beyond it are the next one's */
} __attribute__((aligned(64)));

struct ticks_line {
	/* How many there have been; release when the newest is complete, acquire by readers. */
	uint64_t count;
	struct ticks_stretch stretches[TICKS_STRETCHES]; /* number n at n % TICKS_STRETCHES */
};

extern struct ticks_line ticks_line HIDDEN;

/* The current stretch, or one shortly before; at first one that serves nothing. Release, acquire. */
extern struct ticks_stretch *ticks_now HIDDEN;

/* The way where that one does not serve. */
uint64_t ticks_to_ns_slow(uint64_t ticks);

static inline uint64_t ticks_along(uint64_t ticks, uint64_t slope)
{
	return (uint64_t)((unsigned __int128)ticks * slope >> 48);
}

/* Whether these ticks are among those that a stretch serves; then their ns. */
static inline bool ticks_served(const struct ticks_stretch *s, uint64_t ticks, uint64_t *ns)
{
	/* acquire: the second look at `ticks` comes after these */
	const uint64_t begin = __atomic_load_n(&s->ticks, __ATOMIC_ACQUIRE);

	if (__builtin_expect(ticks - begin >= __atomic_load_n(&s->serves, __ATOMIC_ACQUIRE), 0))
		return false;
	*ns = __atomic_load_n(&s->ns, __ATOMIC_ACQUIRE) +
	      ticks_along(ticks - begin, __atomic_load_n(&s->slope, __ATOMIC_ACQUIRE));
	/* A place is written to again only when all others have been since. It gets its new ticks
	 * first, and they are later than those of any reader who found the place before. */
	return __builtin_expect(__atomic_load_n(&s->ticks, __ATOMIC_RELAXED) == begin, 1);
}

/* ns of CLOCK_BOOTTIME at `ticks`. */
static inline uint64_t ticks_to_ns(uint64_t ticks)
{
	uint64_t ns;

	if (__builtin_expect(
		    ticks_served(__atomic_load_n(&ticks_now, __ATOMIC_ACQUIRE), ticks, &ns), 1))
		return ns;
	return ticks_to_ns_slow(ticks);
}
