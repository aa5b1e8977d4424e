/* SPDX-License-Identifier: MIT */
/* event_sink_counters.c: hardware counters, as tracks of their GPU. A value of a dispatch is shown from the dispatch's
 * begin to its end, which another event tells: before it mostly, sometimes after. So the newest dispatches
 * that are counted are kept, and values that came first wait. A track is at 0 between dispatches, and where there
 * is no interval. */
#include "event_sink.h"

#define BUCKETS 512u /* a power of two */
#define WAYS    8u
#define WAITING 4096u

struct counters {
	/* The newest of each bucket, by the key; key 0: none. */
	struct bucket {
		struct counted {
			uint64_t key, begin_ns, end_ns;
			struct name *kernel;
		} newest[WAYS];
		uint32_t count; /* of all that came */
	} buckets[BUCKETS];
	/* A ring of values that wait for their dispatch: the n-th that came is at n % WAITING. */
	struct waiting {
		struct work_process *process;
		struct name *name, *unit; /* unit: NULL, not known */
		uint32_t gpu;
		double value;
	} waiting[WAITING];
	uint64_t keys[WAITING]; /* their dispatches; 0: it has come */
	uint64_t first, end;    /* of the ring: the oldest one waits still */
	uint64_t lost;          /* values that gave way to later ones */
	struct map units;       /* uid of a counter -> struct name * */
	/* Counters in intervals, each of a GPU and process. */
	struct interval {
		struct interval *next;
		const struct work_gpu *gpu;
		uint64_t number;
		struct timeline_track *track;
		uint64_t end_ns; /* of the newest; 0: its track is at 0 */
	} * intervals;
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

/* The GPU, if what is so called, and is there at that time, is wanted of it. NULL: it is not. */
static struct work_gpu *selected_gpu(struct event_sink *sink, struct work_process *process,
				     uint32_t node, struct name *name, uint64_t begin_ns,
				     uint64_t end_ns)
{
	const struct timeline_slice shown = {.name = name, .begin_ns = begin_ns, .end_ns = end_ns};

	return work_selects(&sink->work, &node, &shown) ? work_gpu(&sink->work, process, node, NULL)
							: NULL;
}

static const char *unit_text(const struct name *unit)
{
	return unit ? unit->text : "value";
}

static void show(struct event_sink *sink, const struct waiting *value,
		 const struct counted *dispatch)
{
	struct work_gpu *gpu = selected_gpu(sink, value->process, value->gpu, dispatch->kernel,
					    dispatch->begin_ns, dispatch->end_ns);
	const uint64_t number = hash_text(value->name->text, value->name->length);
	struct timeline_track *track =
		gpu ? timeline_find(gpu->process, TIMELINE_COUNTER, number) : NULL;

	if (gpu && !track)
		track = timeline_add_counter(&sink->timeline, gpu->process, number,
					     value->name->text, unit_text(value->unit));
	if (!track)
		return;
	timeline_counter(&sink->timeline, track, dispatch->begin_ns, value->value);
	timeline_counter(&sink->timeline, track, dispatch->end_ns, 0);
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
static struct name *unit_of(struct event_sink *sink, const struct rtl_event *event)
{
	struct map *units = &sink->hardware->units;
	struct name *name = map_pointer(units, event->uid);
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

static struct interval *interval_of(struct event_sink *sink, const struct work_process *process,
				    struct work_gpu *gpu, const struct name *name,
				    const struct name *unit)
{
	const uint64_t number =
		hash_number(hash_text(name->text, name->length) + process->number) | 1;
	struct interval *interval = sink->hardware->intervals;
	char shown[256];

	while (interval && (interval->number != number || interval->gpu != gpu))
		interval = interval->next;
	if (interval)
		return interval;
	interval = timeline_alloc(&sink->timeline, sizeof(*interval));
	if (!interval)
		return NULL;
	snprintf(shown, sizeof(shown), "%.200s, process %d", name->text, process->pid);
	interval->gpu = gpu;
	interval->number = number;
	interval->track =
		timeline_add_counter(&sink->timeline, gpu->process, number, shown, unit_text(unit));
	interval->next = sink->hardware->intervals;
	return sink->hardware->intervals = interval;
}

/* The track is at 0 from the end of the newest interval on. */
static void end_interval(struct event_sink *sink, struct interval *interval)
{
	if (interval->track && interval->end_ns)
		timeline_counter(&sink->timeline, interval->track, interval->end_ns, 0);
	interval->end_ns = 0;
}

static void take_interval(struct stream *stream, struct work_process *process,
			  const struct rtl_event *event)
{
	struct event_sink *sink = stream->sink;
	const struct rtl_hsa_counter_interval *c = event->payload;
	const bool has_value = !(c->flags & RTL_HSA_COUNTER_NO_VALUE);
	struct name *name = event_lookup_string(sink, event->process, c->name);
	struct work_gpu *gpu =
		name ? selected_gpu(sink, process, c->gpu, name, c->begin_ns, c->end_ns) : NULL;
	struct interval *interval =
		gpu ? interval_of(sink, process, gpu, name, unit_of(sink, event)) : NULL;

	if (!interval || !interval->track)
		return;
	if (interval->end_ns != c->begin_ns || !has_value)
		end_interval(sink, interval);
	if (!has_value)
		return;
	timeline_counter(&sink->timeline, interval->track, c->begin_ns, c->value);
	interval->end_ns = c->end_ns;
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

void counters_end(struct event_sink *sink)
{
	for (struct interval *i = sink->hardware ? sink->hardware->intervals : NULL; i; i = i->next)
		end_interval(sink, i);
}

void counters_fini(struct event_sink *sink)
{
	if (!sink->hardware)
		return;
	list_free(sink->hardware->intervals);
	map_fini(&sink->hardware->units);
	free(sink->hardware);
	sink->hardware = NULL;
}
