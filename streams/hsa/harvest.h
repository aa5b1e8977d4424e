/* SPDX-License-Identifier: MIT */
/*
 * The harvester: a thread that looks after dispatches under way, publishes those that have
 * finished, and does for the submitting threads what they have no time for (more slots, more
 * relays).
 *
 * Nobody waits for a GPU through it, and it waits for none: it polls, every 0.1 to 1 ms while
 * something is under way, and sleeps otherwise. What it waits for is room in its ring of
 * events. It never holds a lock then.
 *
 * Threads: as each function says. No locks; it owns the queues that it was given. When it has to
 * stop and waits for room, whoever stops it takes the queues over, and it ends without a look at
 * them or at the runtime, which may be gone by then.
 */
#ifndef STREAMS_HSA_HARVEST_H
#define STREAMS_HSA_HARVEST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct queue;

/* 1 while the harvester sleeps until it is woken. Relaxed in the submitting thread, which has
 * stored its slot before; seq_cst when it goes to sleep: see sleep_idle. */
extern _Atomic uint32_t harvest_idle;

/* Any thread: starts it unless it runs. 0 or RTL_ENOMEM. */
int harvest_start(void);

/* A thread that has made a queue: hands it over. */
void harvest_add(struct queue *queue);

/* Any thread: look now. */
void harvest_wake(void);

/*
 * Around what may wait for a subscriber. In between, the harvester touches nothing of the runtime's
 * and nothing that is freed before the process ends. On other threads they do nothing.
 */
void harvest_out(void);
void harvest_in(void);

/* In the harvester: whether it has been given up, and leaves everything as it is. Else false. */
bool harvest_left(void);

/* Submitting thread: something is under way. */
static inline void harvest_notify(void)
{
	if (__builtin_expect(atomic_load_explicit(&harvest_idle, memory_order_relaxed) != 0, 0))
		harvest_wake();
}

/* How often it has gone through all queues; wraps around. */
uint32_t harvest_passes(void);

/* Any thread but the harvester: makes it look, and waits until it has, 1 ms at most. */
void harvest_wait_pass(void);

/* Waits until nothing of the queue is under way, or the time is over. */
void harvest_drain(struct queue *queue, uint32_t timeout_ms);

/* Ends the thread when nothing is under way or the time is over; the rest is counted. */
void harvest_stop(uint32_t timeout_ms);

/* In the child of a fork: there is no such thread. */
void harvest_forked(void);

#endif
