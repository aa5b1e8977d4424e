/* SPDX-License-Identifier: MIT */
/*
 * A thread of low priority that drains the traced processes: where there is no idle core, the program
 * goes on and its events wait in its buffers. When these get short, the caller, whose priority is as it
 * was, drains them itself until they are not: a thread may give up priority, but seldom may take it back.
 *
 * One of both drains at a time.
 */
#ifndef RTL_CLI_BACKGROUND_H
#define RTL_CLI_BACKGROUND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <rtl/collector.h>

struct background {
	struct rtl_collector *collector;
	uint32_t sleep_ms; /* longest sleep of a poll */
	uint32_t met;      /* as the last poll said */
	bool is_quick;     /* the caller drains, always */
	bool runs;         /* there is a thread */
	bool lent;         /* it drains; under the lock, as `ends` */
	bool ends;
	uint64_t nice_until_ns; /* CLOCK_MONOTONIC: as it was starved; under the lock */
	bool woken;             /* it is to give the collector back; seq_cst: see lower_class */
	int nice;               /* the caller's */
	uint32_t turns;         /* polls that the thread has made; relaxed: a hint */
	uint32_t
		tid; /* the thread's, if its class can be changed, else 0; seq_cst: see lower_class */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
};

/**
 * Prepares it; the thread starts with the first poll.
 * @param is_quick  draining takes less than it takes the program to get new buffers instead: it is done at
 *                  once, by the caller, and there is no thread
 */
void background_init(struct background *background, struct rtl_collector *collector,
		     uint32_t sleep_ms, bool is_quick);
/** Drains, by the one or the other, for some time: until the next poll should be the caller's, or
 *  background_wake. Returns how many processes have been met. */
uint32_t background_poll(struct background *background);
/** From here on polls end at once. Any thread. */
void background_wake(struct background *background);
/** Ends the thread: the collector is the caller's alone. */
void background_fini(struct background *background);

#endif
