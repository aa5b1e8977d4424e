/* SPDX-License-Identifier: MIT */
/*
 * A consumer that does not get on: the collector is stopped, or a subscriber hangs. Threads wait
 * for it no longer than RTL_STALL_TIMEOUT in all, then go on as with policy discard until it moves
 * again.
 *
 * The time is that in which some thread waited and no ring's tail moved, over all threads. Where
 * the whole process was stopped meanwhile, that does not count.
 *
 * Threads: any publisher.
 */
#ifndef RTL_CORE_STALL_H
#define RTL_CORE_STALL_H

#include <stdbool.h>

/* Before each sleep of a thread that waits for room. False: it is not to wait. */
bool stall_may_wait(void);
/* Whether threads do not wait for now. */
bool stall_is_on(void);
/* A thread has found room that the consumer made. */
void stall_look_again(void);
/* In a child after fork. */
void stall_forget(void);

#endif
