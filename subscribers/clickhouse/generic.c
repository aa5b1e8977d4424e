/* SPDX-License-Identifier: MIT */
/*
 * generic.c: streams that the subscriber knows nothing of but what their description says. Each type
 * that has events gets a table, rtl_e_<stream>_<type>, with a column for each field. Of names only
 * [a-z0-9_] is left.
 *
 * If the server has a table of that name with other columns, because the stream has another version
 * there, the table's name gets a number that stands for its columns.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rtl/args.h>

#include "sub.h"

#define NAME_MOST   96
#define COLUMNS_OWN 15u /* those that each table has: before the fields, and behind them */
#define BEFORE      12u

struct type {
	struct type *next;
	const struct rtl_type_info *info;
	struct store_table *table;
	struct table_info description;
	char name[NAME_MOST + 16], other_name[NAME_MOST + 32];
	char (*texts)[NAME_MOST + 8]; /* names of the fields' columns */
	char **docs;
	struct column_info columns[];
};

static const struct column_info before[BEFORE] = {
	{"run", "LowCardinality(String)", "the job, the same in all of its ranks", COLUMN_RUN},
	{"day", "Date", "when it began", COLUMN_DAY},
	{"rank", "Int32", "as the launcher tells; -1: none", COLUMN_RANK},
	{"host", "LowCardinality(String)", "name of the machine", COLUMN_HOST},
	{"pid", "UInt32", "number of the process", COLUMN_PID},
	{"time_ns", "UInt64", "when it was published", COLUMN_8},
	{"tid", "UInt32", "thread", COLUMN_4},
	{"tracepoint", "LowCardinality(String)", "its name", COLUMN_NAME},
	{"uid", "UInt64", "the tracepoint's universal id", COLUMN_8},
	{"parent_uid", "UInt64", "that of what it happened within", COLUMN_8},
	{"instance", "UInt64", "the same in a begin and its end", COLUMN_8},
	{"correlation", "UInt64", "the same in a call and what it caused; 0: not known", COLUMN_8},
};
static const struct column_info behind[COLUMNS_OWN - BEFORE] = {
	{"spool", "UInt64", "the process in this run, as in rtl_process", COLUMN_SPOOL},
	{"ring", "UInt32", "with the position: where the event stood", COLUMN_4},
	{"position", "UInt64", "in a ring of a spool each event has another one", COLUMN_8},
};

/* ---- descriptions ---- */

static void put_plain(char *to, size_t size, const char *from)
{
	size_t at = strlen(to);

	for (; *from && at + 1 < size; from++)
		to[at++] =
			isalnum((unsigned char)*from) ? (char)tolower((unsigned char)*from) : '_';
	to[at] = '\0';
}

static bool is_taken(const struct type *type, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(type->columns[i].name, name))
			return true;
	for (uint32_t i = 0; i < COLUMNS_OWN - BEFORE; i++)
		if (!strcmp(behind[i].name, name))
			return true;
	return false;
}

static bool is_number(const struct rtl_field *f)
{
	return f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8;
}

/* As what a field is stored; NULL: as a text. */
static const char *number_type(const struct rtl_field *f)
{
	static const char *const unsigneds[] = {"UInt8", "UInt16", "UInt32", "UInt64"};
	static const char *const signeds[] = {"Int8", "Int16", "Int32", "Int64"};
	const int log2_size = __builtin_ctz(f->size | 16);

	switch (f->kind) {
	case RTL_KIND_UINT:
	case RTL_KIND_BOOL:
	case RTL_KIND_ADDRESS:
	case RTL_KIND_TIME:
	case RTL_KIND_UID:
		return is_number(f) ? unsigneds[log2_size] : NULL;
	case RTL_KIND_INT:
		return is_number(f) ? signeds[log2_size] : NULL;
	case RTL_KIND_FLOAT:
		return f->size == 8 ? "Float64" : f->size == 4 ? "Float32" : NULL;
	default:
		return NULL;
	}
}

static void describe_field(struct type *type, uint32_t n, const struct rtl_field *f)
{
	struct column_info *column = &type->columns[BEFORE + n];
	const char *number = number_type(f);
	char *name = type->texts[n];

	put_plain(name, NAME_MOST, f->name && *f->name ? f->name : "field");
	for (unsigned twins = 2; is_taken(type, BEFORE + n, name); twins++) {
		*name = '\0';
		put_plain(name, NAME_MOST, f->name ? f->name : "field");
		snprintf(name + strlen(name), 8, "_%u", twins);
	}
	if (asprintf(&type->docs[n], "%s%s%s", f->description ? f->description : "",
		     f->unit && *f->unit ? ", " : "", f->unit ? f->unit : "") < 0)
		type->docs[n] = NULL;
	*column = (struct column_info){.name = name, .doc = type->docs[n] ? type->docs[n] : ""};
	if (number) {
		column->type = number;
		column->how = (enum column_how)f->size;
	} else {
		const bool named = f->kind == RTL_KIND_STRING && f->size == 8;

		column->type = named ? "LowCardinality(String)" : "String";
		column->how = named ? COLUMN_NAME : COLUMN_TEXT;
	}
}

/* Stands for the columns. */
static uint32_t hash_columns(const struct table_info *info)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < info->count; i++) {
		hash = hash_bytes(hash, info->columns[i].name, strlen(info->columns[i].name));
		hash = hash_bytes(hash, info->columns[i].type, strlen(info->columns[i].type));
	}
	return (uint32_t)hash;
}

static void free_type(struct type *type, uint32_t fields)
{
	for (uint32_t i = 0; type->docs && i < fields; i++)
		free(type->docs[i]);
	free(type->docs);
	free(type->texts);
	free(type);
}

static struct type *describe(const struct stream *stream, const struct rtl_type_info *info)
{
	const uint32_t fields = info->field_count;
	struct type *type =
		calloc(1, sizeof(*type) + (fields + COLUMNS_OWN) * sizeof(struct column_info));

	if (!type)
		return NULL;
	type->info = info;
	type->texts = calloc(fields + 1, sizeof(*type->texts));
	type->docs = calloc(fields + 1, sizeof(*type->docs));
	if (!type->texts || !type->docs) {
		free_type(type, fields);
		return NULL;
	}
	memcpy(type->columns, before, sizeof(before));
	for (uint32_t i = 0; i < fields; i++)
		describe_field(type, i, rtl_type_field(info, i));
	memcpy(type->columns + BEFORE + fields, behind, sizeof(behind));
	strcpy(type->name, "rtl_e_");
	put_plain(type->name, NAME_MOST, stream->info->name);
	put_plain(type->name, NAME_MOST, "_");
	put_plain(type->name, NAME_MOST, info->name ? info->name : "event");
	type->description = (struct table_info){
		.name = type->name,
		.order = "spool, time_ns",
		.columns = type->columns,
		.count = fields + COLUMNS_OWN,
	};
	snprintf(type->other_name, sizeof(type->other_name), "%s_%08x", type->name,
		 hash_columns(&type->description));
	return type;
}

static struct type *new_type(struct stream *stream, const struct rtl_type_info *info)
{
	struct sub *sub = stream->sub;
	struct type *type = describe(stream, info);

	if (type)
		type->table = store_add(&sub->store, &type->description);
	if (!type || !type->table) {
		sub->lost_memory = true;
		if (type)
			free_type(type, info->field_count);
		return NULL;
	}
	type->table->renamed = &type->description;
	type->table->other_name = type->other_name;
	type->next = stream->types;
	stream->types = type;
	/* what a recovery finds there goes by the name that the table has */
	if ((sub->recovers || sub->replays) && run_await_server(sub) != HTTP_DONE)
		sub->unprepared = true;
	return type;
}

static struct type *find_type(struct stream *stream, const struct rtl_type_info *info)
{
	struct type *type = stream->types;

	while (type && type->info != info)
		type = type->next;
	return type ? type : new_type(stream, info);
}

/* ---- events ---- */

static void put_bytes(struct block *block, uint32_t column, const unsigned char *at, uint32_t size)
{
	static const char digits[] = "0123456789abcdef";
	char text[1024];
	size_t length = 0;

	for (uint32_t i = 0; i < size && length + 2 <= sizeof(text); i++) {
		text[length++] = digits[at[i] >> 4];
		text[length++] = digits[at[i] & 15];
	}
	block_put_text(block, column, text, length);
}

static void put_text(struct sub *sub, struct block *block, uint32_t column,
		     const struct rtl_event *event, const struct rtl_field *f)
{
	const char *at = (const char *)event->payload + f->offset;
	char line[RTL_PAYLOAD_MAX];
	struct rtl_text text;
	size_t length;

	switch (f->kind) {
	case RTL_KIND_TEXT: /* the host has seen to it that it lies in the payload */
		memcpy(&text, at, sizeof(text));
		block_put_text(block, column, (const char *)event->payload + text.offset,
			       text.length);
		return;
	case RTL_KIND_ARGS:
	case RTL_KIND_VALUES:
		length = rtl_args_text(sub->host, event, f, line, sizeof(line));
		block_put_text(block, column, line,
			       length < sizeof(line) ? length : sizeof(line) - 1);
		return;
	default:
		put_bytes(block, column, (const unsigned char *)at, f->size);
	}
}

static void put_field(struct sub *sub, struct process *process, struct block *block, uint32_t row,
		      uint32_t column, const struct rtl_event *event, const struct rtl_field *f)
{
	const enum column_how how = block->table->columns[column].how;
	const char *at = (const char *)event->payload + f->offset;
	uint64_t id;

	if (how == COLUMN_TEXT) {
		put_text(sub, block, column, event, f);
	} else if (how == COLUMN_NAME) {
		memcpy(&id, at, sizeof(id));
		block_put_uint32(block, column, row, names_of_string(sub, process, id));
	} else {
		memcpy(block->columns[column].data + (size_t)row * f->size, at, f->size);
	}
}

static uint32_t name_of(struct sub *sub, const struct rtl_event *event)
{
	const struct rtl_tracepoint *tp =
		event->uid ? sub->host->tracepoint(sub->host, event->process, event->uid) : NULL;

	return tp ? names_of(&sub->names, tp->name) : 0;
}

static void take_event(struct stream *stream, struct process *process,
		       const struct rtl_event *event)
{
	struct sub *sub = stream->sub;
	const struct type *type = find_type(stream, event->type_info);
	struct block *block = type ? run_block(sub, type->table, process, event) : NULL;
	uint32_t row, fields;

	if (!block || !block_add(block, &process->columns, &row))
		return;
	fields = type->info->field_count;
	block_put_uint64(block, 5, row, event->time_ns);
	block_put_uint32(block, 6, row, event->tid);
	block_put_uint32(block, 7, row, name_of(sub, event));
	block_put_uint64(block, 8, row, event->uid);
	block_put_uint64(block, 9, row, event->parent_uid);
	block_put_uint64(block, 10, row, event->instance);
	block_put_uint64(block, 11, row, event->correlation);
	for (uint32_t i = 0; i < fields; i++)
		put_field(sub, process, block, row, BEFORE + i, event,
			  rtl_type_field(type->info, i));
	block_put_uint32(block, BEFORE + fields + 1, row, event->ring);
	block_put_uint64(block, BEFORE + fields + 2, row, event->position);
	block_added(block);
}

void generic_events(void *user, const struct rtl_event *const *events, size_t count)
{
	sub_each(user, events, count, take_event);
}

int generic_subscribe(struct stream *stream)
{
	const struct rtl_host *host = stream->sub->host;
	int result = 0;

	for (uint32_t i = 0; i < stream->info->type_count && result == 0; i++) {
		const struct rtl_type_info *info = rtl_stream_type(stream->info, i);

		if (!info->repeated_by) /* else its end says all that it says */
			result = host->subscribe(host, stream->info, info->type, RTL_BUFFERED,
						 generic_events, stream, NULL);
	}
	return result;
}

void generic_fini(struct stream *stream)
{
	for (struct type *t = stream->types, *next; t; t = next) {
		next = t->next;
		free_type(t, t->info->field_count);
	}
}
