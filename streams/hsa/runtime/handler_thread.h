/* SPDX-License-Identifier: MIT */
/*
 * The runtime's own thread that calls handlers of signals: completions depend on it, so nothing of
 * ours waits on it.
 *
 * Threads: any; handler_thread_find once for each runtime, on a thread of ours.
 */
#ifndef STREAMS_HSA_HANDLER_THREAD_H
#define STREAMS_HSA_HANDLER_THREAD_H

#include <rtl/rtl.h>
#include <stdbool.h>
#include <stdint.h>

/* Its id, 0 if not known. Relaxed: a fact by itself. */
extern uint32_t handler_thread;

static inline uint32_t handler_thread_id(void)
{
	return __atomic_load_n(&handler_thread, __ATOMIC_RELAXED);
}

/* Whether the calling thread is it, as far as known. */
static inline bool handler_thread_is_this(void)
{
	return handler_thread_id() == rtl_thread_id();
}

/* Finds out which it is. It is known some time later. */
void handler_thread_find(void);

#endif
