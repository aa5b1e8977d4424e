/* SPDX-License-Identifier: MIT */
/*
 * What a harvester harvests: the queues that it was given, one look at all of them, and what is
 * done with them at the end.
 *
 * Threads: all by who makes a pass, the harvester or a helper, or by whoever has taken the queues
 * (harvest.c), but for harvest_queues_add.
 */
#ifndef STREAMS_HSA_HARVEST_QUEUES_H
#define STREAMS_HSA_HARVEST_QUEUES_H

#include <stdbool.h>
#include <stdint.h>

struct source;

struct harvest_queues {
	struct source *first;
	uint32_t under_way; /* after the last pass */
	bool wanted;        /* metadata, at the last pass */
};

/* Any thread: hands a queue over to the harvester that looks next. */
void harvest_queues_add(struct source *source);

/* What was handed over and not taken is of a runtime that is gone. */
void harvest_queues_forget(void);

/* Takes over what has been handed over since. */
void harvest_queues_adopt(struct harvest_queues *queues);

/*
 * Once through all queues; whether something had finished or begun. `number` counts the passes. It
 * stops halfway when the thread has been given up (harvest_left). Where it may not wait for room,
 * *all tells whether there was enough.
 */
bool harvest_queues_pass(struct harvest_queues *queues, uint32_t number, bool may_wait, bool *all);

/* Whether something was submitted and not published. */
bool harvest_queues_pending(const struct harvest_queues *queues);

/*
 * Once through all queues, by a helper: only publishes what has finished, `most` of it. What has
 * finished behind many copies that have not is left to the harvester. So is the rest where this is
 * not 0 but what rtl_room says: there is no room, or it is for inline callbacks; or RTL_EBUSY, if
 * there was more.
 */
int harvest_queues_help(struct harvest_queues *queues, uint32_t most);

/* Whether something has been submitted since, or a queue came or went. */
bool harvest_queues_waiting(const struct harvest_queues *queues);

/* Gives up what has not been published, and counts it. Touches nothing of the runtime's. */
void harvest_queues_abandon(struct harvest_queues *queues, const char *cause);

#endif
