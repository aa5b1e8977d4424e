/* SPDX-License-Identifier: MIT */
/*
 * Ranges that are open, with their names: a stack for each thread of those that were pushed, and
 * one table for the process of those that were started.
 *
 * Threads: the stack is the calling thread's own; the table has a lock. Memory grows with how many
 * are open at once; a thread's is freed with the thread.
 */
#ifndef STREAMS_ROCTX_RANGES_H
#define STREAMS_ROCTX_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#define RANGE_NAME_BYTES 1024u /* of a name: what is longer is cut */

struct range {
	uint64_t begin_ticks;
	uint64_t instance;
	uint64_t parent; /* instance of what is around it */
	uint64_t parent_uid;
	uint64_t correlation;
	uint64_t id;    /* of a started range */
	uint64_t inner; /* thread_context.inner (common/call_context.h) as it was */
	uint32_t scope; /* of a pushed range: to be closed */
	uint32_t begin_tid;
	int32_t level; /* -1: started */
	uint32_t name_length;
	uint32_t open; /* of rtl_open_reserve */
	bool cut;
	bool selects;     /* it is one of those that the user wants recorded: common/outside.h */
	bool left_out;    /* by the user's selection: it is only counted */
	bool silent;      /* kept for the selection alone */
	const char *name; /* not terminated; of a popped range valid until the next push */
};

/* How many ranges this thread has pushed and not popped, recorded or not. */
int32_t ranges_level(void);

/* The innermost range of this thread that is recorded; NULL: none. Valid until the next push. */
const struct range *ranges_top(void);

/* One level in. range: to be kept, with its name; NULL: not recorded. False: no memory. */
bool ranges_push(const struct range *range);

/* One level out. Returns true if that range is recorded: then *range is it. */
bool ranges_pop(struct range *range);

/* Keeps a started range under its id, in the place of one with the same. False: no memory. */
bool ranges_start(const struct range *range);

/* Takes it out. Returns true if there was one; its name is in the caller's buffer. */
bool ranges_stop(uint64_t id, struct range *range, char name[RANGE_NAME_BYTES]);

#endif
