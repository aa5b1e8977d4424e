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

static void take_value(struct stream *stream, struct process *process,
		       const struct rtl_event *event)
{
	struct sub *sub = stream->sub;
	const struct rtl_hsa_counter *c = event->payload;

	tracepoints_need(sub, process, event->uid);
	table_add_rtl_counter(
		&sub->counter, process, event,
		names_string(&sub->names, sub->host->string(sub->host, process->info, c->name)));
}

static void value_events(void *user, const struct rtl_event *const *events, size_t count)
{
	sub_each(user, events, count, sizeof(struct rtl_hsa_counter), take_value);
}

static void take_interval(struct stream *stream, struct process *process,
			  const struct rtl_event *event)
{
	struct sub *sub = stream->sub;
	const struct rtl_hsa_counter_interval *c = event->payload;

	tracepoints_need(sub, process, event->uid);
	table_add_rtl_counter_interval(
		&sub->counter_interval, process, event,
		names_string(&sub->names, sub->host->string(sub->host, process->info, c->name)));
	process_span(process, c->begin_ns, c->end_ns);
}

static void interval_events(void *user, const struct rtl_event *const *events, size_t count)
{
	sub_each(user, events, count, sizeof(struct rtl_hsa_counter_interval), take_interval);
}

static const struct wanted counter_types[] = {
	{RTL_SIGNAL, sizeof(struct rtl_hsa_counter), value_events, false},
	{RTL_SAMPLE, sizeof(struct rtl_hsa_counter_interval), interval_events, true},
	{RTL_METADATA, 0, generic_events, true},
	{RTL_DIAGNOSTICS, 0, generic_events, true},
};
const struct known_stream counter_stream = {
	{RTL_STREAM_HSA_COUNTER, RTL_STREAM_HSA_COUNTER_VERSION, WANTED(counter_types)},
	counter_table};

void counter_settle(struct sub *sub)
{
	writer_exec(&sub->writer, schema_counter_settle);
	writer_exec(&sub->writer,
		    sub->settings.gpu_index ? schema_monitor_by_index : schema_monitor_by_node);
}
