/* SPDX-License-Identifier: MIT */
/*
 * counters.c: hardware counters, as tracks of their GPU. A value of a dispatch is shown from the dispatch's
 * begin to its end, which another event tells: before it mostly, sometimes after. So the newest dispatches
 * that are counted are kept, and values that came first wait.
 */
#include <math.h>
#include <stdlib.h>

#include "hash.h"
#include "sub.h"

#define BUCKETS 512u /* a power of two */
#define WAYS    8u
#define WAITING 4096u

struct counters {
	/* The newest of each bucket, by the key; key 0: none. */
	struct bucket {
		struct counted {
			uint64_t key, begin_ns, end_ns;
		} newest[WAYS];
		uint32_t count; /* of all that came */
	} buckets[BUCKETS];
	struct waiting {
		uint64_t key;
		struct work_process *process;
		struct timeline_name *name, *unit; /* unit: NULL, not known */
		uint32_t gpu;
		double value;
	} waiting[WAITING];
	size_t waiting_count;
	uint64_t lost; /* values whose dispatch is not known */
};

/* Of a dispatch, in all processes; never 0. */
static uint64_t key_of(const struct rtl_event *event)
{
	return hash_number(hash_number(event->process->number) ^ event->instance) | 1;
}

static struct bucket *bucket_of(struct counters *counters, uint64_t key)
{
	return &counters->buckets[key / 2 & (BUCKETS - 1)];
}

static const struct counted *find(struct counters *counters, uint64_t key)
{
	const struct bucket *bucket = bucket_of(counters, key);

	for (uint32_t i = 0; i < WAYS; i++)
		if (bucket->newest[i].key == key)
			return &bucket->newest[i];
	return NULL;
}

static void show(struct sub *sub, const struct waiting *value, const struct counted *dispatch)
{
	work_hardware_counter(&sub->work, value->process, value->gpu, value->name->text,
			      value->unit ? value->unit->text : NULL, dispatch->begin_ns,
			      dispatch->end_ns, value->value);
}

void counters_dispatch(struct sub *sub, const struct rtl_event *event,
		       const struct rtl_hsa_dispatch *d)
{
	const bool timed = !(d->flags & RTL_HSA_DISPATCH_NO_TIME) && d->end_ns;
	const struct counted dispatch = {.key = key_of(event),
					 .begin_ns = timed ? d->begin_ns : d->submit_ns,
					 .end_ns = timed ? d->end_ns : d->submit_ns};
	struct counters *counters = sub->hardware;
	struct bucket *bucket;
	size_t kept = 0;

	if (!counters)
		return;
	bucket = bucket_of(counters, dispatch.key);
	bucket->newest[bucket->count++ % WAYS] = dispatch;
	for (size_t i = 0; i < counters->waiting_count; i++) {
		if (counters->waiting[i].key == dispatch.key)
			show(sub, &counters->waiting[i], &dispatch);
		else
			counters->waiting[kept++] = counters->waiting[i];
	}
	counters->waiting_count = kept;
}

static struct timeline_name *unit_of(struct sub *sub, const struct rtl_event *event)
{
	const struct rtl_tracepoint *tp =
		sub->host->tracepoint(sub->host, event->process, event->uid);
	const char *unit = lookup_metadata(tp, "unit");

	return unit && *unit ? timeline_intern(&sub->timeline, unit) : NULL;
}

static void take_value(struct sub *sub, struct work_process *process, const struct rtl_event *event)
{
	const struct rtl_hsa_counter *c = event->payload;
	struct counters *counters = sub->hardware;
	const struct waiting value = {
		.key = key_of(event),
		.process = process,
		.name = lookup_string(sub, event->process, c->name),
		.unit = unit_of(sub, event),
		.gpu = c->gpu,
		.value = c->value,
	};
	const struct counted *dispatch = find(counters, value.key);

	if (c->flags & RTL_HSA_COUNTER_NO_VALUE || !value.name)
		return;
	if (dispatch)
		show(sub, &value, dispatch);
	else if (counters->waiting_count < WAITING)
		counters->waiting[counters->waiting_count++] = value;
	else
		counters->lost++;
}

void counters_values(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;
	struct sub *sub = stream->sub;

	sub->pending = true;
	for (size_t i = 0; i < count; i++) {
		struct work_process *process = lookup_process(sub, events[i]->process);

		if (process)
			take_value(sub, process, events[i]);
	}
}

void counters_intervals(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;
	struct sub *sub = stream->sub;

	sub->pending = true;
	for (size_t i = 0; i < count; i++) {
		const struct rtl_hsa_counter_interval *c = events[i]->payload;
		struct work_process *process = lookup_process(sub, events[i]->process);
		const struct timeline_name *name = lookup_string(sub, events[i]->process, c->name);
		const struct timeline_name *unit = unit_of(sub, events[i]);

		if (process && name)
			work_hardware_interval(&sub->work, process, c->gpu, name->text,
					       unit ? unit->text : NULL, c->begin_ns, c->end_ns,
					       c->flags & RTL_HSA_COUNTER_NO_VALUE ? NAN
										   : c->value);
	}
}

int counters_init(struct sub *sub)
{
	if (!sub->hardware)
		sub->hardware = calloc(1, sizeof(*sub->hardware));
	return sub->hardware ? 0 : RTL_ENOMEM;
}

uint64_t counters_lost(const struct sub *sub, bool end)
{
	const struct counters *counters = sub->hardware;

	return counters ? counters->lost + (end ? counters->waiting_count : 0) : 0;
}

void counters_fini(struct sub *sub)
{
	free(sub->hardware);
	sub->hardware = NULL;
}
