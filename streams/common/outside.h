/* SPDX-License-Identifier: MIT */
/*
 * Whether the program is outside of the roctx ranges that the user wants recorded (RTL_RANGE: names,
 * one a line). Inside, everything is recorded, whatever thread it is on: as long as a range of such a
 * name is open on any thread of the process, be it pushed or started. What begins outside is counted
 * as left out when it would have been published; what began inside is recorded when it ends. What the
 * rest of a trace is understood by is recorded all the time: queues, code, GPUs, memory, names.
 *
 * Threads: any. Relaxed: what other threads do around the change may be recorded or not.
 */
#ifndef STREAMS_COMMON_OUTSIDE_H
#define STREAMS_COMMON_OUTSIDE_H

#include <stdbool.h>
#include <stddef.h>

/* 0: not known yet; below: all is wanted; else how many such ranges are open, plus 1. */
extern int outside_open;

/* Reads the setting; what outside_open is then. */
int outside_find_out(void);

static inline bool is_outside(void)
{
	int open = __atomic_load_n(&outside_open, __ATOMIC_RELAXED);

	if (__builtin_expect(open < 0, 1))
		return false;
	if (!open)
		open = outside_find_out();
	return open == 1;
}

/* Whether the user has named ranges: then all are followed. */
static inline bool outside_ranges_count(void)
{
	return is_outside() || __atomic_load_n(&outside_open, __ATOMIC_RELAXED) > 1;
}

/* Whether a range of that name is recorded with all that happens in it. Then it is open from here on,
 * until outside_range_closes. */
bool outside_range_opens(const char *name, size_t length);
void outside_range_closes(void);

#endif
