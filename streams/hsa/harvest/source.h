/* SPDX-License-Identifier: MIT */
/*
 * A source of work that is followed by signals: a queue, or all copies. It submits slots; the
 * harvester looks after them.
 *
 * Threads: whoever makes it fills it and hands it over (harvest_add). From then on each member is
 * of whom it names.
 */
#ifndef STREAMS_HSA_SOURCE_H
#define STREAMS_HSA_SOURCE_H

#include "slots.h"

struct rtl_pending;

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
	/* In the ledger, should the process be killed: begun by the producer, ended by the
	 * harvester. */
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

#endif
