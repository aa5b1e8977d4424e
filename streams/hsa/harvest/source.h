/* SPDX-License-Identifier: MIT */
/* A source of work that is followed by signals: a queue, or all copies. It submits slots; the
 * harvester looks after them.
 *
 * Threads: whoever makes it fills it and hands it over (harvest_add). From then on each member is of whom it names. */
#pragma once

#include <rtl/events.h>
#include <stdlib.h>
#include <string.h>

#include "slots.h"

struct source_kind {
	/* Where it is counted what does not end in time. */
	struct rtl_stream *const *stream;
	/* Work may end before what was submitted earlier, whatever that is. */
	bool in_any_order;
	/* Pass; NULL: nothing. Counts what the source has passed on without a slot. */
	void (*settle)(struct source *source);
	/* Pass: it is dead, and has nothing under way. */
	void (*free)(struct source *source);
};

struct source {
	struct slot_pool pool;
	const struct source_kind *kind;
	/* In the ledger, should the process be killed: begun by the producer, ended by the harvester. */
	struct rtl_pending *pending;
	/* What has not finished will not. Release by who ends it, acquire by the harvester. */
	bool dead;
	struct source *next_added; /* harvest_add's */
	/* The harvester's. */
	struct source *next_harvested;
	bool disordered; /* something was published before what a barrier behind it waits for */
	/* How many slots were under way after the last pass; relaxed, with harvest_passes. */
	uint32_t unfinished;
};

/* A source of so many bytes, what is behind struct source 0; NULL: no memory. In whole cache lines, as its pool has
 * some. */
static inline void *source_create(size_t bytes, const struct source_kind *kind)
{
	struct source *source = aligned_alloc(64, (bytes + 63) / 64 * 64);

	if (!source)
		return NULL;
	memset(source, 0, bytes);
	source->kind = kind;
	source->pending = rtl_stream_pending(*kind->stream, RTL_CAUSE_UNDER_WAY);
	return source;
}

/* With its slots. */
static inline void source_free(struct source *source)
{
	slots_fini(&source->pool);
	rtl_pending_release(source->pending);
	free(source);
}

/* ---- sources.c: what a harvester harvests. All by who makes a pass, the harvester or a helper, or by whoever has
 * taken them (turn.h), but for sources_add. */

struct sources {
	struct source *first;
	uint32_t under_way; /* after the last pass */
	bool wanted;        /* metadata, at the last pass */
};

/* Any thread: hands a source over to the harvester that looks next. */
void sources_add(struct source *source);

/* Takes over what has been handed over since. */
void sources_adopt(struct sources *sources);

/* Once through all sources; whether something had finished or begun. `number` counts the passes. It
 * stops halfway when the thread has been given up (turn_left). Where it may not wait for room,
 * *all tells whether there was enough. */
bool sources_pass(struct sources *sources, uint32_t number, bool may_wait, bool *all);

/* Once through all sources, by a helper: only publishes what has finished, `most` of it. What has finished behind many
 * copies that have not is left to the harvester. So is the rest where this is not 0 but what rtl_room says: there is no
 * room, or it is for inline callbacks; or RTL_EBUSY, if there was more. */
int sources_help(struct sources *sources, uint32_t most);

/* Whether something is under way, or a source came or went. */
bool sources_waiting(const struct sources *sources);

/* Gives up what has not been published, and counts it. Touches nothing of the runtime's. */
void sources_abandon(struct sources *sources, const char *cause);
