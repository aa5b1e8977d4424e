/* SPDX-License-Identifier: MIT */
/* Hardware counters and the metrics that are computed from them: which there are for a GPU, what a metric needs, its
 * value, and which of them can be counted at the same time. Knows no HSA and counts nothing.
 *
 * A counter is an event of a block of the GPU, such as SQ's 4, the waves. A metric is an expression
 * over counters, other metrics and properties of the GPU.
 *
 * Threads: a set is only read after it was loaded, by any thread. A metric belongs to one thread at a
 * time: its evaluation uses memory of its own. No locks, no signals, no log: errors are a line in
 * `message`, without "rtl:" and newline.
 * Memory: nothing here is shared. Texts are the set's and live as long as it. A metric does not refer
 * to its set after it was compiled, except by its texts and definitions: destroy it first. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The longest interval of samples (RTL_COUNTERS_SAMPLE). */
#define COUNTERS_SAMPLE_MS_MOST 60000

/* ---- definitions ---- */

struct counter_set;

/* One definition. Texts are never NULL but `block` and `expression`: one of these is. */
struct counter_def {
	const char *name;
	const char *block;       /* of a counter, as the vendor's library calls it: "SQ" */
	uint32_t event;          /* of a counter: the number that selects it */
	const char *expression;  /* of a metric: as the file has it */
	const char *description; /* "": none */
	const char *unit;        /* "waves"; "": none is known */
};

/* A property of the GPU that expressions may name: "CU_NUM", or a name of the driver's topology. */
struct counter_property {
	const char *name;
	double value;
};

/* A list of definitions, as `rtl` makes it of ROCm's files (cli/definitions): lines, each of which ends with
 * a newline or ";". The first is COUNTER_LIST_HEAD. "source|PATH" is before the definitions of a file, or
 * "source|PATH|sums" where a counter's name in an expression is the sum of its samples. A definition is
 *	GPUS|NAME|BLOCK|EVENT|UNIT|DESCRIPTION	or	GPUS|NAME||EXPRESSION|UNIT|DESCRIPTION
 * with the names of GPUs or their families, such as gfx906/gfx90a/gfx10. Of a file's definitions those of the
 * GPU count, else those of its family; of several files the first that has any. */
#define COUNTER_LIST_HEAD "rtl-counters 1"
bool counter_list_is(const char *text);

/* The list that rtl brings, without a head. */
extern const char counter_own_table[] __attribute__((visibility("hidden")));

/* All 0 is valid. */
struct counter_options {
	/* A list; NULL: RTL_COUNTERS_DEFINITIONS, a list or a file with one, else the table that rtl brings. */
	const char *list;
	const struct counter_property *properties;
	size_t property_count;
	/* As rocprofiler v1 has them: + and - group to the right, a division by zero makes the whole 0,
	 * numbers are integers, and a counter's name alone is instance 0 of its block. */
	bool v1_expressions;
};

/* The counters and metrics of a GPU.
 * gfx      the GPU's name as HSA has it: "gfx90a"; what follows a colon does not count
 * options  may be NULL; copied, but for names of properties: those stay the caller's
 * Returns NULL after a line in `message`: the list cannot be read, has an error, or has nothing for this GPU. */
struct counter_set *counter_set_load(const char *gfx, const struct counter_options *options,
				     char *message, size_t size);
void counter_set_destroy(struct counter_set *set); /* NULL is fine */

/* Where the definitions come from: a path, or "rtl's own table". */
const char *counter_set_source(const struct counter_set *set);

/* All definitions in the order of their names. */
size_t counter_set_count(const struct counter_set *set);
const struct counter_def *counter_set_at(const struct counter_set *set, size_t i);

/* NULL: there is none of that name. */
const struct counter_def *counter_find(const struct counter_set *set, const char *name);

/* ---- metrics ---- */

enum metric_dimension {
	METRIC_XCC,
	METRIC_AID,
	METRIC_SE, /* shader engine */
	METRIC_SA, /* shader array */
	METRIC_WGP,
	METRIC_INSTANCE, /* of the block */
	METRIC_DIMENSIONS
};

#define METRIC_ALL_INSTANCES UINT32_MAX

/* How SQ adds a level up over time; needs an event more, right after the counter's own. */
enum metric_accumulate { METRIC_PLAIN, METRIC_LOW_RES, METRIC_HIGH_RES };

/* Something to count for a metric. No two inputs of a metric are the same. */
struct metric_input {
	const char *name; /* the counter's; for one that was named by block and event that text */
	const char *block;
	uint32_t event;
	uint32_t instance; /* METRIC_ALL_INSTANCES, or the only one that is asked for */
	enum metric_accumulate accumulate;
};

static inline bool metric_input_is_same(const struct metric_input *a, const struct metric_input *b)
{
	return !strcmp(a->block, b->block) && a->event == b->event && a->instance == b->instance &&
	       a->accumulate == b->accumulate;
}

struct metric {
	const struct counter_def *def; /* NULL: one by block and event */
	char *name;
	char *block;                 /* of one by block and event */
	struct metric_input *inputs; /* at least one, unless all is constant */
	size_t input_count;
	/* How it is evaluated (program.h). */
	struct step *steps;
	size_t step_count;
	size_t depth;     /* of the stack */
	bool zero_divide; /* v1: a division by zero makes the whole 0 */
	struct place *scratch;
	size_t scratch_each; /* places for each vector of the stack */
};

/* name     of a definition, also with an instance, "TCC_HIT[3]"; or a block and an event, "TCC:20",
 *          "TCC[3]:20". The texts of such a name are copied.
 * Returns NULL after a line in `message`: unknown, or it needs something that is unknown. */
struct metric *metric_compile(const struct counter_set *set, const char *name, char *message,
			      size_t size);
void metric_destroy(struct metric *metric); /* NULL is fine */

/* A counter and no expression: its value is the sum of all samples of its only input. */
static inline bool metric_is_counter(const struct metric *metric)
{
	return !metric->def || metric->def->block;
}

/* What one place of the GPU has counted; a dimension that a block does not have is 0. */
struct metric_sample {
	uint16_t at[METRIC_DIMENSIONS];
	uint64_t value;
};

struct metric_values {
	const struct metric_sample *samples; /* all counters of a block have the same order */
	size_t count;
};

/* The metric's value.
 * values  for each input, in its order. Samples of other instances than the input asks for do not
 *         count.
 * False: there is no value (a division by zero, a property that is not known, no samples, counters whose samples do not
 * go together, no memory). *out stays as it is. The first call, and each with more samples than any before,
 * allocates. */
bool metric_evaluate(struct metric *metric, const struct metric_values *values, double *out);

/* ---- passes ---- */

/* How many events of a block can be counted at the same time. 0: none, it has no such block. */
typedef uint32_t counter_registers(void *user, const char *block);

/* Chooses what is counted together: each metric goes, with all that it needs, into the first pass that
 * has room. What several metrics of a pass need is counted once. Pure.
 * pass_of  becomes the number of each metric's pass, from 0
 * Returns the number of passes; 0 after a line in `message` that names the metric which needs more
 * than there is. *refused becomes its place then. */
size_t passes_choose(struct metric *const *metrics, size_t count, counter_registers *registers,
		     void *user, size_t *pass_of, size_t *refused, char *message, size_t size);
