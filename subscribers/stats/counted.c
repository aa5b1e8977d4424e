/* SPDX-License-Identifier: MIT */
/* See sink.h. */
#include "sink.h"

#include <rtl/events.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "wanted.h"

#define UNKNOWN_NAME "(unnamed)"

static void out_of_memory(struct counted *counted)
{
	counted->host->fail(counted->host, "out of memory");
}

/* As track.c names what a tracepoint stands for. */
static char *name_of(struct summary *summary, const struct rtl_tracepoint *tp)
{
	const char *readable = rtl_tracepoint_value(tp, "demangled");

	return summary_copy(summary, readable && *readable ? readable
				     : tp && *tp->name     ? tp->name
							   : UNKNOWN_NAME);
}

static struct summary_counter *make(struct counted *counted, const struct rtl_event *event,
				    uint64_t kernel, uint64_t key)
{
	const struct rtl_host *host = counted->host;
	struct summary *summary = counted->summary;
	struct summary_counter *one = summary_alloc(summary, sizeof(*one));
	const struct rtl_tracepoint *tp;
	const char *unit;

	if (!one)
		return NULL;
	if (kernel)
		one->kernel = name_of(summary, host->tracepoint(host, event->process, kernel));
	tp = host->tracepoint(host, event->process, event->uid);
	unit = rtl_tracepoint_value(tp, "unit");
	one->unit = summary_copy(summary, unit ? unit : "");
	one->name = name_of(summary, tp);
	if ((kernel && !one->kernel) || !one->name || !one->unit ||
	    !map_set(&counted->all, key, (uintptr_t)one))
		return NULL;
	one->next = summary->counters;
	summary->counters = one;
	return one;
}

static struct summary_counter *find(struct counted *counted, const struct rtl_event *event,
				    uint64_t kernel, uint32_t gpu)
{
	const uint64_t key = hash_number(event->uid ^ hash_number(kernel ? kernel : gpu)) | 1;
	struct summary_counter *one =
		(struct summary_counter *)(uintptr_t)map_get(&counted->all, key);

	return one ? one : make(counted, event, kernel, key);
}

static void add(struct summary_counter *one, uint32_t flags, double value)
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
		struct summary_counter *one =
			find(counted, events[i], c->kernel ? c->kernel : 1, 0);

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
		struct summary_counter *one = find(counted, events[i], 0, c->gpu);

		if (!one) {
			out_of_memory(counted);
			continue;
		}
		one->gpu = c->gpu;
		add(one, c->flags, c->value);
	}
}

static struct rtl_hsa_counter_ledger *ledger_of(struct counted *counted,
						const struct rtl_event *event, uint32_t gpu)
{
	const uint64_t key = hash_number(event->process->number) ^ gpu;
	struct rtl_hsa_counter_ledger *ledger =
		(struct rtl_hsa_counter_ledger *)(uintptr_t)map_get(&counted->ledgers, key);

	if (ledger)
		return ledger;
	ledger = calloc(1, sizeof(*ledger));
	if (ledger && map_set(&counted->ledgers, key, (uintptr_t)ledger))
		return ledger;
	free(ledger);
	return NULL;
}

/* The last one counts. */
static void take_ledgers(void *user, const struct rtl_event *const *events, size_t count)
{
	struct counted *counted = user;

	for (size_t i = 0; i < count; i++) {
		const struct rtl_hsa_counter_ledger *newest = events[i]->payload;
		struct rtl_hsa_counter_ledger *ledger = ledger_of(counted, events[i], newest->gpu);

		if (ledger)
			*ledger = *newest;
		else
			out_of_memory(counted);
	}
}

/* ---- at the end ---- */

/* By kernel, GPU, counter: as `rtl summary` has them. */
static int compare(const void *a, const void *b)
{
	const struct summary_counter *one = *(struct summary_counter *const *)a;
	const struct summary_counter *other = *(struct summary_counter *const *)b;
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
static int rename_kernel(struct summary *summary, struct summary_counter *one)
{
	const struct summary_group *group = kernel_group(summary, one->kernel);

	one->kernel = group ? summary_copy(summary, group->name) : NULL;
	return one->kernel ? 0 : RTL_ENOMEM;
}

/* Two of one name, of several code objects: all goes to the first. */
static void merge(struct summary_counter *one, const struct summary_counter *other)
{
	if (other->count) {
		one->min = !one->count || other->min < one->min ? other->min : one->min;
		one->max = !one->count || other->max > one->max ? other->max : one->max;
	}
	one->count += other->count;
	one->of += other->of;
	one->sum += other->sum;
}

/* A list in order; those of one name, which are neighbours, become one. */
static void link_all(struct summary *summary, struct summary_counter **all, size_t count)
{
	struct summary_counter **end = &summary->counters, *last = NULL;

	for (size_t i = 0; i < count; i++)
		if (last && !compare(&last, &all[i])) {
			merge(last, all[i]);
		} else {
			*end = last = all[i];
			end = &last->next;
		}
	*end = NULL;
	for (struct summary_counter *c = summary->counters; c; c = c->next) {
		const struct summary_group *group =
			c->kernel ? kernel_group(summary, c->kernel) : NULL;
		const uint64_t dispatches = group ? group->count + group->untimed : 0;

		c->of = dispatches > c->of ? dispatches : c->of;
	}
}

int counted_finish(struct counted *counted)
{
	struct summary *summary = counted->summary;
	struct rtl_hsa_counter_ledger *sum = &summary->count_ledger;
	struct summary_counter **all;
	size_t count = 0;
	int error = 0;

	for (size_t i = 0; i < counted->ledgers.hash.capacity; i++) {
		const struct rtl_hsa_counter_ledger *newest =
			(void *)(uintptr_t)map_at(&counted->ledgers, i)->value;

		if (!newest)
			continue;
		sum->dispatches += newest->dispatches;
		sum->counted += newest->counted;
		sum->not_asked += newest->not_asked;
		sum->given_up += newest->given_up;
		sum->refused += newest->refused;
	}
	for (const struct summary_counter *one = summary->counters; one; one = one->next)
		count++;
	all = calloc(count + 1, sizeof(*all));
	if (!all)
		return RTL_ENOMEM;
	count = 0;
	for (struct summary_counter *one = summary->counters; one && !error; one = one->next) {
		all[count++] = one;
		if (one->kernel)
			error = rename_kernel(summary, one);
	}
	if (!error) {
		qsort(all, count, sizeof(*all), compare);
		link_all(summary, all, count);
	}
	free(all);
	return error;
}

void counted_fini(struct counted *counted)
{
	map_fini(&counted->all);
	map_free(&counted->ledgers);
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
