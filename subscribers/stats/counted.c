/* SPDX-License-Identifier: MIT */
/* See counted.h. */
#include "counted.h"

#include <rtl/events.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "wanted.h"

#define UNKNOWN_NAME "(unnamed)"

/* A counter, of a kernel or (kernel NULL) of a GPU. */
struct counted_one {
	struct counted_one *next;
	char *kernel, *name, *unit;
	bool is_metric;
	uint32_t gpu;
	uint64_t count, of;
	double sum, min, max;
};

struct counted_ledger {
	struct counted_ledger *next;
	struct rtl_hsa_counter_ledger newest;
};

static void out_of_memory(struct counted *counted)
{
	counted->host->fail(counted->host, "out of memory");
}

static void free_one(struct counted_one *one)
{
	free(one->kernel);
	free(one->name);
	free(one->unit);
	free(one);
}

/* As track.c names what a tracepoint stands for. */
static char *name_of(const struct rtl_tracepoint *tp)
{
	const char *readable = rtl_tracepoint_value(tp, "demangled");

	return strdup(readable && *readable ? readable : tp && *tp->name ? tp->name : UNKNOWN_NAME);
}

static struct counted_one *make(struct counted *counted, const struct rtl_event *event,
				uint64_t kernel, uint64_t key)
{
	const struct rtl_host *host = counted->host;
	struct counted_one *one = calloc(1, sizeof(*one));
	const struct rtl_tracepoint *tp;
	const char *unit;

	if (!one)
		return NULL;
	if (kernel)
		one->kernel = name_of(host->tracepoint(host, event->process, kernel));
	tp = host->tracepoint(host, event->process, event->uid);
	unit = rtl_tracepoint_value(tp, "unit");
	one->unit = strdup(unit ? unit : "");
	one->name = name_of(tp);
	if ((kernel && !one->kernel) || !one->name || !one->unit ||
	    !map_set(&counted->all, key, (uintptr_t)one)) {
		free_one(one);
		return NULL;
	}
	one->next = counted->first;
	counted->first = one;
	return one;
}

static struct counted_one *find(struct counted *counted, const struct rtl_event *event,
				uint64_t kernel, uint32_t gpu)
{
	const uint64_t key = hash_number(event->uid ^ hash_number(kernel ? kernel : gpu)) | 1;
	struct counted_one *one = (struct counted_one *)(uintptr_t)map_get(&counted->all, key);

	return one ? one : make(counted, event, kernel, key);
}

static void add(struct counted_one *one, uint32_t flags, double value)
{
	one->of++;
	one->is_metric = flags & RTL_HSA_COUNTER_DERIVED;
	if (flags & RTL_HSA_COUNTER_NO_VALUE)
		return;
	one->min = !one->count || value < one->min ? value : one->min;
	one->max = !one->count || value > one->max ? value : one->max;
	one->sum += value;
	one->count++;
}

static void take_values(void *user, const struct rtl_event *const *events, size_t count)
{
	struct counted *counted = user;

	for (size_t i = 0; i < count; i++) {
		const struct rtl_hsa_counter *c = events[i]->payload;
		struct counted_one *one = find(counted, events[i], c->kernel ? c->kernel : 1, 0);

		if (one)
			add(one, c->flags, c->value);
		else
			out_of_memory(counted);
	}
}

static void take_intervals(void *user, const struct rtl_event *const *events, size_t count)
{
	struct counted *counted = user;

	for (size_t i = 0; i < count; i++) {
		const struct rtl_hsa_counter_interval *c = events[i]->payload;
		struct counted_one *one = find(counted, events[i], 0, c->gpu);

		if (!one) {
			out_of_memory(counted);
			continue;
		}
		one->gpu = c->gpu;
		add(one, c->flags, c->value);
	}
}

static struct counted_ledger *ledger_of(struct counted *counted, const struct rtl_event *event,
					uint32_t gpu)
{
	const uint64_t key = hash_number(event->process->number) ^ gpu;
	struct counted_ledger *ledger =
		(struct counted_ledger *)(uintptr_t)map_get(&counted->ledgers, key);

	if (ledger)
		return ledger;
	ledger = calloc(1, sizeof(*ledger));
	if (!ledger || !map_set(&counted->ledgers, key, (uintptr_t)ledger)) {
		free(ledger);
		return NULL;
	}
	ledger->next = counted->first_ledger;
	counted->first_ledger = ledger;
	return ledger;
}

/* The last one counts. */
static void take_ledgers(void *user, const struct rtl_event *const *events, size_t count)
{
	struct counted *counted = user;

	for (size_t i = 0; i < count; i++) {
		const struct rtl_hsa_counter_ledger *newest = events[i]->payload;
		struct counted_ledger *ledger = ledger_of(counted, events[i], newest->gpu);

		if (ledger)
			ledger->newest = *newest;
		else
			out_of_memory(counted);
	}
}

/* ---- at the end ---- */

/* By kernel, GPU, counter: as `rtl summary` has them. */
static int compare(const void *a, const void *b)
{
	const struct counted_one *one = *(struct counted_one *const *)a;
	const struct counted_one *other = *(struct counted_one *const *)b;
	const int by_kernel = one->kernel && other->kernel ? strcmp(one->kernel, other->kernel)
							   : (!one->kernel) - (!other->kernel);

	if (by_kernel)
		return by_kernel;
	if (one->gpu != other->gpu)
		return one->gpu < other->gpu ? -1 : 1;
	return strcmp(one->name, other->name);
}

static const struct summary_group *kernel_group(struct summary *summary, const char *kernel)
{
	struct summary_section *kernels =
		summary_section(summary, RTL_STREAM_HSA, "task", "GPU kernels");

	return kernels ? summary_group(kernels, kernel) : NULL;
}

/* The kernel's name as others see it. */
static int rename_kernel(struct summary *summary, struct counted_one *one)
{
	const struct summary_group *group = kernel_group(summary, one->kernel);
	char *name = group ? strdup(group->name) : NULL;

	if (!name)
		return RTL_ENOMEM;
	free(one->kernel);
	one->kernel = name;
	return 0;
}

/* Two of one name, of several code objects: all goes to the first. */
static void merge(struct counted_one *one, const struct counted_one *other)
{
	if (other->count) {
		one->min = !one->count || other->min < one->min ? other->min : one->min;
		one->max = !one->count || other->max > one->max ? other->max : one->max;
	}
	one->count += other->count;
	one->of += other->of;
	one->sum += other->sum;
}

/* Merges those of one name, which are neighbours. How many are left. */
static size_t merge_all(struct counted_one **all, size_t count)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++)
		if (left && !compare(&all[left - 1], &all[i]))
			merge(all[left - 1], all[i]);
		else
			all[left++] = all[i];
	return left;
}

static int add_counter(struct summary *summary, const struct counted_one *one)
{
	const struct summary_group *group = kernel_group(summary, one->kernel);
	const uint64_t dispatches = group ? group->count + group->untimed : 0;

	return summary_add_counter(summary, one->kernel, one->name, one->unit,
				   &(struct summary_counted){
					   .count = one->count,
					   .of = dispatches > one->of ? dispatches : one->of,
					   .mean = one->count ? one->sum / (double)one->count : 0,
					   .min = one->min,
					   .max = one->max,
				   });
}

static int add_sampled(struct summary *summary, const struct counted_one *one)
{
	return summary_add_sampled(summary, one->name, one->unit,
				   &(struct summary_sampled){
					   .gpu = one->gpu,
					   .is_metric = one->is_metric,
					   .count = one->count,
					   .of = one->of,
					   .sum = one->sum,
					   .min = one->min,
					   .max = one->max,
				   });
}

static int add_all(struct summary *summary, struct counted_one **all, size_t count)
{
	int error = 0;

	for (size_t i = 0; i < count && !error; i++)
		if (all[i]->kernel)
			error = rename_kernel(summary, all[i]);
	qsort(all, count, sizeof(*all), compare);
	count = merge_all(all, count);
	for (size_t i = 0; i < count && !error; i++)
		error = all[i]->kernel ? add_counter(summary, all[i])
				       : add_sampled(summary, all[i]);
	return error;
}

int counted_finish(struct counted *counted)
{
	struct counted_one **all;
	size_t count = 0;
	int error;

	for (const struct counted_ledger *l = counted->first_ledger; l; l = l->next)
		summary_add_count_ledger(counted->summary,
					 &(struct summary_count_ledger){
						 .dispatches = l->newest.dispatches,
						 .counted = l->newest.counted,
						 .not_asked = l->newest.not_asked,
						 .given_up = l->newest.given_up,
						 .refused = l->newest.refused,
					 });
	for (const struct counted_one *one = counted->first; one; one = one->next)
		count++;
	if (!count)
		return 0;
	all = calloc(count, sizeof(*all));
	if (!all)
		return RTL_ENOMEM;
	count = 0;
	for (struct counted_one *one = counted->first; one; one = one->next)
		all[count++] = one;
	error = add_all(counted->summary, all, count);
	free(all);
	return error;
}

void counted_fini(struct counted *counted)
{
	for (struct counted_one *next, *one = counted->first; one; one = next) {
		next = one->next;
		free_one(one);
	}
	for (struct counted_ledger *next, *l = counted->first_ledger; l; l = next) {
		next = l->next;
		free(l);
	}
	map_fini(&counted->all);
	map_fini(&counted->ledgers);
	counted->first = NULL;
	counted->first_ledger = NULL;
}

/* ---- subscribing ---- */

int counted_add_stream(struct counted *counted, const struct rtl_stream_info *stream)
{
	static const struct wanted types[] = {
		{RTL_SIGNAL, sizeof(struct rtl_hsa_counter), take_values, true},
		{RTL_SAMPLE, sizeof(struct rtl_hsa_counter_interval), take_intervals, true},
		{RTL_DIAGNOSTICS, sizeof(struct rtl_hsa_counter_ledger), take_ledgers, true},
	};
	static const struct wanted_stream known = {RTL_STREAM_HSA_COUNTER,
						   RTL_STREAM_HSA_COUNTER_VERSION, WANTED(types)};
	int error;

	if (!wanted_find(&known, 1, stream->name))
		return 0;
	error = wanted_subscribe(counted->host, stream, &known, counted, NULL);
	return error == RTL_ENOTSUP ? 0 : error;
}
