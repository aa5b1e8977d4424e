/* SPDX-License-Identifier: MIT */
/* See event_sink.h. */
#include "event_sink.h"

#include <stdlib.h>
#include <string.h>

/* ---- the ledger ---- */

struct loss_target {
	struct timeline *timeline;
	const char *stream;
};

static void add_loss(void *user, const char *cause, uint64_t count)
{
	struct loss_target *target = user;
	struct timeline *timeline = target->timeline;
	struct timeline_loss *losses =
		reallocarray(timeline->losses, timeline->loss_count + 1, sizeof(*losses));

	if (!losses)
		return;
	timeline->losses = losses;
	losses += timeline->loss_count;
	*losses = (struct timeline_loss){target->stream, strdup(cause), count};
	timeline->loss_count += losses->cause != NULL;
}

static bool add_ledger(struct timeline *timeline, const struct timeline_ledger *ledger)
{
	struct timeline_ledger *ledgers =
		reallocarray(timeline->ledgers, timeline->ledger_count + 1, sizeof(*ledgers));

	if (!ledgers)
		return false;
	timeline->ledgers = ledgers;
	ledgers[timeline->ledger_count++] = *ledger;
	return true;
}

/* Two streams of calls tell of the same: the one of which nothing was published is left out. */
static bool is_empty(const struct rtl_ledger *l)
{
	return !l->published && !l->delivered && !l->discarded && !l->abandoned && !l->missed;
}

void event_sink_update_ledger(struct event_sink *sink, bool end)
{
	const struct rtl_host *host = sink->host;

	timeline_forget_ledger(&sink->timeline);
	for (struct stream *s = sink->streams; s; s = s->next) {
		struct timeline_ledger ledger = {s->info->name,
						 {.struct_size = sizeof(ledger.counts)}};
		struct loss_target target = {&sink->timeline, s->info->name};

		if (host->ledger(host, NULL, s->info, &ledger.counts) != 0 ||
		    is_empty(&ledger.counts) || !add_ledger(&sink->timeline, &ledger))
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
	work_fini(&sink->work);
}
