/* SPDX-License-Identifier: MIT */
/*
 * What is asked for, from the environment:
 *
 *	RTL_COUNTERS		names of counters and metrics, comma-separated; empty: none
 *	RTL_COUNTERS_PASSES	rotate: if there are not registers enough for all, they take turns from
 *				dispatch to dispatch of a kernel; fail: then nothing is counted (rotate)
 *	RTL_COUNTERS_KERNELS	an extended regular expression: only kernels whose name fits, as rtl shows
 *				it
 *	RTL_COUNTERS_TIMEOUT	after how many seconds without progress, while others wait, the waiting
 *				for each other ends, and counting with it: 1 to 3600 (10)
 *	RTL_COUNTERS_SAMPLE	a number of ms: counters are not those of dispatches, but of the whole GPU
 *				in intervals of that length, 1 to 60000; empty: of dispatches
 *
 * Threads: read in OnLoad, once; afterwards read by all. No locks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counter_settings {
	char **names;
	size_t count; /* 0: no counters */
	bool rotate;
	uint64_t timeout_ns;
	uint64_t sample_ns; /* 0: of dispatches */
};

extern struct counter_settings counter_settings;

/* False: what is wrong was said in a line, and nothing is counted. */
bool counter_settings_read(void);

/* Whether a kernel with that symbol is to be counted. */
bool counter_settings_fit(const char *symbol);
