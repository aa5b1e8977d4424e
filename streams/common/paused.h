/* SPDX-License-Identifier: MIT */
/*
 * Whether the program wants nothing recorded just now (roctxProfilerPause). What it submits, calls
 * and marks meanwhile is passed on as it is and not counted, as when nobody listens; what had begun
 * before is recorded when it ends. What the rest of a trace is understood by goes on: queues, code,
 * GPUs, memory.
 *
 * Threads: any. Relaxed: what happens around the change may be recorded or not; what a thread does
 * after it has paused is not.
 */
#ifndef STREAMS_COMMON_PAUSED_H
#define STREAMS_COMMON_PAUSED_H

#include <stdbool.h>

extern bool program_paused;

static inline bool is_paused(void)
{
	return __builtin_expect(__atomic_load_n(&program_paused, __ATOMIC_RELAXED), 0);
}

static inline void set_paused(bool paused)
{
	__atomic_store_n(&program_paused, paused, __ATOMIC_RELAXED);
}

#endif
