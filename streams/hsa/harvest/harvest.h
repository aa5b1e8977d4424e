/* SPDX-License-Identifier: MIT */
/*
 * The room `harvest`: what is under way on the GPU, from its submission until it has been published.
 * It has slots, the signals by which their ends are seen, the sources that submit them, and the
 * harvester. That is a thread that looks after the sources and publishes what has finished. It also
 * does for the submitting threads what they have no time for (more slots).
 *
 * Nobody waits for a GPU through the harvester, and it waits for none. It polls, every 0.1 to 1 ms
 * while something is under way, and sleeps otherwise. It waits only for room in its ring of events.
 *
 * Other threads help. A thread that has waited for the GPU publishes what has finished before the
 * program goes on. A thread that submits does so when the harvester has fallen behind.
 *
 * Threads of this room: one at a time makes a pass over the sources, the harvester or a helper: whose
 * turn it is (turn.h). It keeps the turn while it waits for room. When the harvester has to stop
 * meanwhile, the sources are taken from whoever has the turn. That thread then touches neither them
 * nor the runtime, which may be gone by then. Other functions say whose they are.
 * Locks: one for each bucket of signal_watch.c, held for loads and stores.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct slot;
struct source;

/* What a submitting thread reads each time; in a line of their own, which is seldom written. */
struct harvest_signs {
	/* 1 while the harvester sleeps until it is woken. Relaxed in the submitting thread, which
	 * has stored its slot before; seq_cst when it goes to sleep: see sleep_idle. */
	uint32_t idle;
	/* rtl_ticks when the harvester's last pass that has ended began, or when it was woken;
	 * relaxed, a hint. */
	uint64_t looked_ticks;
	/* How long ago that may be; relaxed, written when it is started. */
	uint64_t patience_ticks;
} __attribute__((aligned(64)));

extern struct harvest_signs harvest_signs;

/* Any thread: starts it unless it runs. 0 or RTL_ENOMEM. */
int harvest_start(void);

/* A thread that has made a source of work: hands it over. */
void harvest_add(struct source *source);

/* Any thread: look now. */
void harvest_wake(void);

/*
 * A thread that has waited for the GPU: publishes what has finished. If another one is at it, waits
 * for that first, as long as a submitting thread waits for a slow subscriber. The runtime's handler
 * thread, on which others depend, waits for no subscriber: only until the other one, which may have
 * lost the processor, is through. HIP's threads may learn from it alone that something has ended. Within a pass this does nothing. Whether it has looked, and
 * published all that it found.
 */
bool harvest_help(void);

/* Submitting thread, within the queue's lock, as the last pass is long ago: publishes some of what
 * has finished, as far as there is room; else gives the harvester the processor for a moment. */
void harvest_catch_up(void);

/* Wakes the harvester from its long sleep. */
void harvest_rouse(uint64_t now_ticks);

/*
 * The process is about to end without a word: has the harvester look,
 * and waits until it has, half a second at most. Any thread, also in a signal handler or in the
 * child of a vfork, where it does nothing.
 */
void harvest_leaving(void);

/* ends.c, once in a process: where this library is preloaded, the functions by which a process ends without a word do
 * that; quick_exit everywhere. */
void ends_init(void);

/* Submitting thread: the recording is over, but not the program. What is under way then is not
 * waited for: other threads may be in HIP, whose end must come soon. */
void harvest_hurry(void);

/* Submitting thread: something is under way since then; 0: that is not known. */
static inline void harvest_notify(uint64_t now_ticks)
{
	if (__builtin_expect(__atomic_load_n(&harvest_signs.idle, __ATOMIC_RELAXED) != 0, 0))
		harvest_rouse(now_ticks);
	else if (__builtin_expect((int64_t)(now_ticks - __atomic_load_n(&harvest_signs.looked_ticks,
									__ATOMIC_RELAXED)) >
					  (int64_t)__atomic_load_n(&harvest_signs.patience_ticks,
								   __ATOMIC_RELAXED),
				  0))
		harvest_catch_up();
}

/*
 * Submitting thread that has found no free slot: waits until there is one, as slots whose work has ended are worth that.
 * NULL: it did not get one, or may not wait. `take`: takes one.
 */
struct slot *harvest_wait_for_slot(struct slot *(*take)(void *from), void *from);

/* How often it has gone through all sources; wraps around. */
uint32_t harvest_passes(void);

/* Any thread but the harvester: makes it look, and waits until it has, 1 ms at most. */
void harvest_wait_pass(void);

/*
 * Waits: hooks of the functions by which a program learns that work of the GPU has finished. Before
 * one of them tells it so, what has finished is published: the process may die right after that.
 *
 * A wait first looks at the signal itself for a moment. So a wait for what is about to end does not
 * go through the runtime, which makes up for a part of what publishing takes.
 *
 * Threads: the application's, and HIP's. A look at a signal that is not complete costs a branch.
 */

struct root_table;

/* Puts the hooks into the runtime's table, where it has these functions. */
void waits_hook(struct root_table *root);
