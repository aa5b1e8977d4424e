/* SPDX-License-Identifier: MIT */
/*
 * counter.c: the stream rtl.hsa.counter. Each value of a dispatch is a row of rtl_counter, each of an
 * interval one of rtl_counter_interval. At the end, those whose dispatch has a row of rocpd_op become rows
 * of rocpd_counter, as a value may come before its dispatch; those of intervals become rows of rocpd_monitor.
 */
#include "schema.h"
#include "sub.h"
#include "tables_rtl.h"

bool counter_init(struct sub *sub)
{
	struct writer *w = &sub->writer;

	/* Outputs of versions without counters can be continued. */
	return writer_exec(w, schema_counter_tables) &&
	       rows_init(&sub->counter, w, "INSERT", &table_rtl_counter) &&
	       rows_init(&sub->counter_interval, w, "INSERT", &table_rtl_counter_interval);
}

static const char *counter_table(uint16_t type)
{
	return type == RTL_SIGNAL   ? "rtl_counter"
	       : type == RTL_SAMPLE ? "rtl_counter_interval"
				    : NULL;
}

static void add_value(struct sub *sub, const struct process *process, const struct rtl_event *event)
{
	const struct rtl_hsa_counter *c = event->payload;

	table_add_rtl_counter(
		&sub->counter, process, event,
		names_string(&sub->names, sub->host->string(sub->host, process->info, c->name)));
}

static void add_interval(struct sub *sub, struct process *process, const struct rtl_event *event)
{
	const struct rtl_hsa_counter_interval *c = event->payload;

	table_add_rtl_counter_interval(
		&sub->counter_interval, process, event,
		names_string(&sub->names, sub->host->string(sub->host, process->info, c->name)));
	process_span(process, c->begin_ns, c->end_ns);
}

static void counter_events(void *user, const struct rtl_event *const *events, size_t count)
{
	struct stream *stream = user;
	struct sub *sub = stream->sub;

	sub->events_pending = true;
	for (size_t i = 0; i < count && !sub->writer.failed; i++) {
		const bool is_interval = events[i]->type == RTL_SAMPLE;
		struct process *process = sub_process(sub, events[i]->process);

		if (!process)
			return;
		if (events[i]->payload_size < (is_interval ? sizeof(struct rtl_hsa_counter_interval)
							   : sizeof(struct rtl_hsa_counter))) {
			stream->skipped++;
			continue;
		}
		tracepoints_need(sub, process, events[i]->uid);
		if (is_interval)
			add_interval(sub, process, events[i]);
		else
			add_value(sub, process, events[i]);
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
	/* Version 1.0 has no intervals. */
	if (result == 0 &&
	    dispatch_payload_size(info, RTL_SAMPLE) >= sizeof(struct rtl_hsa_counter_interval))
		result = host->subscribe(host, info, RTL_SAMPLE, RTL_BUFFERED, counter_events,
					 stream, NULL);
	if (result == 0)
		result = generic_subscribe(sub, stream, RTL_METADATA);
	if (result == 0)
		result = generic_subscribe(sub, stream, RTL_DIAGNOSTICS);
	return result;
}

void counter_settle(struct sub *sub)
{
	writer_exec(&sub->writer, schema_counter_settle);
	writer_exec(&sub->writer,
		    sub->settings.gpu_index ? schema_monitor_by_index : schema_monitor_by_node);
}
