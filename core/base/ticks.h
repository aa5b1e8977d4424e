/* SPDX-License-Identifier: MIT */
/*
 * From ticks to ns on any thread, at once: for inline events and rtl_ticks_to_ns. (What goes
 * through the rings is converted later, by interpolation; see clock.h.)
 *
 * The line is made of stretches, each a straight piece that says for an interval of ticks, some of
 * it in the future when it is made, what their ns are. A stretch never changes, and the next one
 * begins where it ends, in ticks and in ns: so all threads agree on the ns of a tick, and the line
 * never runs backwards. What the clock has drifted off a stretch the next one makes up for.
 *
 * Threads: all functions from any, and from signal handlers. Reading takes no lock. A thread that
 * finds the end of the line near makes the next stretch. One that is beyond the end while another
 * thread is at that (and perhaps was stopped there) waits some us, and then promises that the last
 * stretch goes as far as it needs: the next one begins behind all promises.
 */
#ifndef RTL_CORE_TICKS_H
#define RTL_CORE_TICKS_H

#include <stdint.h>

#include "clock.h"

#define TICKS_STRETCHES 256u

struct ticks_stretch {
	uint64_t ticks;  /* at which it begins */
	uint64_t ns;     /* there */
	uint64_t length; /* ticks; those beyond it are the next one's */
	uint64_t serves; /* so many of them at once; for the others ticks_to_ns_slow makes the next
			  * stretch in time */
	uint64_t slope;  /* ns per tick << 48 */
};

struct ticks_line {
	/* How many there have been; release when the newest is complete, acquire by readers. */
	uint64_t count;
	struct ticks_stretch stretches[TICKS_STRETCHES]; /* number n at n % TICKS_STRETCHES */
};

extern struct ticks_line ticks_line;

/* The way where the newest stretch does not serve. */
uint64_t ticks_to_ns_slow(uint64_t ticks);

static inline uint64_t ticks_along(uint64_t ticks, uint64_t slope)
{
	return (uint64_t)((unsigned __int128)ticks * slope >> 48);
}

/* ns of CLOCK_BOOTTIME at `ticks`. The newest stretch is made before it begins: until then the one
 * before serves. */
static inline uint64_t ticks_to_ns(uint64_t ticks)
{
	uint64_t n = __atomic_load_n(&ticks_line.count, __ATOMIC_ACQUIRE), past, ns;
	const struct ticks_stretch *s = &ticks_line.stretches[(n - 1) % TICKS_STRETCHES];

	/* acquire: the look at count below comes after these */
	past = ticks - __atomic_load_n(&s->ticks, __ATOMIC_ACQUIRE);
	if (past >= __atomic_load_n(&s->serves, __ATOMIC_ACQUIRE)) {
		if (__builtin_expect((int64_t)past >= 0 || n < 2, 0))
			return ticks_to_ns_slow(ticks);
		s = &ticks_line.stretches[(n - 2) % TICKS_STRETCHES];
		past = ticks - __atomic_load_n(&s->ticks, __ATOMIC_ACQUIRE);
		if (__builtin_expect((int64_t)past < 0, 0))
			return ticks_to_ns_slow(ticks);
	}
	ns = __atomic_load_n(&s->ns, __ATOMIC_ACQUIRE) +
	     ticks_along(past, __atomic_load_n(&s->slope, __ATOMIC_ACQUIRE));
	/* a place is written to again only when all others have been since */
	if (__builtin_expect(__atomic_load_n(&ticks_line.count, __ATOMIC_RELAXED) != n, 0))
		return ticks_to_ns_slow(ticks);
	return ns;
}

#endif
