/* SPDX-License-Identifier: MIT */
/*
 * A compiled expression: steps on a stack of vectors. A vector has a value for each place of the GPU
 * that counts, or one value. compile.c makes it, evaluate.c runs it.
 *
 * Threads: metrics.h.
 */
#ifndef STREAMS_HSA_PROGRAM_H
#define STREAMS_HSA_PROGRAM_H

#include "metrics.h"

#define METRIC_STACK 256 /* vectors */

enum step_kind {
	STEP_NUMBER,
	STEP_INPUT,
	STEP_NO_VALUE, /* a property that is not known */
	STEP_ADD,
	STEP_SUBTRACT,
	STEP_MULTIPLY,
	STEP_DIVIDE,
	STEP_NEGATE,
	STEP_REDUCE,
	STEP_SELECT,
	STEP_LIMIT, /* to the first instances */
};

enum reduction { REDUCE_SUM, REDUCE_AVR, REDUCE_MIN, REDUCE_MAX };

struct step {
	enum step_kind kind;
	enum reduction reduction;
	uint32_t
		number; /* input; dimensions to reduce, a bit each; dimension to select; instances */
	uint64_t selection; /* a bit for each value of the dimension */
	double value;
};

/* A value and where it comes from; what was reduced is 0. */
struct place {
	uint16_t at[METRIC_DIMENSIONS];
	bool done; /* while it is reduced */
	double value;
};

struct metric {
	const struct counter_def *def;
	char *name;
	char *block; /* of one by block and event */
	struct metric_input *inputs;
	size_t input_count;
	struct step *steps;
	size_t step_count, step_room;
	size_t depth;     /* of the stack */
	bool zero_divide; /* v1: a division by zero makes the whole 0 */
	struct place *scratch;
	size_t scratch_each; /* places for each vector of the stack */
};

#endif
