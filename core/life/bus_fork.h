/* SPDX-License-Identifier: MIT */
/*
 * What becomes of the bus when the process forks: nobody is in the middle of it, and the child
 * takes nothing of its parent's but the registries. And what that needs of the bus's start (bus.c).
 */
#ifndef RTL_CORE_BUS_FORK_H
#define RTL_CORE_BUS_FORK_H

#include <stdbool.h>
#include <stdint.h>

/* From now on forks are prepared for before all that was registered for them until now. At the
 * first start; children inherit it. Until then a constructor's handlers do the same. */
void bus_fork_watch(void);

/* The lock that is held while the bus starts; recursive. False: it was not to be had so fast. */
bool bus_lock_start(uint32_t timeout_ms);
void bus_unlock_start(void);
/* Around a look at what is loaded (dl_iterate_phdr): a fork waits for it, for a second at most.
 * glibc does not open that lock anew in a child, whose first look would wait for ever. Not under
 * bus.lock. What the first returns is for the second. */
bool bus_fork_keep_off(void);
void bus_fork_let(bool kept_off);

/* A lock is about to be taken. */
void bus_note_begin(void);
/* Whether a lock of the bus's was ever taken in this process, or its parents. */
bool bus_has_begun(void);
/* Whether the calling thread has bus.lock for certain. */
bool bus_is_locked_here(void);
/* In a child: whoever was starting the bus, or was its thread, is not here. */
void bus_forget_start(void);

#endif
