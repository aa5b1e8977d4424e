/* SPDX-License-Identifier: MIT */
/*
 * event_sink_counters.c: hardware counters, as tracks of their GPU. A value of a dispatch is shown from the dispatch's
 * begin to its end, which another event tells: before it mostly, sometimes after. So the newest dispatches
 * that are counted are kept, and values that came first wait.
 */
#include <math.h>
#include <stdlib.h>

#include "event_sink.h"
#include "hash.h"

#define BUCKETS 512u /* a power of two */
#define WAYS    8u
#define WAITING 4096u

struct counters {
	/* The newest of each bucket, by the key; key 0: none. */
	struct bucket {
		struct counted {
			uint64_t key, begin_ns, end_ns;
			const struct timeline_name *kernel;
		} newest[WAYS];
		uint32_t count; /* of all that came */
	} buckets[BUCKETS];
	/* A ring of values that wait for their dispatch: the n-th that came is at n % WAITING. */
	struct waiting {
		struct work_process *process;
		struct timeline_name *name, *unit; /* unit: NULL, not known */
		uint32_t gpu;
		double value;
	} waiting[WAITING];
	uint64_t keys[WAITING]; /* their dispatches; 0: it has come */
	uint64_t first, end;    /* of the ring: the oldest one waits still */
	uint64_t lost;          /* values that gave way to later ones */
	struct map units;       /* uid of a counter -> struct timeline_name * */
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

static void show(struct event_sink *sink, const struct waiting *value,
		 const struct counted *dispatch)
{
	work_hardware_counter(&sink->work, value->process, value->gpu, dispatch->kernel->text,
			      value->name->text, value->unit ? value->unit->text : NULL,
			      dispatch->begin_ns, dispatch->end_ns, value->value);
}

/* At the ring's begin. */
static void forget_shown(struct counters *counters)
{
	while (counters->first < counters->end && !counters->keys[counters->first % WAITING])
		counters->first++;
}

void counters_dispatch(struct event_sink *sink, const struct rtl_event *event,
		       const struct rtl_hsa_dispatch *d, const struct work_kernel *kernel)
{
	const bool timed = !(d->flags & RTL_HSA_DISPATCH_NO_TIME) && d->end_ns;
	const struct counted dispatch = {.key = key_of(event),
					 .begin_ns = timed ? d->begin_ns : d->submit_ns,
					 .end_ns = timed ? d->end_ns : d->submit_ns,
					 .kernel = kernel->name};
	struct counters *counters = sink->hardware;
	struct bucket *bucket;

	if (!counters)
		return;
	bucket = bucket_of(counters, dispatch.key);
	bucket->newest[bucket->count++ % WAYS] = dispatch;
	for (uint64_t n = counters->first; n < counters->end; n++)
		if (counters->keys[n % WAITING] == dispatch.key) {
			show(sink, &counters->waiting[n % WAITING], &dispatch);
			counters->keys[n % WAITING] = 0;
		}
	forget_shown(counters);
}

/* A tracepoint has it from the beginning. */
static struct timeline_name *unit_of(struct event_sink *sink, const struct rtl_event *event)
{
	struct map *units = &sink->hardware->units;
	struct timeline_name *name = (struct timeline_name *)(uintptr_t)map_get(units, event->uid);
	const char *unit;

	if (name)
		return name;
	unit = rtl_tracepoint_value(sink->host->tracepoint(sink->host, event->process, event->uid),
				    "unit");
	name = unit && *unit ? timeline_intern(&sink->timeline, unit) : NULL;
	if (name && !map_set(units, event->uid, (uintptr_t)name))
		sink->timeline.out_of_memory = true;
	return name;
}

/* The oldest one gives way. */
static void keep(struct counters *counters, uint64_t key, const struct waiting *value)
{
	const size_t at = counters->end++ % WAITING;

	if (counters->end - counters->first > WAITING) {
		counters->lost++;
		counters->first++;
	}
	counters->waiting[at] = *value;
	counters->keys[at] = key;
	forget_shown(counters);
}

static void take_value(struct stream *stream, struct work_process *process,
		       const struct rtl_event *event)
{
	struct event_sink *sink = stream->sink;
	const struct rtl_hsa_counter *c = event->payload;
	struct counters *counters = sink->hardware;
	const uint64_t key = key_of(event);
	const struct counted *dispatch;
	struct waiting value;

	if (c->flags & RTL_HSA_COUNTER_NO_VALUE)
		return;
	value = (struct waiting){
		.process = process,
		.name = event_lookup_string(sink, event->process, c->name),
		.unit = unit_of(sink, event),
		.gpu = c->gpu,
		.value = c->value,
	};
	if (!value.name)
		return;
	dispatch = find(counters, key);
	if (dispatch)
		show(sink, &value, dispatch);
	else
		keep(counters, key, &value);
}

EVENT_SINK_EACH(counters_values, take_value)

static void take_interval(struct stream *stream, struct work_process *process,
			  const struct rtl_event *event)
{
	struct event_sink *sink = stream->sink;
	const struct rtl_hsa_counter_interval *c = event->payload;
	const struct timeline_name *name = event_lookup_string(sink, event->process, c->name);
	const struct timeline_name *unit = unit_of(sink, event);

	if (name)
		work_hardware_interval(&sink->work, process, c->gpu, name->text,
				       unit ? unit->text : NULL, c->begin_ns, c->end_ns,
				       c->flags & RTL_HSA_COUNTER_NO_VALUE ? NAN : c->value);
}

EVENT_SINK_EACH(counters_intervals, take_interval)

int counters_init(struct event_sink *sink)
{
	if (!sink->hardware)
		sink->hardware = calloc(1, sizeof(*sink->hardware));
	return sink->hardware ? 0 : RTL_ENOMEM;
}

uint64_t counters_lost(const struct event_sink *sink, bool end)
{
	const struct counters *counters = sink->hardware;
	uint64_t lost = counters ? counters->lost : 0;

	for (uint64_t n = counters ? counters->first : 0; end && counters && n < counters->end; n++)
		lost += counters->keys[n % WAITING] != 0;
	return lost;
}

void counters_fini(struct event_sink *sink)
{
	if (sink->hardware)
		map_fini(&sink->hardware->units);
	free(sink->hardware);
	sink->hardware = NULL;
}
