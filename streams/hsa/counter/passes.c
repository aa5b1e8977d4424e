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
	size_t before; /* metrics that have a pass; the next is that metric */
	size_t pass;
};

/* The inputs of a metric in the pass; 0: it is in another. */
static size_t inputs_of(const struct trial *trial, size_t m)
{
	return m == trial->before || trial->pass_of[m] == trial->pass
		       ? trial->metrics[m]->input_count
		       : 0;
}

/* Whether an input of the pass before that of metric `of` counts the event already. */
static bool has_event(const struct trial *trial, size_t of, size_t input)
{
	for (size_t m = 0; m <= of; m++)
		for (size_t i = 0; i < (m < of ? inputs_of(trial, m) : input); i++)
			if (same_event(&trial->metrics[m]->inputs[i],
				       &trial->metrics[of]->inputs[input]))
				return true;
	return false;
}

/* Registers of a block that the pass takes. */
static uint32_t taken(const struct trial *trial, const char *block)
{
	uint32_t count = 0;

	for (size_t m = 0; m <= trial->before; m++)
		for (size_t i = 0; i < inputs_of(trial, m); i++) {
			const struct metric_input *input = &trial->metrics[m]->inputs[i];
			if (!strcmp(input->block, block) && !has_event(trial, m, i))
				/* SQ adds a level up in a register of its own, beside the level's. */
				count += input->accumulate == METRIC_PLAIN ? 1 : 2;
		}
	return count;
}

/* NULL: the metric fits. Else the first block that has too few registers. */
static const char *lacks(const struct trial *trial, counter_registers *registers, void *user)
{
	const struct metric *added = trial->metrics[trial->before];

	for (size_t i = 0; i < added->input_count; i++) {
		const char *block = added->inputs[i].block;
		if (taken(trial, block) > registers(user, block))
			return block;
	}
	return NULL;
}

static void refuse(const struct trial *trial, const char *block, uint32_t there, char *message,
		   size_t size)
{
	const char *name = trial->metrics[trial->before]->name;

	if (!there)
		snprintf(message, size, "%s needs block %s, which cannot be counted here", name,
			 block);
	else
		snprintf(message, size,
			 "%s needs %u counters of block %s at the same time, which has %u", name,
			 taken(trial, block), block, there);
}

size_t passes_choose(struct metric *const *metrics, size_t count, counter_registers *registers,
		     void *user, size_t *pass_of, size_t *refused, char *message, size_t size)
{
	size_t passes = 0;

	for (size_t m = 0; m < count; m++) {
		struct trial trial = {metrics, pass_of, m, 0};
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
