/* SPDX-License-Identifier: MIT */
/* What is counted on a GPU: the metrics that are asked for, in passes of what can be counted
 * together, each with its packets and its memory.
 *
 * Threads: made by the thread that creates the GPU's first queue, under the lock of the list. Then constant, but
 * for the metrics, which belong to who evaluates them (values.c), turns, and the ledger. Plans are never freed. */
#pragma once

#include <rtl/events.h>

#include "library.h"
#include "publish.h"
#include "slots.h"

/* The streams rtl.hsa.counter and rtl.hsa.counter.debug, registered in OnLoad. */
struct counter_streams {
	struct rtl_stream *values;  /* rtl.hsa.counter */
	struct rtl_stream *samples; /* rtl.hsa.counter.debug */
};

extern struct counter_streams counter_streams;

void counter_streams_register(void);

/* Whether somebody wants to know what counters of dispatches were. */
static inline bool counter_is_wanted(void)
{
	return rtl_enabled(counter_streams.values, RTL_SIGNAL) ||
	       rtl_enabled(counter_streams.samples, RTL_SIGNAL);
}

/* The same of a GPU in intervals. */
static inline bool counter_intervals_are_wanted(void)
{
	return rtl_enabled(counter_streams.values, RTL_SAMPLE) ||
	       rtl_enabled(counter_streams.samples, RTL_SAMPLE);
}

/* ---- settings.c: what is asked for, from the environment: the variables RTL_COUNTERS* of rtl(1).
 *
 * Threads: read in OnLoad, once; afterwards read by all. No locks.
 */

struct counter_settings {
	char **names;
	size_t count; /* 0: no counters */
	bool rotate;
	uint64_t timeout_ns;
	uint64_t sample_ns; /* 0: of dispatches */
};

extern struct counter_settings counter_settings;

/* False: what is wrong was said in a line, and nothing is counted. */
bool counter_settings_read(void);

/* Whether a kernel with that symbol is to be counted. */
bool counter_settings_fit(const char *symbol);

/* ---- plan.c ---- */

#define PLAN_NO_INPUT UINT32_MAX

/* A metric in its pass. */
struct counter_metric {
	struct metric *metric;
	uint64_t uid, name;
	uint64_t unit, block, expression, description; /* interned; 0: none */
	uint32_t event;                                /* of a counter */
	uint32_t pass;
	bool is_counter;
	uint32_t *inputs;             /* their places among the pass's */
	struct metric_values *values; /* for each of them, of a dispatch */
};

/* What is counted together. */
struct counter_pass {
	uint32_t number;
	struct counter_metric **metrics;
	uint32_t metric_count;
	struct library_count *count;
	struct counter_input *inputs; /* one for each that differs */
	uint32_t input_count;
	/* Of `count`, each with the input for which it was added; PLAN_NO_INPUT: it only precedes one that is. */
	struct library_events events;
};

/* A counter that one or more metrics of a pass need, with its samples of a dispatch. */
struct counter_input {
	struct metric_input wanted;
	uint64_t name, block; /* interned */
	uint32_t block_number;
	struct metric_sample *samples;
	uint32_t sample_count, sample_made; /* ARRAY_REFILL */
	uint32_t subtracted;                /* how many of them, by values_subtract */
	uint64_t uid;                       /* of the first metric that needs it */
};

/* Relaxed: numbers that only grow, each by itself. */
struct counter_ledger {
	uint64_t dispatches, counted, not_asked, given_up, refused;
};

/* Whose turn it is (turns.c), under the lock of the turns. */
struct counter_turn {
	struct counter_sample *running; /* NULL: nobody's */
	struct turns_line *of;          /* the line that it came from */
	uint64_t since_ns;              /* when it began */
	uint64_t passed_by;             /* as of the GPU, then */
	uint64_t arrivals;
	bool disturbed; /* when it began, something ran without a turn */
};

struct counter_gpu {
	struct counter_gpu *next;
	hsa_agent_t agent;
	uint64_t agent_uid;
	uint32_t node;

	struct counter_metric *metrics;
	uint32_t metric_count;
	struct counter_pass *passes;
	uint32_t pass_count;   /* 0: nothing can be counted, which was said */
	uint32_t output_bytes; /* the most that a pass leaves */

	/* Counting has ended for good: what waits, goes. Relaxed: submitting threads do less. */
	bool released;
	/* How often something went without a turn; relaxed. */
	uint64_t passed_by;
	/* Dispatches that have a turn, or wait for one; relaxed, a hint. */
	uint64_t under_way;

	struct counter_turn turn;
	struct counter_ledger ledger;
	uint64_t told_ns; /* who makes a pass: when it was published last */
};

/* The GPU's, made if it is the first time; NULL: no memory. */
struct counter_gpu *plan_get(hsa_agent_t agent);

/* The first of all; the others follow. Acquire. */
struct counter_gpu *plan_first(void);

/* ---- values.c: from a GPU's output to the values of a pass's metrics. One thread at a time: who makes a pass over the
 * sources (harvest.h), or rtl-sampler. */

/* Fills the samples of the pass's inputs. False: the library cannot tell. */
bool values_read(const struct counter_pass *pass, const void *output);

/* Subtracts what was read before. False: something is less than it was: somebody has reset the counters. */
bool values_subtract(const struct counter_pass *pass, const void *before);

/* Publishes the values of metrics, and the samples for the debug stream: of a dispatch of that kernel (RTL_SIGNAL: its
 * queue, number and call), or of an interval (RTL_SAMPLE: the agent and the number of the reading). */
void values_publish(const struct counter_gpu *gpu, const struct counter_pass *pass, uint16_t type,
		    const struct publish_ids *of, uint64_t kernel, uint64_t begin_ns,
		    uint64_t end_ns);
