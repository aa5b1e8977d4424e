/* SPDX-License-Identifier: MIT */
/*
 * What is counted on a GPU: the metrics that are asked for, in passes of what can be counted
 * together, each with its packets and its memory.
 *
 * Threads: made by the thread that creates the GPU's first queue, under the lock of the list. Then
 * constant, but for the metrics, which belong to who evaluates them (values.h), and the numbers of the
 * ledger. Plans are not freed while the process lives: threads may look at them at its
 * end.
 */
#ifndef STREAMS_HSA_COUNTER_PLAN_H
#define STREAMS_HSA_COUNTER_PLAN_H

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

#include "library.h"
#include "metrics.h"
#include "slots.h"

#define PLAN_NO_INPUT UINT32_MAX

/* A metric in its pass. */
struct counter_metric {
	struct metric *metric;
	uint64_t uid, name;
	uint64_t text[3]; /* interned, for metadata: unit, block, expression */
	uint64_t description;
	uint32_t event; /* of a counter */
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
	struct library_event *events; /* of `count` */
	uint32_t event_count;
	/* The input for which each was added; PLAN_NO_INPUT: it only precedes one that is. */
	uint32_t *input_of;
};

/* A counter that one or more metrics of a pass need, with its samples of a dispatch. */
struct counter_input {
	uint64_t name, block; /* interned */
	uint32_t block_number, event, instance;
	enum metric_accumulate accumulate;
	struct metric_sample *samples;
	uint32_t sample_count, sample_room;
	uint32_t subtracted; /* how many of them, by values_subtract */
	uint64_t uid;        /* of the first metric that needs it */
};

/* Relaxed: numbers that only grow, each by itself. */
struct counter_ledger {
	uint64_t dispatches, counted, not_asked, given_up, refused;
};

struct counter_gpu {
	struct counter_gpu *next;
	hsa_agent_t agent;
	uint64_t agent_uid;
	uint32_t node;

	struct counter_metric *metrics;
	uint32_t metric_count;
	struct counter_pass *passes;
	uint32_t pass_count;              /* 0: nothing can be counted, which was said */
	uint32_t output_bytes;            /* the most that a pass leaves */
	double *results;                  /* room for a pass's */
	struct slot_kind counted, silent; /* its samples */

	/* Counting has ended for good: what waits, goes. Relaxed: submitting threads do less. */
	bool released;
	/* How often something went without a turn; relaxed. */
	uint64_t passed_by;
	/* Dispatches that have a turn, or wait for one; relaxed, a hint. */
	uint64_t under_way;

	struct counter_ledger ledger;
	uint64_t told_ns; /* who makes a pass: when it was published last */
};

/* The GPU's, made if it is the first time; NULL: no memory. */
struct counter_gpu *plan_get(hsa_agent_t agent);

/* The first of all; the others follow. Acquire. */
struct counter_gpu *plan_first(void);

/* What describes the GPU's counters is published. Any thread. */
void plan_publish(const struct counter_gpu *gpu);

#endif
