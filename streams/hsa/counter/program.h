/* SPDX-License-Identifier: MIT */
/* What is behind metrics.h: a set of definitions, which definitions.c reads, and a compiled expression, which compile.c
 * makes of them and evaluate.c runs: steps on a stack of vectors. A vector has a value for each place of the GPU that
 * counts, or one value.
 *
 * Threads: metrics.h. */
#pragma once

#include "metrics.h"

#define DEFINITIONS_MOST       65536u /* of a set */
#define DEFINITIONS_PATH_BYTES 4096u

struct counter_set {
	char gfx[32];
	char family[32]; /* "gfx9" of gfx906, whose definitions it has, too */
	char source[DEFINITIONS_PATH_BYTES];
	struct counter_def *list; /* as read, then by name; of equal names the first counts */
	size_t count;
	char *text; /* the list; definitions point into it */
	struct counter_property *properties;
	size_t property_count;
	bool sums; /* a counter's name in an expression is the sum of its samples: v1's files */
	bool v1_expressions;
	char *message; /* while it is read */
	size_t message_size;
};

/* Whether a text has the name: the whole of it, or between slashes. */
bool text_has_name(const char *text, const char *name);

/* ---- a compiled expression ---- */

#define METRIC_STACK 256 /* vectors */

enum step_kind {
	/* One vector more on the stack: */
	STEP_NUMBER,
	STEP_INPUT,
	STEP_NO_VALUE, /* a property that is not known */
	/* One less: */
	STEP_ADD,
	STEP_SUBTRACT,
	STEP_MULTIPLY,
	STEP_DIVIDE,
	/* As many: */
	STEP_NEGATE,
	STEP_REDUCE,
	STEP_SELECT,
	STEP_LIMIT, /* to the first instances */
};

enum reduction { REDUCE_SUM, REDUCE_AVR, REDUCE_MIN, REDUCE_MAX };

struct step {
	enum step_kind kind;
	enum reduction reduction;
	uint32_t number;    /* input; dimensions to reduce, as bits; one to select; instances */
	uint64_t selection; /* a bit for each value of the dimension */
	double value;
};

/* A value and where it comes from; what was reduced is 0. */
struct place {
	uint16_t at[METRIC_DIMENSIONS];
	bool done; /* while it is reduced */
	double value;
};
