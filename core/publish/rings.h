/* SPDX-License-Identifier: MIT */
/*
 * The rings of this process: first ones of threads, further ones for threads whose ring is full, free ones
 * that were drained, and a spare that is made ready before a thread needs it (rtl_room_prepare).
 *
 * Threads: under the bus's lock, where nothing else is said. Only one thread at a time makes the spare ready;
 * whoever takes it takes `spare.busy` for that.
 */
#ifndef RTL_CORE_RINGS_H
#define RTL_CORE_RINGS_H

#include <stddef.h>
#include <stdint.h>

#include "ring.h"

/* A thread's first ring: a free one, or a new one. NULL: there is none, errno says why; 0: the total is used up. */
struct ring_header *rings_take_first(uint32_t tid);
/* A further one, for a thread whose ring is full. NULL: there is none within the budget. */
struct ring_header *rings_take_further(uint32_t tid);
/* Of RTL_BUFFER_TOTAL, what is for further rings. Any thread. */
size_t rings_growth_most(void);
/* Tells who drains a new spool how much its rings may take. */
void rings_tell_budget(void);
/* In a child after fork: forgets the parent's spare. */
void rings_forget(void);

#endif
