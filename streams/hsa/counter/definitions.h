/* SPDX-License-Identifier: MIT */
/*
 * Files with definitions of counters, read into a set: metrics.h has what a set is. One reader for
 * each format; both are small, bounded, and take any bytes.
 *
 * Threads: the caller's, one at a time for each set. No locks.
 */
#ifndef STREAMS_HSA_DEFINITIONS_H
#define STREAMS_HSA_DEFINITIONS_H

#include "metrics.h"

#define DEFINITIONS_FILE_BYTES (8u << 20) /* larger files are refused */
#define DEFINITIONS_MOST       65536u     /* of a set */
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
	char **texts; /* files; definitions point into them */
	size_t text_count;
	struct counter_property *properties;
	size_t property_count;
	bool sums; /* a counter's name in an expression is the sum of its samples: v1's files */
	bool v1_expressions;
	char *message; /* while it is read */
	size_t message_size;
};

/* Writes the line; false. */
bool definitions_fail(struct counter_set *set, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* False after a line: too many, or no memory. */
bool definitions_add(struct counter_set *set, const struct counter_def *def);

/* A file's bytes, with a 0 behind them; the set's. NULL after a line. */
char *definitions_file(struct counter_set *set, const char *path);
/* Makes a text the set's. False after a line; the text is freed then. */
bool definitions_keep(struct counter_set *set, char *text);

/* Whether a text is in v1's format. */
bool definitions_are_xml(const char *text);

/* Read a text, which they write to. False after a line; nothing for the set's GPU is no error. */
bool definitions_read_xml(struct counter_set *set, char *text, const char *path);
bool definitions_read_yaml(struct counter_set *set, char *text, const char *path);

/* A decimal number that fills the text. */
bool definitions_number(const char *text, uint32_t *number);

#endif
