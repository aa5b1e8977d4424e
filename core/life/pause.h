/* SPDX-License-Identifier: MIT */
/*
 * `rtl start` and `rtl stop` for a process that drains itself: RTL_CONTROL names the folder of a page
 * in which they write whether it records (format/session_page.h). Without it, it does.
 *
 * Threads: pause_join and pause_leave under the start lock, pause_is_on the consumer's.
 */
#ifndef RTL_CORE_PAUSE_H
#define RTL_CORE_PAUSE_H

#include <stdbool.h>

/* A page that cannot be had is said: nothing is recorded then, as nobody could start it. */
void pause_join(void);
/* In a child after fork: forget it. */
void pause_leave(void);
/* Whether nothing is wanted for now. */
bool pause_is_on(void);

#endif
