/* SPDX-License-Identifier: MIT */
/* The room `harvest`: what is under way on the GPU, from its submission until it has been published; see README.md.
 * Nobody waits for a GPU through the harvester, and it waits for none. It polls every 0.4 to 1 ms while something is
 * under way, and sleeps otherwise. It waits only for room in its ring of events.
 *
 * Threads of this room: one at a time, the harvester or a helper, makes a pass over the sources (turn.h). It keeps
 * the turn while it waits for room. If the harvester has to stop meanwhile, the sources are taken from the owner,
 * which then touches neither them nor the runtime, which may be gone. Other functions name their threads.
 * Locks: one for each bucket of signal_watch.c, held for loads and stores. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct slot;
struct source;

/* What a submitting thread reads each time; in a line of their own, which is seldom written. */
struct harvest_signs {
	/* Not 0 while the harvester sleeps until it is woken. Relaxed in the submitting thread, after its slot is
	 * stored; seq_cst when it goes to sleep: see sleep_idle. */
	uint32_t idle;
	/* When the harvester's last complete pass began, or it was woken, in rtl_ticks; relaxed, a hint. */
	uint64_t looked_ticks;
	/* How long ago that may be; relaxed, written when it is started. */
	uint64_t patience_ticks;
} __attribute__((aligned(64)));

extern struct harvest_signs harvest_signs;

#define HARVEST_ASLEEP 2u /* idle: for long, as nobody wants work */

/* Any thread: starts it unless it runs. 0 or RTL_ENOMEM. */
int harvest_start(void);

/* A thread that has made a source of work: hands it over. */
void harvest_add(struct source *source);

/* Any thread: look now. */
void harvest_wake(void);

/* A thread that has waited for the GPU: publishes what has finished, after waiting for another thread's pass as long as
 * a submitting thread waits for a slow subscriber. The runtime's handler thread, on which others depend, does not wait
 * for subscribers: only for a pass whose thread may have lost the processor, as HIP's threads may learn of an end from
 * it alone. Does nothing within a pass. Returns whether it has published all that it found. */
bool harvest_help(void);

/* Submitting thread, in the queue's lock, long after the last pass: publishes some of what has finished, or, without
 * room, yields the processor to the harvester. */
void harvest_catch_up(void);

/* Wakes the harvester from its long sleep. */
void harvest_rouse(uint64_t now_ticks);

/* The process is about to end by _exit: has the harvester look, and waits for that, half a second at most. Any thread;
 * in the child of a vfork it does nothing. */
void harvest_leaving(void);

/* ends.c, once in a process: quick_exit does that, and so do _exit and _Exit where this library is preloaded. True. */
bool ends_init(void);

/* Submitting thread: the program outlives the recording. Nobody waits for work under way any more, as other threads may
 * be in HIP, whose end must come soon. */
void harvest_hurry(void);

/* The harvester sleeps for long, and perhaps somebody wants to know the GPUs by now. */
__attribute__((cold)) void harvest_look_around(void);

/* Any thread: a call is being recorded. Relaxed: a later one sees it. */
static inline void harvest_attend(void)
{
	if (__builtin_expect(
		    __atomic_load_n(&harvest_signs.idle, __ATOMIC_RELAXED) == HARVEST_ASLEEP, 0))
		harvest_look_around();
}

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

/* Submitting thread without a free slot: waits for one whose work has ended. NULL: there was none, or it may not wait.
 *  */
struct slot *harvest_wait_for_slot(struct slot *(*take)(void *from), void *from);

/* How often it has gone through all sources; wraps around. */
uint32_t harvest_passes(void);

/* Any thread but the harvester: makes it look, and waits until it has, 1 ms at most. */
void harvest_wait_pass(void);

/* Waits: hooks of the functions that tell a program that work of the GPU has finished; see README.md. Threads: the
 * application's, and HIP's. A look at a signal that is not complete costs a branch. */

struct root_table;

/* Puts the hooks into the runtime's table, where it has these functions. */
void waits_hook(struct root_table *root);
