/* SPDX-License-Identifier: MIT */
/*
 * counter.c: the stream rtl.hsa.counter. Each value is a row of rtl_counter. At the end, those whose
 * dispatch has a row of rocpd_op become rows of rocpd_counter: a value may come before its dispatch.
 */
#include "schema.h"
#include "sub.h"
#include "tables_rtl.h"

bool counter_init(struct sub *sub)
{
	struct writer *w = &sub->writer;

	/* Outputs of versions without counters can be continued. */
	return writer_exec(w, schema_counter_tables) &&
	       rows_init(&sub->counter, w, "INSERT", &table_rtl_counter);
}

static const char *counter_table(uint16_t type)
{
	return type == RTL_SIGNAL ? "rtl_counter" : NULL;
}

static void counter_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;
	struct sub *sub = stream->sub;

	sub->events_pending = true;
	for (size_t i = 0; i < count && !sub->writer.failed; i++) {
		const struct rtl_hsa_counter *c = events[i]->payload;
		struct process *process = sub_process(sub, events[i]->process);

		if (!process)
			return;
		if (events[i]->payload_size < sizeof(*c)) {
			stream->skipped++;
		} else {
			tracepoints_need(sub, process, events[i]->uid);
			table_add_rtl_counter(
				&sub->counter, process, events[i],
				names_string(&sub->names,
					     sub->host->string(sub->host, process->info, c->name)));
		}
		writer_commit_if_full(&sub->writer);
	}
}

int counter_subscribe(struct sub *sub, struct stream *stream)
{
	const struct rtl_host *host = sub->host;
	const struct rtl_stream_info *info = stream->info;
	int result;

	if (info->version_major != RTL_STREAM_HSA_COUNTER_VERSION ||
	    dispatch_payload_size(info, RTL_SIGNAL) < sizeof(struct rtl_hsa_counter))
		return RTL_ENOTSUP;
	stream->table = counter_table;
	result =
		host->subscribe(host, info, RTL_SIGNAL, RTL_BUFFERED, counter_events, stream, NULL);
	if (result == 0)
		result = generic_subscribe(sub, stream, RTL_METADATA);
	if (result == 0)
		result = generic_subscribe(sub, stream, RTL_DIAGNOSTICS);
	return result;
}

void counter_settle(struct sub *sub)
{
	writer_exec(&sub->writer, schema_counter_settle);
}
