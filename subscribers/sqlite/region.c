/* SPDX-License-Identifier: MIT */
/*
 * region.c: what begins and ends in a program's own streams. Each becomes a row of rocpd_api named
 * UserMarker, as RPD's tools know ranges, with its name as args, and one of rtl_span with the same id.
 * The events themselves are in generic tables.
 *
 * A begin waits in memory for its end. A host that continues an output finds those that wait there:
 * they have no row of rtl_span.
 */
#include "schema.h"
#include "sub.h"
#include "tables_rocpd.h"
#include "tables_rtl.h"

#include <stdlib.h>
#include <string.h>

#define UNNAMED "(unnamed)"

/* Kinds as the statistics subscriber names them. The end's type is the begin's and 1. */
static const struct region_kind {
	uint16_t begin;
	const char *name;
} kinds[] = {
	{RTL_REGION_BEGIN, "region"},
	{RTL_TASK_BEGIN, "task"},
	{RTL_BARRIER_BEGIN, "barrier"},
	{RTL_LOCK_BEGIN, "lock"},
	{RTL_TRANSFER_BEGIN, "transfer"},
	{RTL_THREAD_BEGIN, "thread"},
	{RTL_WAIT_BEGIN, "wait"},
	{RTL_FUNCTION_BEGIN, "function"},
	{RTL_FUNCTION_WITH_ARGS_BEGIN, "function"},
	{RTL_MEM_ALLOC_BEGIN, "allocation"},
	{RTL_MEM_RELEASE_BEGIN, "release"},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* A stream's begins and ends of one kind: the owner of the begins that wait. */
struct region_pair {
	struct region_pair *next;
	const struct region_kind *kind;
	struct stream *stream;
};

/* What is known of one. */
struct region {
	const struct region_pair *pair;
	int64_t args; /* its name in rocpd_ustring */
	uint64_t begin_ns, instance, uid, parent_uid, correlation;
	uint32_t tid;
	bool named;
};

bool span_init(struct sub *sub)
{
	return writer_exec(&sub->writer, schema_span_tables) &&
	       rows_init(&sub->span, &sub->writer, "INSERT", &table_rtl_span);
}

/* ---- types ---- */

static const struct rtl_field *find_field(const struct rtl_type_info *info, uint16_t kind,
					  const char *name)
{
	for (uint32_t i = 0; info && i < info->field_count; i++) {
		const struct rtl_field *field = rtl_type_field(info, i);

		if (field->kind == kind && field->size == 8 &&
		    (uint64_t)field->offset + 8 <= info->payload_size &&
		    (!name || strcmp(field->name, name) == 0))
			return field;
	}
	return NULL;
}

static struct region_pair *find_pair(struct stream *stream, const struct region_kind *kind)
{
	struct region_pair *pair = stream->regions;

	while (pair && pair->kind != kind)
		pair = pair->next;
	if (pair)
		return pair;
	pair = calloc(1, sizeof(*pair));
	if (!pair) {
		writer_error(&stream->sub->writer, SQLITE_NOMEM, "region");
		return NULL;
	}
	*pair = (struct region_pair){stream->regions, kind, stream};
	stream->regions = pair;
	return pair;
}

struct region_type region_type(struct stream *stream, const struct rtl_type_info *info)
{
	struct region_type type = {
		.string = find_field(info, RTL_KIND_STRING, NULL),
		.text = find_field(info, RTL_KIND_TEXT, NULL),
		.begin_ns = find_field(info, RTL_KIND_TIME, "begin_ns"),
		.end_ns = find_field(info, RTL_KIND_TIME, "end_ns"),
	};
	const bool has_times = type.begin_ns && type.end_ns;

	/* a stream with tables of its own is shown by these */
	for (size_t i = 0; !stream->table && i < KINDS; i++) {
		const struct rtl_type_info *end =
			rtl_stream_find_type(stream->info, kinds[i].begin + 1);

		if (info->type == kinds[i].begin && end &&
		    !(find_field(end, RTL_KIND_TIME, "begin_ns") &&
		      find_field(end, RTL_KIND_TIME, "end_ns")))
			type.how = REGION_BEGIN;
		else if (info->type == kinds[i].begin + 1 && has_times)
			type.how = REGION_WHOLE;
		else if (info->type == kinds[i].begin + 1 &&
			 rtl_stream_find_type(stream->info, kinds[i].begin))
			type.how = REGION_END;
		else
			continue;
		type.pair = find_pair(stream, &kinds[i]);
		if (!type.pair)
			type.how = REGION_NONE;
		break;
	}
	return type;
}

/* ---- rows ---- */

static void write_region(struct sub *sub, const struct process *process,
			 const struct region *region, uint64_t end_ns, bool unfinished)
{
	table_add_rocpd_api(
		&sub->api,
		&(struct row_rocpd_api){
			.id = sub->next_api,
			.pid = process->pid,
			.tid = region->tid,
			.start = (int64_t)region->begin_ns,
			.end = (int64_t)(end_ns > region->begin_ns ? end_ns : region->begin_ns),
			.apiName_id = sub->names.user_marker,
			.category_id = NAMES_EMPTY,
			.domain_id = sub->names.roctx,
			.args_id = region->args,
		});
	table_add_rtl_span(&sub->span, &(struct row_rtl_span){
					       .api_id = sub->next_api++,
					       .process = process->number,
					       .stream = region->pair->stream->number,
					       .type = region->pair->kind->name,
					       .uid = (int64_t)region->uid,
					       .parent_uid = (int64_t)region->parent_uid,
					       .instance = (int64_t)region->instance,
					       .correlation = (int64_t)region->correlation,
					       .unfinished = unfinished,
				       });
}

static uint64_t read_u64(const struct rtl_event *event, const struct rtl_field *field)
{
	uint64_t value;

	memcpy(&value, (const char *)event->payload + field->offset, sizeof(value));
	return value;
}

/* What it is called: as its tracepoint is, or by a string or text in it. */
static void set_name(struct sub *sub, const struct process *process, const struct region_type *type,
		     const struct rtl_event *event, struct region *region)
{
	const struct rtl_host *host = sub->host;
	const struct rtl_tracepoint *tp =
		event->uid ? host->tracepoint(host, process->info, event->uid) : NULL;
	const char *name = tp && *tp->name ? tp->name : NULL;
	size_t length = name ? strlen(name) : 0;
	struct rtl_text text;

	if (!name && type->string)
		name = host->string(host, process->info, read_u64(event, type->string));
	if (name)
		length = strlen(name);
	if (!length && type->text) {
		/* the host has seen to it that it lies in the payload */
		memcpy(&text, (const char *)event->payload + type->text->offset, sizeof(text));
		name = (const char *)event->payload + text.offset;
		length = text.length;
	}
	region->named = length != 0;
	region->args = length ? names_argument(&sub->names, name, length)
			      : names_ustring(&sub->names, UNNAMED);
}

static void take_begin(struct sub *sub, const struct process *process,
		       const struct region_type *type, const struct rtl_event *event)
{
	struct region *region = calloc(1, sizeof(*region));
	struct pairing_begin begin = {
		.owner = type->pair,
		.instance = event->instance,
		.process = process->number,
		.has_group = true,
	};

	if (!region) {
		writer_error(&sub->writer, SQLITE_NOMEM, "region");
		return;
	}
	*region = (struct region){
		.pair = type->pair,
		.begin_ns = event->time_ns,
		.instance = event->instance,
		.uid = event->uid,
		.parent_uid = event->parent_uid,
		.correlation = event->correlation,
		.tid = event->tid,
	};
	set_name(sub, process, type, event, region);
	begin.group = region;
	if (!pairing_put(&sub->open_regions, &begin))
		free(region);
}

static void take_end(struct sub *sub, const struct process *process, const struct region_type *type,
		     const struct rtl_event *event)
{
	struct pairing_begin begin = {
		.owner = type->pair,
		.instance = event->instance,
		.process = process->number,
	};
	struct region *region;

	if (!pairing_take(&sub->open_regions, &begin))
		return;
	region = begin.group;
	if (!region->named)
		set_name(sub, process, type, event, region);
	write_region(sub, process, region, event->time_ns, false);
	free(region);
}

static void take_whole(struct sub *sub, const struct process *process,
		       const struct region_type *type, const struct rtl_event *event)
{
	const uint64_t end_ns = read_u64(event, type->end_ns);
	struct region region = {
		.pair = type->pair,
		.begin_ns = read_u64(event, type->begin_ns),
		.instance = event->instance,
		.uid = event->uid,
		.parent_uid = event->parent_uid,
		.correlation = event->correlation,
		.tid = event->tid,
	};

	if (!region.begin_ns || !end_ns || region.begin_ns > INT64_MAX || end_ns > INT64_MAX)
		return;
	set_name(sub, process, type, event, &region);
	write_region(sub, process, &region, end_ns, false);
}

/* ---- what an earlier host has left ---- */

static bool load_row(struct sub *sub, const struct region_pair *pair, sqlite3_stmt *row)
{
	const char *name = (const char *)sqlite3_column_text(row, 7);
	struct region *region = calloc(1, sizeof(*region));
	struct pairing_begin begin = {
		.owner = pair,
		.instance = (uint64_t)sqlite3_column_int64(row, 1),
		.process = (uint32_t)sqlite3_column_int64(row, 0),
		.has_group = true,
	};

	if (!region)
		return false;
	*region = (struct region){
		.pair = pair,
		.begin_ns = (uint64_t)sqlite3_column_int64(row, 2),
		.instance = begin.instance,
		.uid = (uint64_t)sqlite3_column_int64(row, 4),
		.parent_uid = (uint64_t)sqlite3_column_int64(row, 5),
		.correlation = (uint64_t)sqlite3_column_int64(row, 6),
		.tid = (uint32_t)sqlite3_column_int64(row, 3),
		.named = name,
		.args = names_ustring(&sub->names, name ? name : UNNAMED),
	};
	begin.group = region;
	if (!pairing_put(&sub->open_regions, &begin))
		free(region);
	return true;
}

/* The column of the first field of a kind, as part of an expression. To be freed by sqlite3_free. */
static char *first_column(struct sub *sub, const struct region_pair *pair, const char *kind)
{
	sqlite3_stmt *question =
		writer_ask(&sub->writer,
			   "SELECT column_name FROM rtl_field WHERE stream = %lld AND type = %u"
			   " AND kind = %Q ORDER BY position LIMIT 1",
			   (long long)pair->stream->number, pair->kind->begin, kind);
	char *column = NULL;

	while (writer_next(&sub->writer, question))
		column = sqlite3_mprintf("b.\"%w\"", sqlite3_column_text(question, 0));
	return column;
}

static void load_pair(struct sub *sub, const struct region_pair *pair)
{
	struct writer *w = &sub->writer;
	sqlite3_stmt *question =
		writer_ask(w, "SELECT table_name FROM rtl_type WHERE stream = %lld AND type = %u",
			   (long long)pair->stream->number, pair->kind->begin);
	char *table = NULL, *string, *text;

	while (writer_next(w, question))
		if (sqlite3_column_text(question, 0))
			table = sqlite3_mprintf("%s", sqlite3_column_text(question, 0));
	if (!table)
		return;
	string = first_column(sub, pair, "string");
	text = first_column(sub, pair, "text");
	question = writer_ask(
		w,
		"SELECT b.process, b.instance, b.time_ns, b.tid, b.uid, b.parent_uid, "
		"b.correlation,"
		" coalesce(nullif((SELECT t.name FROM rtl_tracepoint AS t WHERE t.process = "
		"b.process"
		" AND t.uid = b.uid), ''), nullif(%s, ''), nullif(%s, '')) FROM \"%w\" AS b"
		" WHERE b.instance IS NOT NULL AND (b.process, b.instance) NOT IN"
		" (SELECT process, instance FROM rtl_span WHERE stream = %lld AND type = %Q)",
		string ? string : "NULL", text ? text : "NULL", table,
		(long long)pair->stream->number, pair->kind->name);
	while (writer_next(w, question))
		if (!load_row(sub, pair, question))
			writer_error(w, SQLITE_NOMEM, "region");
	sqlite3_free(table);
	sqlite3_free(string);
	sqlite3_free(text);
}

/* Before this host adds any: all rows that are there are an earlier one's. */
static void load(struct stream *stream)
{
	struct sub *sub = stream->sub;

	if (!sub->continues || stream->has_loaded_regions || stream->table)
		return;
	stream->has_loaded_regions = true;
	for (size_t i = 0; i < KINDS && !sub->writer.failed; i++) {
		const struct rtl_type_info *begin =
			rtl_stream_find_type(stream->info, kinds[i].begin);
		const struct region_type type =
			begin ? region_type(stream, begin) : (struct region_type){0};

		if (type.how == REGION_BEGIN)
			load_pair(sub, type.pair);
	}
}

/* ---- events ---- */

void region_event(struct stream *stream, const struct process *process,
		  const struct region_type *type, const struct rtl_event *event)
{
	load(stream);
	switch (type->how) {
	case REGION_BEGIN:
		take_begin(stream->sub, process, type, event);
		break;
	case REGION_END:
		take_end(stream->sub, process, type, event);
		break;
	case REGION_WHOLE:
		take_whole(stream->sub, process, type, event);
		break;
	default:
		break;
	}
}

void region_process_end(struct sub *sub, const struct process *process, uint64_t end_ns)
{
	for (struct stream *stream = sub->streams; stream; stream = stream->next)
		load(stream);
	for (size_t i = 0; i < sub->open_regions.hash.capacity;) {
		const struct pairing_begin *at = pairing_at(&sub->open_regions, i);
		struct pairing_begin begin;

		if (!at || at->process != process->number) {
			i++;
			continue;
		}
		begin = *at;
		pairing_take(&sub->open_regions, &begin); /* another one may take its place */
		if (!sub->writer.failed)
			write_region(sub, process, begin.group, end_ns, true);
		free(begin.group);
	}
}

void region_fini(struct sub *sub)
{
	for (size_t i = 0; i < sub->open_regions.hash.capacity; i++)
		if (pairing_at(&sub->open_regions, i))
			free(pairing_at(&sub->open_regions, i)->group);
	pairing_fini(&sub->open_regions);
	for (struct stream *stream = sub->streams; stream; stream = stream->next)
		for (struct region_pair *next, *pair = stream->regions; pair; pair = next) {
			next = pair->next;
			free(pair);
		}
}
