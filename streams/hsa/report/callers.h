/* SPDX-License-Identifier: MIT */
/*
 * Who submitted work that HIP reports later: HIP keeps a number with each command, which names an entry
 * of this table. An entry is of one call of HIP, and of all work that it submits.
 *
 * There are as many as work may be under way (RTL_HSA_SLOTS). Entries are used in turn. One whose
 * work is not reported yet is passed over, as long as one of the next few is free.
 *
 * Threads: callers_take and callers_note by the thread in the call; callers_end by any.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "submitters.h"

#define CALLERS_OPS 4 /* kinds of work */

/* What the call's arguments tell of its work. */
struct caller_facts {
	uint64_t src, dst, bytes;
	uint32_t grid[3], workgroup[3]; /* work-items; 0: not known */
	uint64_t stream;                /* that the call is for */
	bool has_addresses;
	bool has_dispatches; /* that are wanted */
	bool is_behind;      /* work of its stream is under way */
};

struct caller {
	struct submitter submitter;
	struct caller_facts facts;
};

/* Makes the table. 0 or RTL_ENOMEM. */
int callers_init(uint32_t count);

/* A number for the next entry, never 0. */
uint64_t callers_take(void);

/* Fills the number's entry with what the thread is within. Work of whoever had the entry belongs to nobody then. */
void callers_note(uint64_t number, const struct caller_facts *facts);

/* One more piece of its work begins, of that kind. Number 0: work that belongs to nobody. */
void callers_begin(uint64_t number, unsigned op);

enum callers_found {
	CALLERS_NONE, /* nothing has begun under that number */
	CALLERS_LOST, /* it belongs to nobody by now */
	CALLERS_FOUND,
};

/* Some of its work of that kind has ended: *caller is whose it is, *ends whether it is a piece that has begun, not a
 * further part of one. */
enum callers_found callers_end(uint64_t number, unsigned op, struct caller *caller, bool *ends);
