/* SPDX-License-Identifier: MIT */
/*
 * What a harvester harvests: the sources that it was given, one look at all of them, and what is
 * done with them at the end.
 *
 * Threads: all by who makes a pass, the harvester or a helper, or by whoever has taken them
 * (turn.h), but for sources_add.
 */
#ifndef STREAMS_HSA_SOURCES_H
#define STREAMS_HSA_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

struct source;

struct sources {
	struct source *first;
	uint32_t under_way; /* after the last pass */
	bool wanted;        /* metadata, at the last pass */
};

/* Any thread: hands a source over to the harvester that looks next. */
void sources_add(struct source *source);

/* What was handed over and not taken is of a runtime that is gone. */
void sources_forget(void);

/* Takes over what has been handed over since. */
void sources_adopt(struct sources *sources);

/*
 * Once through all sources; whether something had finished or begun. `number` counts the passes. It
 * stops halfway when the thread has been given up (turn_left). Where it may not wait for room,
 * *all tells whether there was enough.
 */
bool sources_pass(struct sources *sources, uint32_t number, bool may_wait, bool *all);

/*
 * Once through all sources, by a helper: only publishes what has finished, `most` of it. What has
 * finished behind many copies that have not is left to the harvester. So is the rest where this is
 * not 0 but what rtl_room says: there is no room, or it is for inline callbacks; or RTL_EBUSY, if
 * there was more.
 */
int sources_help(struct sources *sources, uint32_t most);

/* Whether something has been submitted since, or a source came or went. */
bool sources_waiting(const struct sources *sources);

/* Gives up what has not been published, and counts it. Touches nothing of the runtime's. */
void sources_abandon(struct sources *sources, const char *cause);

#endif
