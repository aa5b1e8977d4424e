/* SPDX-License-Identifier: MIT */
/*
 * What a set of definitions of counters is made of: metrics.h has what it is for.
 *
 * Threads: the caller's, one at a time for each set. No locks.
 */
#ifndef STREAMS_HSA_DEFINITIONS_H
#define STREAMS_HSA_DEFINITIONS_H

#include "metrics.h"

#define DEFINITIONS_MOST       65536u /* of a set */
#define DEFINITIONS_PATH_BYTES 4096u

struct counter_set {
	char gfx[32];
	char family
		[32]; /* without the last two digits: what is defined for gfx9 is for gfx906, too */
	char source[DEFINITIONS_PATH_BYTES];
	struct counter_def *list; /* as read; of equal names the first counts */
	size_t count, room;
	const struct counter_def **sorted; /* by name, each once */
	size_t sorted_count;
	char **texts; /* lists; definitions point into them */
	size_t text_count;
	struct counter_property *properties;
	size_t property_count;
	bool sums; /* a counter's name in an expression is the sum of its samples: v1's files */
	bool v1_expressions;
	char *message; /* while it is read */
	size_t message_size;
};

/* A decimal number that fills the text. */
bool definitions_number(const char *text, uint32_t *number);

#endif
