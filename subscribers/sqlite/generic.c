/* SPDX-License-Identifier: MIT */
/*
 * generic.c: streams that this subscriber knows nothing of but what their description says. Each
 * type that has events gets a table, rtl_e_<stream>_<type>, with a column for each field.
 *
 * Names may be anything: in tables and columns only [A-Za-z0-9_] is left of them, and what is
 * taken already gets a number. rtl_type and rtl_field say which table and column holds what.
 */
#include "sub.h"

#include <rtl/args.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_NAME 120
/* Columns that each table has: id, process, tid, time_ns, uid, parent_uid, instance,
 * correlation. */
#define BASE_COLUMNS 8u
#define MAX_FIELDS   1900u /* SQLite allows 2000 columns */

static const char *const base_columns[BASE_COLUMNS] = {
	"id", "process", "tid", "time_ns", "uid", "parent_uid", "instance", "correlation",
};

struct column {
	uint16_t kind;
	uint32_t offset, size;
	char name[MAX_NAME + 8];
};

/* A table, and the type of a stream that it holds. Streams of the same name and layout, of
 * several processes, share one. */
struct generic_table {
	unsigned users;
	char name[2 * MAX_NAME + 16];
	struct rows rows;
	int64_t next_id;
};

struct generic_type {
	struct generic_type *next;        /* of all */
	struct generic_type *stream_next; /* of the stream */
	struct stream *stream;
	const struct rtl_type_info *info;
	struct generic_table *table; /* NULL: could not be made */
	uint32_t column_count;
	struct column *columns; /* of the fields */
	struct region_type region;
};

/* Names. */

static void clean_name(char *out, size_t size, const char *name, const char *fallback)
{
	size_t n = 0;

	name = name && *name ? name : fallback;
	for (; *name && n + 1 < size; name++) {
		char c = *name;
		bool fine =
			(c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

		out[n++] = fine ? c : '_';
	}
	out[n] = '\0';
}

static bool column_taken(const struct generic_type *type, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < BASE_COLUMNS; i++)
		if (strcasecmp(base_columns[i], name) == 0)
			return true;
	for (uint32_t i = 0; i < count; i++)
		if (strcasecmp(type->columns[i].name, name) == 0)
			return true;
	return false;
}

static void name_column(struct generic_type *type, uint32_t i, const char *field_name)
{
	struct column *column = &type->columns[i];
	char name[MAX_NAME];

	clean_name(name, sizeof(name), field_name, "field");
	snprintf(column->name, sizeof(column->name), "%s", name);
	for (unsigned n = 2; column_taken(type, i, column->name); n++)
		snprintf(column->name, sizeof(column->name), "%s_%u", name, n);
}

static bool table_taken(struct sub *sub, const char *name)
{
	sqlite3_stmt *question;
	bool taken = false;

	for (const struct generic_type *t = sub->generic_types; t; t = t->next)
		if (t->table && strcasecmp(t->table->name, name) == 0)
			return true;
	if (!sub->continues)
		return false;
	question = writer_ask(&sub->writer, "PRAGMA table_info(\"%w\")", name);
	while (writer_next(&sub->writer, question))
		taken = true;
	return taken;
}

static void name_table(struct sub *sub, const struct generic_type *type, char *name, size_t size)
{
	char stream[MAX_NAME], event[MAX_NAME], number[16];

	snprintf(number, sizeof(number), "type%u", type->info->type);
	clean_name(stream, sizeof(stream), type->stream->info->name, "stream");
	clean_name(event, sizeof(event), type->info->name, number);
	snprintf(name, size, GENERIC_TABLE_PREFIX "%s_%s", stream, event);
	for (unsigned n = 2; table_taken(sub, name); n++)
		snprintf(name, size, GENERIC_TABLE_PREFIX "%s_%s_%u", stream, event, n);
}

/* Making tables. */

static const char *column_type(const struct column *column)
{
	switch (column->kind) {
	case RTL_KIND_UINT:
	case RTL_KIND_INT:
	case RTL_KIND_BOOL:
	case RTL_KIND_ADDRESS:
	case RTL_KIND_TIME:
	case RTL_KIND_UID:
		return " INTEGER";
	case RTL_KIND_FLOAT:
		return " REAL";
	case RTL_KIND_STRING:
	case RTL_KIND_TEXT:
	case RTL_KIND_ARGS:
	case RTL_KIND_VALUES:
		return " TEXT";
	default:
		return " BLOB";
	}
}

static bool same_layout(const struct generic_type *a, const struct generic_type *b)
{
	const char *x = a->stream->info->name, *y = b->stream->info->name;

	if (a->info->type != b->info->type || a->column_count != b->column_count ||
	    strcmp(x ? x : "", y ? y : "") != 0)
		return false;
	for (uint32_t i = 0; i < a->column_count; i++)
		if (strcmp(a->columns[i].name, b->columns[i].name) != 0 ||
		    strcmp(column_type(&a->columns[i]), column_type(&b->columns[i])) != 0)
			return false;
	return true;
}

static bool create_table(struct sub *sub, const struct generic_type *type, const char *name)
{
	sqlite3_str *sql = sqlite3_str_new(sub->writer.db);
	char *text;
	bool done;

	sqlite3_str_appendf(sql,
			    "CREATE TABLE \"%w\" (id INTEGER PRIMARY KEY NOT NULL,"
			    " process INTEGER NOT NULL, tid INTEGER NOT NULL,"
			    " time_ns INTEGER NOT NULL, uid INTEGER, parent_uid INTEGER,"
			    " instance INTEGER, correlation INTEGER",
			    name);
	for (uint32_t i = 0; i < type->column_count; i++)
		sqlite3_str_appendf(sql, ", \"%w\"%s", type->columns[i].name,
				    column_type(&type->columns[i]));
	sqlite3_str_appendall(sql, ")");
	text = sqlite3_str_finish(sql);
	done = text && writer_begin(&sub->writer) && writer_exec(&sub->writer, text);
	if (!text)
		writer_error(&sub->writer, SQLITE_NOMEM, name);
	sqlite3_free(text);
	return done;
}

/* Whether a table has the columns of the type, and no others. */
static bool has_columns(struct sub *sub, const struct generic_type *type, const char *name)
{
	sqlite3_stmt *question = writer_ask(&sub->writer, "PRAGMA table_info(\"%w\")", name);
	uint32_t count = 0;
	bool same = true;

	for (; writer_next(&sub->writer, question); count++) {
		const char *has = (const char *)sqlite3_column_text(question, 1);
		const char *has_type = (const char *)sqlite3_column_text(question, 2);
		uint32_t i = count - BASE_COLUMNS;

		if (count < BASE_COLUMNS)
			same &= has && strcmp(has, base_columns[count]) == 0;
		else
			same &= i < type->column_count && has && has_type &&
				strcmp(has, type->columns[i].name) == 0 &&
				strcmp(has_type, column_type(&type->columns[i]) + 1) == 0;
	}
	return same && count == BASE_COLUMNS + type->column_count;
}

/* Takes a table of that stream, type and layout that an earlier host has made. */
static bool take_table(struct sub *sub, const struct generic_type *type,
		       struct generic_table *table)
{
	struct writer *w = &sub->writer;
	const char *stream = type->stream->info->name;
	sqlite3_stmt *question;
	char sql[sizeof(table->name) + 64];

	if (!sub->continues)
		return false;
	question = writer_ask(w,
			      "SELECT DISTINCT table_name FROM rtl_type JOIN rtl_stream AS s"
			      " USING (stream) WHERE s.name = %Q AND type = %u"
			      " AND table_name IS NOT NULL",
			      stream ? stream : "", type->info->type);
	while (writer_next(w, question)) {
		const char *name = (const char *)sqlite3_column_text(question, 0);

		if (!*table->name && name && has_columns(sub, type, name))
			snprintf(table->name, sizeof(table->name), "%s", name);
	}
	if (!*table->name)
		return false;
	snprintf(sql, sizeof(sql), "SELECT max(id) FROM \"%s\"", table->name);
	table->next_id = writer_ask_int(w, sql) + 1;
	return !w->failed;
}

static bool make_table(struct sub *sub, const struct generic_type *type,
		       struct generic_table *table)
{
	table->next_id = 1;
	name_table(sub, type, table->name, sizeof(table->name));
	return create_table(sub, type, table->name);
}

static struct generic_table *new_table(struct sub *sub, const struct generic_type *type)
{
	struct generic_table *table = calloc(1, sizeof(*table));

	if (!table) {
		writer_error(&sub->writer, SQLITE_NOMEM, "table");
		return NULL;
	}
	if ((take_table(sub, type, table) || make_table(sub, type, table)) &&
	    rows_init(&table->rows, &sub->writer, "INSERT",
		      &(struct table){table->name, BASE_COLUMNS + type->column_count}))
		return table;
	free(table);
	return NULL;
}

static struct generic_table *find_table(struct sub *sub, const struct generic_type *type)
{
	for (struct generic_type *t = sub->generic_types; t; t = t->next)
		if (t->table && same_layout(t, type))
			return t->table;
	return new_table(sub, type);
}

static void note_columns(struct sub *sub, const struct generic_type *type)
{
	struct writer *w = &sub->writer;
	long long stream = type->stream->number;
	unsigned number = type->info->type;

	writer_execf(w, "UPDATE rtl_type SET table_name = %Q WHERE stream = %lld AND type = %u",
		     type->table->name, stream, number);
	for (uint32_t i = 0; i < type->column_count; i++)
		writer_execf(w,
			     "UPDATE rtl_field SET column_name = %Q"
			     " WHERE stream = %lld AND type = %u AND position = %u",
			     type->columns[i].name, stream, number, i);
}

static struct generic_type *new_type(struct stream *stream, const struct rtl_type_info *info)
{
	struct sub *sub = stream->sub;
	struct generic_type *type = calloc(1, sizeof(*type));
	uint32_t count = info->field_count < MAX_FIELDS ? info->field_count : MAX_FIELDS;

	if (type)
		type->columns = calloc(count + 1, sizeof(*type->columns));
	if (!type || !type->columns) {
		free(type);
		writer_error(&sub->writer, SQLITE_NOMEM, "type");
		return NULL;
	}
	type->stream = stream;
	type->info = info;
	type->region = region_type(stream, info);
	for (uint32_t i = 0; i < count; i++) {
		const struct rtl_field *field = rtl_type_field(info, i);

		type->columns[i].kind = field->kind;
		type->columns[i].offset = field->offset;
		type->columns[i].size = field->size;
		name_column(type, i, field->name);
		type->column_count++;
	}
	type->table = find_table(sub, type);
	if (type->table) {
		type->table->users++;
		note_columns(sub, type);
	}
	type->next = sub->generic_types;
	sub->generic_types = type;
	type->stream_next = stream->types;
	stream->types = type;
	return type;
}

static struct generic_type *find_type(struct stream *stream, const struct rtl_event *event)
{
	const struct rtl_type_info *info = event->type_info;

	if (stream->last_type && stream->last_type->info == info)
		return stream->last_type;
	for (struct generic_type *t = stream->types; t; t = t->stream_next)
		if (t->info == info)
			return stream->last_type = t;
	return info ? stream->last_type = new_type(stream, info) : NULL;
}

/* Values. */

static uint64_t read_uint(const void *at, uint32_t size)
{
	uint64_t value = 0;

	memcpy(&value, at, size); /* little-endian */
	return value;
}

static int64_t read_int(const void *at, uint32_t size)
{
	unsigned unused = 64 - 8 * size;

	return (int64_t)(read_uint(at, size) << unused) >> unused;
}

static bool integer_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* 0 means none. */
static void set_some(struct cell *cell, uint64_t value)
{
	if (value)
		cell_int(cell, (int64_t)value);
	else
		cell_null(cell);
}

static void set_text(struct rows *rows, struct cell *cell, const struct rtl_event *event,
		     const void *at)
{
	struct rtl_text text;

	memcpy(&text, at, sizeof(text));
	if ((uint64_t)text.offset + text.length <= event->payload_size)
		cell_text_n(rows, cell, (const char *)event->payload + text.offset, text.length);
	else
		cell_null(cell);
}

/* As "size=4096, *ptr=0x7f2a". */
static void set_args(struct sub *sub, struct rows *rows, struct cell *cell,
		     const struct column *column, const struct rtl_event *event)
{
	const struct rtl_field field = {
		.struct_size = sizeof(field), .kind = column->kind, .offset = column->offset};
	char some[2048], *text = some;
	size_t length = rtl_args_text(sub->host, event, &field, some, sizeof(some));

	if (length >= sizeof(some)) {
		text = malloc(length + 1);
		if (text)
			rtl_args_text(sub->host, event, &field, text, length + 1);
		else
			writer_error(&sub->writer, SQLITE_NOMEM, "arguments");
	}
	cell_text(rows, cell, text);
	if (text != some)
		free(text);
}

static void set_float(struct cell *cell, const void *at, uint32_t size)
{
	double wide;
	float narrow;

	if (size == sizeof(wide)) {
		memcpy(&wide, at, sizeof(wide));
		cell_real(cell, wide);
	} else {
		memcpy(&narrow, at, sizeof(narrow));
		cell_real(cell, narrow);
	}
}

/* Whether a kind can be read at that size; others are kept as bytes. */
static bool readable(uint16_t kind, uint32_t size)
{
	switch (kind) {
	case RTL_KIND_UINT:
	case RTL_KIND_INT:
		return integer_size(size);
	case RTL_KIND_BOOL:
		return size == 1;
	case RTL_KIND_FLOAT:
		return size == 4 || size == 8;
	case RTL_KIND_ADDRESS:
	case RTL_KIND_TIME:
	case RTL_KIND_UID:
	case RTL_KIND_STRING:
	case RTL_KIND_TEXT:
	case RTL_KIND_ARGS:
	case RTL_KIND_VALUES:
		return size == 8;
	default:
		return false;
	}
}

static void set_field(struct sub *sub, struct process *process, struct rows *rows,
		      struct cell *cell, const struct column *column, const struct rtl_event *event)
{
	const char *at = (const char *)event->payload + column->offset;

	if ((uint64_t)column->offset + column->size > event->payload_size || !event->payload) {
		cell_null(cell);
		return;
	}
	if (!readable(column->kind, column->size)) {
		cell_blob(rows, cell, at, column->size);
		return;
	}
	switch (column->kind) {
	case RTL_KIND_INT:
		cell_int(cell, read_int(at, column->size));
		break;
	case RTL_KIND_FLOAT:
		set_float(cell, at, column->size);
		break;
	case RTL_KIND_TIME:
		set_some(cell, read_uint(at, 8));
		break;
	case RTL_KIND_UID:
		set_some(cell, read_uint(at, 8));
		tracepoints_need(sub, process, read_uint(at, 8));
		break;
	case RTL_KIND_STRING:
		cell_text(rows, cell,
			  sub->host->string(sub->host, process->info, read_uint(at, 8)));
		break;
	case RTL_KIND_TEXT:
		set_text(rows, cell, event, at);
		break;
	case RTL_KIND_ARGS:
	case RTL_KIND_VALUES:
		set_args(sub, rows, cell, column, event);
		break;
	default:
		cell_int(cell, (int64_t)read_uint(at, column->size));
		break;
	}
}

static void take_event(struct stream *stream, struct process *process,
		       const struct rtl_event *event)
{
	struct sub *sub = stream->sub;
	struct generic_type *type = find_type(stream, event);
	struct rows *rows;
	struct cell *cell;

	if (!type || !type->table) {
		stream->skipped++;
		return;
	}
	rows = &type->table->rows;
	tracepoints_need(sub, process, event->uid);
	tracepoints_need(sub, process, event->parent_uid);
	if (type->region.how)
		region_event(type->stream, process, &type->region, event);
	cell = rows_add(rows);
	cell_int(&cell[0], type->table->next_id++);
	cell_int(&cell[1], process->number);
	cell_int(&cell[2], event->tid);
	cell_int(&cell[3], (int64_t)event->time_ns);
	set_some(&cell[4], event->uid);
	set_some(&cell[5], event->parent_uid);
	set_some(&cell[6], event->instance);
	set_some(&cell[7], event->correlation);
	for (uint32_t i = 0; i < type->column_count; i++)
		set_field(sub, process, rows, &cell[BASE_COLUMNS + i], &type->columns[i], event);
	process_span(process, event->time_ns, event->time_ns);
}

void generic_events(void *user, const struct rtl_event *const *events, size_t count)
{
	sub_each(user, events, count, 0, take_event);
}

int generic_subscribe(struct sub *sub, struct stream *stream, uint16_t type)
{
	return sub->host->subscribe(sub->host, stream->info, type, RTL_BUFFERED, generic_events,
				    stream, NULL);
}

void generic_fini(struct sub *sub)
{
	for (struct generic_type *type = sub->generic_types, *next; type; type = next) {
		next = type->next;
		if (type->table && --type->table->users == 0)
			free(type->table); /* its rows went with the writer */
		free(type->columns);
		free(type);
	}
	sub->generic_types = NULL;
}
