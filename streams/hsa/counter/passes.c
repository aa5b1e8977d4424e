/* SPDX-License-Identifier: MIT */
/* What is counted together: see passes_choose in metrics.h. */
#include <stdio.h>

#include "metrics.h"

static bool same_event(const struct metric_input *a, const struct metric_input *b)
{
	return a->event == b->event && a->accumulate == b->accumulate &&
	       !strcmp(a->block, b->block);
}

/* A pass, and a metric that might be in it. */
struct trial {
	struct metric *const *metrics;
	const size_t *pass_of;
	size_t before; /* metrics that have a pass */
	size_t pass;
	const struct metric *added;
};

/* Whether the metric, or an earlier input of it, has the event already. */
static bool has_event(const struct metric *metric, size_t inputs, const struct metric_input *input)
{
	for (size_t i = 0; i < inputs; i++) {
		if (same_event(&metric->inputs[i], input))
			return true;
	}
	return false;
}

/* Whether a metric of the pass, from the first to before `end`, counts the event. */
static bool pass_has(const struct trial *trial, size_t end, const struct metric_input *input)
{
	for (size_t m = 0; m < end; m++) {
		if (trial->pass_of[m] == trial->pass &&
		    has_event(trial->metrics[m], trial->metrics[m]->input_count, input))
			return true;
	}
	return false;
}

/* Registers of a block that the pass takes. */
static uint32_t taken(const struct trial *trial, const char *block)
{
	uint32_t count = 0;

	for (size_t m = 0; m <= trial->before; m++) {
		const struct metric *metric = m < trial->before ? trial->metrics[m] : trial->added;
		if (m < trial->before && trial->pass_of[m] != trial->pass)
			continue;
		for (size_t i = 0; i < metric->input_count; i++) {
			const struct metric_input *input = &metric->inputs[i];
			if (!strcmp(input->block, block) && !has_event(metric, i, input) &&
			    !pass_has(trial, m, input))
				/* SQ adds a level up in a register of its own, beside the level's. */
				count += input->accumulate == METRIC_PLAIN ? 1 : 2;
		}
	}
	return count;
}

/* NULL: the metric fits. Else the first block that has too few registers. */
static const char *lacks(const struct trial *trial, counter_registers *registers, void *user)
{
	for (size_t i = 0; i < trial->added->input_count; i++) {
		const char *block = trial->added->inputs[i].block;
		if (taken(trial, block) > registers(user, block))
			return block;
	}
	return NULL;
}

static void refuse(const struct trial *trial, const char *block, uint32_t there, char *message,
		   size_t size)
{
	if (!there)
		snprintf(message, size, "%s needs block %s, which cannot be counted here",
			 trial->added->name, block);
	else
		snprintf(message, size,
			 "%s needs %u counters of block %s at the same time, which has %u",
			 trial->added->name, taken(trial, block), block, there);
}

size_t passes_choose(struct metric *const *metrics, size_t count, counter_registers *registers,
		     void *user, size_t *pass_of, size_t *refused, char *message, size_t size)
{
	size_t passes = 0;

	for (size_t m = 0; m < count; m++) {
		struct trial trial = {metrics, pass_of, m, 0, metrics[m]};
		const char *block;

		while ((block = lacks(&trial, registers, user)) && trial.pass < passes)
			trial.pass++;
		if (block) {
			refuse(&trial, block, registers(user, block), message, size);
			*refused = m;
			return 0;
		}
		passes += trial.pass == passes;
		pass_of[m] = trial.pass;
	}
	return passes;
}
