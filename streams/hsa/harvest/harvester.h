/* SPDX-License-Identifier: MIT */
/*
 * What the harvester's thread (harvest.c) and those that help it (help.c) share.
 *
 * Threads: as each member says.
 */
#ifndef STREAMS_HSA_HARVESTER_H
#define STREAMS_HSA_HARVESTER_H

#include <stdint.h>

#include "sources.h"
#include "turn.h"

/*
 * One for each thread: where one was given up, it does not know of the next one's. They are never
 * freed, as a helper may still look at them, but used again.
 */
struct harvester {
	struct turn turn; /* whose pass it is */
	/* A futex; release by the thread, acquire by who stops it or uses it again. */
	uint32_t ended;
	/* rtl_clock_ns at which to stop; 0: not. Release, acquire. */
	uint64_t stop_at_ns;
	uint32_t no_room;       /* the owner's: passes since there was room for all of it */
	struct sources sources; /* the owner's, or of whose turn it is */
	struct harvester *next; /* the lock's */
};

/* The one that runs, for helpers: release when it is complete. */
extern struct harvester *harvester_running;

/* That, or NULL. */
static inline struct harvester *harvester_current(void)
{
	/* Pairs with the release in start. */
	return __atomic_load_n(&harvester_running, __ATOMIC_ACQUIRE);
}

/* Any thread but the harvester: has it look, and waits for the end of its next pass. */
void harvest_wait_for_pass(uint64_t timeout_ns);

#endif
