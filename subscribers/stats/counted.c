/* SPDX-License-Identifier: MIT */
/* See sink.h. */
#include "sink.h"

#include "host.h"
#include "model.h"

#define UNKNOWN_NAME "(unnamed)"

static const char *name_of(const struct rtl_tracepoint *tp)
{
	const char *name = host_tracepoint_name(tp);

	return name ? name : UNKNOWN_NAME;
}

static const struct summary_group *kernel_group(struct summary *summary, const char *kernel)
{
	struct summary_section *kernels =
		summary_section(summary, RTL_STREAM_HSA, "task", "GPU kernels");

	return kernels ? summary_group(kernels, kernel) : NULL;
}

/* Kernels of one name, of several code objects, share theirs. */
static struct summary_counter *make(struct counted *counted, const struct rtl_event *event,
				    uint64_t kernel, uint32_t gpu, uint64_t key)
{
	const struct rtl_host *host = counted->host;
	struct summary *summary = counted->summary;
	const struct rtl_tracepoint *tp = host->tracepoint(host, event->process, event->uid);
	const char *unit = rtl_tracepoint_value(tp, "unit"), *name = name_of(tp);
	const struct summary_group *group = NULL;
	struct summary_counter *one;
	uint64_t named;

	if (kernel) {
		tp = host->tracepoint(host, event->process, kernel);
		group = kernel_group(summary, name_of(tp));
		if (!group)
			return NULL;
	}
	named = hash_pair(hash_text(name, strlen(name)), group ? (uintptr_t)group : gpu) | 1;
	one = map_pointer(&counted->all, named);
	if (!one) {
		one = summary_alloc(summary, sizeof(*one));
		if (!one || !(one->unit = summary_copy(summary, unit ? unit : "")) ||
		    !(one->name = summary_copy(summary, name)) ||
		    !map_set(&counted->all, named, (uintptr_t)one))
			return NULL;
		one->kernel = group ? group->name : NULL;
		one->gpu = gpu;
		one->next = summary->counters;
		summary->counters = one;
	}
	return map_set(&counted->all, key, (uintptr_t)one) ? one : NULL;
}

/* Of a kernel, or, if that is 0, of a GPU. */
static void add(struct counted *counted, const struct rtl_event *event, uint64_t kernel,
		uint32_t gpu, uint32_t flags, double value)
{
	const uint64_t key = hash_number(event->uid ^ hash_number(kernel ? kernel : gpu)) | 1;
	struct summary_counter *one = map_pointer(&counted->all, key);

	if (!one && !(one = make(counted, event, kernel, gpu, key)))
		return (void)counted->host->fail(counted->host, "out of memory");
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
	for (size_t i = 0; i < count; i++) {
		const struct rtl_hsa_counter *c = events[i]->payload;

		add(user, events[i], c->kernel ? c->kernel : 1, 0, c->flags, c->value);
	}
}

static void take_intervals(void *user, const struct rtl_event *const *events, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct rtl_hsa_counter_interval *c = events[i]->payload;

		add(user, events[i], 0, c->gpu, c->flags, c->value);
	}
}

/* Of a process and GPU the last one counts. */
static void take_ledgers(void *user, const struct rtl_event *const *events, size_t count)
{
	struct counted *counted = user;

	for (size_t i = 0; i < count; i++) {
		const struct rtl_hsa_counter_ledger *newest = events[i]->payload;
		const uint64_t key = hash_number(events[i]->process->number) ^ newest->gpu;
		struct rtl_hsa_counter_ledger *kept = map_pointer(&counted->ledgers, key);

		if (!kept && !(kept = map_make(&counted->ledgers, key, sizeof(*kept))))
			return (void)counted->host->fail(counted->host, "out of memory");
		*kept = *newest;
	}
}

const struct wanted counted_types[] = {
	{RTL_SIGNAL, sizeof(struct rtl_hsa_counter), take_values, true},
	{RTL_SAMPLE, sizeof(struct rtl_hsa_counter_interval), take_intervals, true},
	{RTL_DIAGNOSTICS, sizeof(struct rtl_hsa_counter_ledger), take_ledgers, true},
};

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

int counted_finish(struct counted *counted)
{
	struct summary *summary = counted->summary;
	struct rtl_hsa_counter_ledger *sum = &summary->count_ledger;
	struct summary_counter **all = calloc(counted->all.hash.count + 1, sizeof(*all));
	size_t count = 0;

	if (!all)
		return RTL_ENOMEM;
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
	for (struct summary_counter *one = summary->counters; one; one = one->next)
		all[count++] = one;
	qsort(all, count, sizeof(*all), compare);
	summary->counters = NULL;
	while (count--) {
		struct summary_counter *one = all[count];
		const struct summary_group *group =
			one->kernel ? kernel_group(summary, one->kernel) : NULL;
		const uint64_t dispatches = group ? group->count + group->untimed : 0;

		one->of = dispatches > one->of ? dispatches : one->of;
		one->next = summary->counters;
		summary->counters = one;
	}
	free(all);
	return 0;
}

void counted_fini(struct counted *counted)
{
	map_fini(&counted->all);
	map_free(&counted->ledgers);
}
