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
#include <stdint.h>

extern bool program_paused;
extern uint32_t program_pause_changes; /* how often that was set */

static inline bool is_paused(void)
{
	return __builtin_expect(__atomic_load_n(&program_paused, __ATOMIC_RELAXED), 0);
}

static inline void set_paused(bool paused)
{
	__atomic_store_n(&program_paused, paused, __ATOMIC_RELAXED);
	/* Release: with the acquire below. */
	__atomic_fetch_add(&program_pause_changes, 1, __ATOMIC_RELEASE);
}

/* For who looks now and then at what calls have left: the same number as before means no change between. */
static inline uint32_t paused_changes(void)
{
	return __atomic_load_n(&program_pause_changes, __ATOMIC_ACQUIRE);
}

#endif
