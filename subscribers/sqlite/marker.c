/* SPDX-License-Identifier: MIT */
/*
 * marker.c: the stream rtl.roctx. A mark, and a range that has ended, becomes a row of rocpd_api
 * named UserMarker, as RPD's tools know them, with its text as args, and one of rtl_marker with the
 * same id. A range that was open when its process ended is there with that end, and a flag. Names
 * of things go into a generic table.
 */
#include "schema.h"
#include "sub.h"
#include "tables_rocpd.h"
#include "tables_rtl.h"

#include <string.h>

bool marker_init(struct sub *sub)
{
	struct writer *w = &sub->writer;

	return writer_exec(w, schema_marker_tables) &&
	       rows_init(&sub->marker, w, "INSERT", &table_rtl_marker);
}

static const char *marker_table(uint16_t type)
{
	return type == RTL_REGION_END || type == RTL_REGION_UNFINISHED || type == RTL_SIGNAL
		       ? "rtl_marker"
		       : NULL;
}

/* What a row is made of. */
struct marker {
	uint32_t tid;
	uint64_t begin_ns, end_ns;
	uint64_t parent, id;
	int32_t level; /* -1: of no stack */
	uint32_t flags;
	struct rtl_text name;
};

static void write_marker(struct sub *sub, const struct process *process,
			 const struct rtl_event *event, const struct marker *marker)
{
	/* the host has seen to it that it lies in the payload */
	const char *text = (const char *)event->payload + marker->name.offset;
	const size_t length = strnlen(text, marker->name.length);
	const int64_t args = length ? names_argument(&sub->names, text, length) : NAMES_EMPTY;

	table_add_rocpd_api(&sub->api, &(struct row_rocpd_api){
					       .id = sub->next_api,
					       .pid = process->pid,
					       .tid = marker->tid,
					       .start = (int64_t)marker->begin_ns,
					       .end = (int64_t)marker->end_ns,
					       .apiName_id = sub->names.user_marker,
					       .category_id = NAMES_EMPTY,
					       .domain_id = sub->names.roctx,
					       .args_id = args,
				       });
	table_add_rtl_marker(
		&sub->marker,
		&(struct row_rtl_marker){
			.api_id = sub->next_api++,
			.process = process->number,
			.is_range = event->type != RTL_SIGNAL,
			.instance = (int64_t)event->instance,
			.parent = (int64_t)marker->parent,
			.id = (int64_t)marker->id,
			.level = marker->level,
			.end_tid = event->type == RTL_REGION_UNFINISHED ? 0 : event->tid,
			.flags = marker->flags,
		});
}

static void take_range(struct sub *sub, const struct process *process,
		       const struct rtl_event *event)
{
	const struct rtl_roctx_range *range = event->payload;
	const uint64_t end_ns =
		event->type == RTL_REGION_UNFINISHED ? event->time_ns : range->end_ns;

	write_marker(sub, process, event,
		     &(struct marker){
			     .tid = range->begin_tid,
			     .begin_ns = range->begin_ns,
			     .end_ns = end_ns > range->begin_ns ? end_ns : range->begin_ns,
			     .parent = range->parent,
			     .id = range->id,
			     .level = range->level,
			     .flags = range->flags,
			     .name = range->name,
		     });
}

static void take_mark(struct sub *sub, const struct process *process, const struct rtl_event *event)
{
	const struct rtl_roctx_mark *mark = event->payload;

	write_marker(sub, process, event,
		     &(struct marker){
			     .tid = event->tid,
			     .begin_ns = event->time_ns,
			     .end_ns = event->time_ns,
			     .parent = mark->parent,
			     .level = -1,
			     .flags = mark->flags,
			     .name = mark->name,
		     });
}

static void take_marker(struct stream *stream, struct process *process,
			const struct rtl_event *event)
{
	tracepoints_need(stream->sub, process, event->uid);
	if (event->type == RTL_SIGNAL)
		take_mark(stream->sub, process, event);
	else
		take_range(stream->sub, process, event);
	process_span(process, event->time_ns, event->time_ns);
}

static void marker_events(void *user, const struct rtl_event *const *events, size_t count)
{
	sub_each(user, events, count, 0, take_marker);
}

static const struct wanted marker_types[] = {
	{RTL_REGION_END, sizeof(struct rtl_roctx_range), marker_events, false},
	{RTL_SIGNAL, sizeof(struct rtl_roctx_mark), marker_events, false},
	{RTL_REGION_UNFINISHED, sizeof(struct rtl_roctx_range), marker_events, true},
	{RTL_METADATA, 0, generic_events, true},
};
const struct known_stream marker_stream = {
	{RTL_STREAM_ROCTX, RTL_STREAM_ROCTX_VERSION, WANTED(marker_types)}, marker_table};
