/* SPDX-License-Identifier: MIT */
/*
 * A consumer that stands still: the collector is stopped, or a subscriber hangs. Threads wait for
 * it no longer than RTL_STALL_TIMEOUT in all. Then they discard and count, until it moves again.
 *
 * Time counts while some thread waits and no ring's tail moves. It does not count while the whole
 * process is stopped.
 *
 * Threads: any publisher.
 */
#ifndef RTL_CORE_STALL_H
#define RTL_CORE_STALL_H

#include <stdbool.h>

/* Asked before each sleep of a thread that waits for room. False: it must not wait. */
bool stall_may_wait(void);
/* Whether threads do not wait at present. */
bool stall_is_on(void);
/* A thread has found room that the consumer made. */
void stall_look_again(void);
/* Says once that rings grow no further: threads wait from now on, or events are discarded. */
void stall_say_full(bool waits);
/* In a child after fork. */
void stall_forget(void);

#endif
