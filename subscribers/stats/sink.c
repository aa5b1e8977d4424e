/* SPDX-License-Identifier: MIT */
/* See sink.h. */
#include "sink.h"

#include "model.h"

struct sink_stream {
	struct sink_stream *next;
	const struct rtl_stream_info *info;
};

void sink_init(struct sink *sink, const struct rtl_host *host, struct summary *summary)
{
	*sink = (struct sink){.host = host,
			      .summary = summary,
			      .tracks = {.host = host,
					 .summary = summary,
					 .graphs = &sink->graphs,
					 .breakdown = &sink->breakdown,
					 .collectives = &sink->collectives},
			      .collectives = {.host = host, .summary = summary},
			      .graphs = {.host = host,
					 .summary = summary,
					 .breakdown = &sink->breakdown,
					 .origins = {.summary = summary}},
			      .breakdown = {.summary = summary},
			      .counted = {.host = host, .summary = summary}};
}

static void take_faults(void *user, const struct rtl_event *const *events, size_t count)
{
	struct sink *sink = user;
	struct summary *summary = sink->summary;

	for (size_t i = 0; i < count; i++) {
		const struct rtl_hsa_fault *is = events[i]->payload;
		const char *reason = sink->host->string(sink->host, events[i]->process, is->reason);
		const size_t at = summary->fault_count++;
		char *copy = at < SUMMARY_FAULTS_KEPT ? summary_copy(summary, reason ? reason : "?")
						      : NULL;

		if (copy)
			summary->faults[at] =
				(struct summary_fault){*is, events[i]->process->pid, copy, NULL};
		else if (at < SUMMARY_FAULTS_KEPT)
			sink->host->fail(sink->host, "out of memory");
	}
}

/* What the program calls its threads and streams. */
static void take_names(void *user, const struct rtl_event *const *events, size_t count)
{
	struct sink *sink = user;

	for (size_t i = 0; i < count; i++) {
		const struct rtl_roctx_name *is = events[i]->payload;
		const struct summary_process *process =
			summary_process(sink->summary, events[i]->process->number);
		char name[SUMMARY_KEY];

		snprintf(name, sizeof(name), "%.*s", (int)is->name.length,
			 (const char *)is + is->name.offset);
		if (!process ||
		    !breakdown_set_name(&sink->breakdown, process, is->kind, is->object, name))
			sink->host->fail(sink->host, "out of memory");
	}
}

static int facts_add_stream(struct sink *sink, const struct rtl_stream_info *stream)
{
	static const struct wanted faults[] = {
		{RTL_DIAGNOSTICS, sizeof(struct rtl_hsa_fault), take_faults, true}};
	static const struct wanted names[] = {
		{RTL_METADATA, sizeof(struct rtl_roctx_name), take_names, true}};
	static const struct wanted_stream known[] = {
		{RTL_STREAM_HSA, RTL_STREAM_HSA_VERSION, WANTED(faults)},
		{RTL_STREAM_ROCTX, RTL_STREAM_ROCTX_VERSION, WANTED(names)},
		{RTL_STREAM_RCCL, RTL_STREAM_RCCL_VERSION, WANTED(collectives_types)},
		{RTL_STREAM_HSA_COUNTER, RTL_STREAM_HSA_COUNTER_VERSION, WANTED(counted_types)}};
	void *const users[] = {sink, sink, &sink->collectives, &sink->counted};
	const struct wanted_stream *found = wanted_find(WANTED(known), stream->name);
	const int error =
		found ? wanted_subscribe(sink->host, stream, found, users[found - known], NULL) : 0;

	sink->collectives.is_on |= found == &known[2];
	return error == RTL_ENOTSUP ? 0 : error;
}

int sink_add_stream(struct sink *sink, const struct rtl_stream_info *stream)
{
	struct sink_stream **end = &sink->streams;
	int error;

	while (*end)
		end = &(*end)->next;
	*end = summary_alloc(sink->summary, sizeof(**end));
	if (!*end)
		return RTL_ENOMEM;
	(*end)->info = stream;
	error = tracks_add_stream(&sink->tracks, stream);
	if (!error)
		error = graphs_add_stream(&sink->graphs, stream);
	return error ? error : facts_add_stream(sink, stream);
}

struct loss_sink {
	struct summary *summary;
	const char *stream;
	int error;
};

static void add_loss(void *user, const char *cause, uint64_t count)
{
	struct loss_sink *sink = user;

	if (!sink->error)
		sink->error = summary_add_loss(sink->summary, sink->stream, cause, count);
}

/* What was left out at times that are known is not missing in others. */
static void add_filtered(void *user, const char *cause, uint64_t count)
{
	struct loss_sink *sink = user;

	if (strcmp(cause, "older than what is kept") != 0 &&
	    (strcmp(cause, "outside of the periods") != 0 || !sink->summary->host.pause_count))
		summary_add_filtered(sink->summary, sink->stream, count);
}

static int add_ledgers(struct sink *s)
{
	const struct rtl_host *host = s->host;
	int error = 0;

	for (const struct sink_stream *link = s->streams; link && !error; link = link->next) {
		struct rtl_ledger ledger = {.struct_size = sizeof(ledger)};
		struct loss_sink losses = {s->summary, link->info->name, 0};

		if (host->ledger(host, NULL, link->info, &ledger))
			continue;
		error = summary_add_ledger(s->summary, link->info->name, &ledger);
		host->losses(host, NULL, link->info, add_loss, &losses);
		host->left_out(host, NULL, link->info, add_filtered, &losses);
		if (!error)
			error = losses.error;
	}
	return error;
}

int sink_finish(struct sink *sink)
{
	const char *ended = sink->host->property(sink->host, "ended");

	if (ended && !sink->summary->ended)
		sink->summary->ended = summary_copy(sink->summary, ended);
	tracks_finish(&sink->tracks);
	tracks_take_pauses(&sink->tracks);
	collectives_settle(&sink->collectives);
	return !graphs_settle(&sink->graphs, 0, 0) || !breakdown_finish(&sink->breakdown) ||
			       counted_finish(&sink->counted) || add_ledgers(sink) ||
			       summary_explain(sink->summary)
		       ? RTL_ENOMEM
		       : 0;
}

void sink_fini(struct sink *sink)
{
	tracks_fini(&sink->tracks);
	counted_fini(&sink->counted);
	graphs_fini(&sink->graphs);
	breakdown_fini(&sink->breakdown);
	collectives_settle(&sink->collectives);
}
