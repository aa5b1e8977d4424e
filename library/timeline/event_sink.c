/* SPDX-License-Identifier: MIT */
#include "event_sink.h"

#include "array.h"
#include "demangle.h"

/* ---- what the host knows: processes, and names, each asked for once ---- */

uint64_t event_lookup_spool(const struct rtl_process *info)
{
	const uint64_t spool = info->spool_id;

	return spool ? spool : hash_number(info->number) ^ (uint32_t)info->pid;
}

struct work_process *event_lookup_process_slowly(struct event_sink *sink,
						 const struct rtl_process *info)
{
	sink->last_info = info;
	sink->last_process = NULL;
	if (sink->wants && !sink->wants(sink, info))
		return NULL;
	sink->last_process = work_process(&sink->work, event_lookup_spool(info), info->pid,
					  info->program, info->host_name);
	return sink->last_process;
}

static struct name *intern(struct event_sink *sink, const char *text)
{
	return timeline_intern(&sink->timeline, text && *text ? text : "(unnamed)");
}

static void keep(struct event_sink *sink, struct map *map, uint64_t key, void *value)
{
	sink->timeline.out_of_memory |= !value || !map_set(map, key, (uintptr_t)value);
}

struct name *event_lookup_string(struct event_sink *sink, const struct rtl_process *info,
				 uint64_t id)
{
	const uint64_t key = id ^ hash_number(info->number);
	struct name *name;
	const char *text;

	if (!id)
		return NULL;
	name = map_pointer(&sink->strings, key);
	if (name)
		return name;
	text = sink->host->string(sink->host, info, id);
	if (!text)
		return NULL;
	name = timeline_intern(&sink->timeline, text);
	keep(sink, &sink->strings, key, name);
	return name;
}

static bool number_of(const struct rtl_tracepoint *tracepoint, const char *key, uint32_t *number)
{
	const char *value = rtl_tracepoint_value(tracepoint, key);

	*number = value ? (uint32_t)strtoul(value, NULL, 10) : 0;
	return value != NULL;
}

static void describe_kernel(struct event_sink *sink, const struct rtl_process *info, uint64_t uid,
			    uint64_t string, struct work_kernel *kernel)
{
	const struct rtl_host *host = sink->host;
	const struct rtl_tracepoint *tp = uid ? host->tracepoint(host, info, uid) : NULL;
	const char *name = host_tracepoint_name(tp);
	char *demangled;

	kernel->has_registers = number_of(tp, "vgprs", &kernel->vgprs);
	number_of(tp, "agprs", &kernel->agprs);
	number_of(tp, "sgprs", &kernel->sgprs);
	if (!name && string)
		name = host->string(host, info, string);
	demangled = name ? demangle(name) : NULL;
	kernel->name = intern(sink, demangled ? demangled : name ? name : "(unknown kernel)");
	free(demangled);
}

const struct work_kernel *event_lookup_kernel(struct event_sink *sink,
					      const struct rtl_process *info, uint64_t uid,
					      uint64_t string)
{
	const uint64_t key = uid ? uid : string ^ hash_number(info->number);
	struct work_kernel *kernel = map_pointer(&sink->kernels, key);

	if (__builtin_expect(kernel != NULL, 1))
		return kernel;
	kernel = calloc(1, sizeof(*kernel));
	keep(sink, &sink->kernels, key, kernel);
	if (kernel)
		describe_kernel(sink, info, uid, string, kernel);
	return kernel && kernel->name ? kernel : NULL;
}

void event_lookup_kernel_again(struct event_sink *sink, const struct rtl_process *info,
			       uint64_t uid)
{
	struct work_kernel *kernel = map_pointer(&sink->kernels, uid);

	if (kernel)
		describe_kernel(sink, info, uid, 0, kernel);
}

struct name *event_lookup_function(struct event_sink *sink, const struct rtl_process *info,
				   uint64_t uid, uint64_t string)
{
	const uint64_t key = uid ? uid : string ^ hash_number(info->number);
	struct name *name = map_pointer(&sink->functions, key);
	const struct rtl_tracepoint *tp;
	const char *text;

	if (__builtin_expect(name != NULL, 1))
		return name;
	tp = uid ? sink->host->tracepoint(sink->host, info, uid) : NULL;
	text = string ? sink->host->string(sink->host, info, string) : NULL;
	name = intern(sink, text ? text : tp ? tp->name : NULL);
	keep(sink, &sink->functions, key, name);
	return name;
}

/* ---- the ledger ---- */

struct loss_target {
	struct timeline *timeline;
	const char *stream;
};

static void add_loss(void *user, const char *cause, uint64_t count)
{
	struct loss_target *target = user;
	struct timeline *timeline = target->timeline;
	struct timeline_loss *loss = ARRAY_ADD(timeline->losses, timeline->loss_count);

	if (!loss)
		return;
	*loss = (struct timeline_loss){target->stream, strdup(cause), count};
	timeline->loss_count -= !loss->cause;
}

static bool add_ledger(struct timeline *timeline, const struct timeline_ledger *ledger)
{
	struct timeline_ledger *added = ARRAY_ADD(timeline->ledgers, timeline->ledger_count);

	if (added)
		*added = *ledger;
	return added != NULL;
}

void event_sink_update_ledger(struct event_sink *sink, bool end)
{
	const struct rtl_host *host = sink->host;

	timeline_forget_ledger(&sink->timeline);
	for (struct stream *s = sink->streams; s; s = s->next) {
		struct timeline_ledger ledger = {s->info->name,
						 {.struct_size = sizeof(ledger.counts)}};
		struct loss_target target = {&sink->timeline, s->info->name};
		struct rtl_ledger *l = &ledger.counts;

		/* two streams of calls tell of the same: one of which nothing was published is left out */
		if (host->ledger(host, NULL, s->info, l) != 0 ||
		    !(l->published || l->delivered || l->discarded || l->abandoned || l->missed) ||
		    !add_ledger(&sink->timeline, &ledger))
			continue;
		host->losses(host, NULL, s->info, add_loss, &target);
		if (!strcmp(s->info->name, RTL_STREAM_HSA_COUNTER) && counters_lost(sink, end))
			add_loss(&target, "json: value of a dispatch that is not there",
				 counters_lost(sink, end));
	}
}

/* ---- its life ---- */

int event_sink_stream(struct event_sink *sink, const struct rtl_stream_info *info)
{
	struct stream *stream = calloc(1, sizeof(*stream));
	int result;

	if (!stream)
		return RTL_ENOMEM;
	stream->sink = sink;
	stream->info = info;
	if (!sink->last_stream)
		sink->last_stream = &sink->streams;
	*sink->last_stream = stream;
	sink->last_stream = &stream->next;
	result = known_subscribe(sink, stream);
	return result == RTL_ENOTSUP ? generic_subscribe(stream) : result;
}

void event_sink_finish(struct event_sink *sink)
{
	generic_unfinished(sink, NULL);
	counters_end(sink);
	event_sink_update_ledger(sink, true);
	sink->timeline.interrupted = sink->host->property(sink->host, "interrupted");
	sink->timeline.ended = sink->host->property(sink->host, "ended");
	sink->timeline.pauses = sink->host->property(sink->host, "pauses");
	timeline_finish(&sink->timeline);
}

void event_sink_fini(struct event_sink *sink)
{
	generic_fini(sink);
	counters_fini(sink);
	map_fini(&sink->strings);
	map_fini(&sink->functions);
	map_fini(&sink->collectives);
	map_free(&sink->kernels);
	list_free(sink->streams);
	work_fini(&sink->work);
}
