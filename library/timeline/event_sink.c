/* SPDX-License-Identifier: MIT */
/* See event_sink.h. */
#include "event_sink.h"

#include <stdlib.h>
#include <string.h>

/* ---- the ledger ---- */

static void free_losses(struct event_sink *sink)
{
	for (size_t i = 0; i < sink->loss_count; i++)
		free(sink->losses[i].cause);
	free(sink->losses);
	sink->losses = NULL;
	sink->loss_count = 0;
}

struct loss_target {
	struct event_sink *sink;
	const char *stream;
};

static void add_loss(void *user, const char *cause, uint64_t count)
{
	struct loss_target *target = user;
	struct event_sink *sink = target->sink;
	struct timeline_loss *losses =
		reallocarray(sink->losses, sink->loss_count + 1, sizeof(*losses));

	if (!losses)
		return;
	sink->losses = losses;
	losses += sink->loss_count;
	*losses = (struct timeline_loss){target->stream, strdup(cause), count};
	sink->loss_count += losses->cause != NULL;
}

/* Two streams of calls tell of the same: the one of which nothing was published is left out. */
static bool is_empty(const struct rtl_ledger *l)
{
	return !l->published && !l->delivered && !l->discarded && !l->abandoned && !l->missed;
}

void event_sink_update_ledger(struct event_sink *sink, bool end)
{
	const struct rtl_host *host = sink->host;
	size_t count = 0;

	for (struct stream *s = sink->streams; s; s = s->next)
		count++;
	free(sink->ledgers);
	sink->ledgers = calloc(count + 1, sizeof(*sink->ledgers));
	sink->ledger_count = 0;
	free_losses(sink);
	for (struct stream *s = sink->streams; sink->ledgers && s; s = s->next) {
		struct rtl_ledger l = {.struct_size = sizeof(l)};
		struct loss_target target = {sink, s->info->name};

		if (host->ledger(host, NULL, s->info, &l) != 0 || is_empty(&l))
			continue;
		sink->ledgers[sink->ledger_count++] = (struct timeline_ledger){
			s->info->name, l.published, l.delivered, l.discarded,
			l.abandoned,   l.missed,    l.left_out};
		host->losses(host, NULL, s->info, add_loss, &target);
		if (!strcmp(s->info->name, RTL_STREAM_HSA_COUNTER) && counters_lost(sink, end))
			add_loss(&target, "json: value of a dispatch that is not there",
				 counters_lost(sink, end));
	}
	sink->timeline.ledgers = sink->ledgers;
	sink->timeline.ledger_count = sink->ledger_count;
	sink->timeline.losses = sink->losses;
	sink->timeline.loss_count = sink->loss_count;
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
	timeline_finish(&sink->timeline);
}

void event_sink_fini(struct event_sink *sink)
{
	generic_fini(sink);
	counters_fini(sink);
	event_lookup_fini(sink);
	for (struct stream *s = sink->streams, *next; s; s = next) {
		next = s->next;
		free(s);
	}
	free(sink->ledgers);
	free_losses(sink);
	work_fini(&sink->work);
}
