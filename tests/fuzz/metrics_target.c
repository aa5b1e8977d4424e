/* SPDX-License-Identifier: MIT */
/* A file of definitions of counters, all of whose metrics are compiled, evaluated and put into passes.
 * The first byte: whether it is read as v1 reads it, and whether what follows is an expression alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../cli/definitions/definitions.h"
#include "../../streams/hsa/counter/metrics.h"
#include "fuzz.h"

enum { SAMPLES = 24, VALUES = 256, METRICS = 64 };

static const char before[] = "A:\n  architectures:\n    gfx906:\n      block: SQ\n      event: 1\n"
			     "B:\n  architectures:\n    gfx906:\n      block: TCC\n      event: 2\n"
			     "X:\n  architectures:\n    gfx906:\n      expression: >\n       ";

static uint32_t registers(void *user, const char *block)
{
	return (uint32_t)strlen(block);
}

static void evaluate(struct metric *metric)
{
	static struct metric_sample samples[SAMPLES];
	static struct metric_values values[VALUES];
	double value = 0;

	if (!samples[1].value) {
		for (uint32_t i = 0; i < SAMPLES; i++) {
			samples[i].value = i % 5;
			samples[i].at[METRIC_XCC] = (uint16_t)(i / 12);
			samples[i].at[METRIC_SE] = (uint16_t)(i / 4 % 3);
			samples[i].at[METRIC_INSTANCE] = (uint16_t)(i % 4);
		}
	}
	for (size_t i = 0; i < VALUES; i++)
		values[i] = (struct metric_values){samples, i % 3 ? SAMPLES : 1};
	if (metric_evaluate(metric, values, &value) && value - value != 0)
		abort(); /* no value is no number */
}

static void use(const struct counter_set *set)
{
	struct metric *metrics[METRICS];
	size_t pass_of[METRICS], refused, count = 0;
	char message[256];

	for (size_t i = 0; i < counter_set_count(set) && count < METRICS; i++) {
		const struct counter_def *def = counter_set_at(set, i);
		if (counter_find(set, def->name) != def)
			abort();
		metrics[count] = metric_compile(set, def->name, message, sizeof(message));
		if (metrics[count])
			evaluate(metrics[count++]);
	}
	metric_destroy(
		metric_compile(set, counter_set_at(set, 0)->description, message, sizeof(message)));
	passes_choose(metrics, count, registers, NULL, pass_of, &refused, message, sizeof(message));
	while (count)
		metric_destroy(metrics[--count]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct counter_options options = {0};
	struct counter_set *set;
	char path[64], message[256], *list;
	int file = memfd_create("definitions", MFD_CLOEXEC);

	if (file < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	options.v1_expressions = size && data[0] & 1;
	if (size && data[0] & 2)
		if (write(file, before, sizeof(before) - 1) < 0)
			abort();
	if (size > 1 && write(file, data + 1, size - 1) < 0)
		abort();
	list = definitions_list(path, message, sizeof(message));
	options.list = list;
	set = list ? counter_set_load("gfx906", &options, message, sizeof(message)) : NULL;
	free(list);
	close(file);
	if (set)
		use(set);
	counter_set_destroy(set);
	return 0;
}
