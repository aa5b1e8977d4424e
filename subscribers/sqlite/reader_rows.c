/* SPDX-License-Identifier: MIT */
/* reader_rows.c: rows of storage tables, and the events that they were. See reader.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

/* Columns that each storage table begins with. */
enum { ID, ORIGIN, TIME_NS, INSTANCE, CORRELATION, BASE_COLUMNS };

static const char *const base_columns[BASE_COLUMNS] = {"id", "origin", "time_ns", "instance",
						       "correlation"};

enum how {
	AS_NUMBER,
	AS_NUMBER_OR_0,           /* NULL is 0 */
	AS_NUMBER_OR_CORRELATION, /* NULL is the event's correlation */
	AS_TIME,                  /* relative to the event's; NULL is 0 */
	AS_REAL,
	AS_BYTES,
	AS_ARGS,
	AS_TEXT,
};

/* A column, and where its value goes. */
struct column {
	enum how how;
	int place; /* among the table's columns */
	uint32_t offset, size;
};

/* Fields that are stored once in a table of their own. */
struct group {
	const char *name;
	int place;
	struct id_rows rows; /* the fields' bytes, one behind the other */
	struct column *columns;
	struct column *copies; /* from there to the payload; place is the offset there */
	uint32_t column_count, copy_count;
};

struct table {
	const char *name;
	sqlite3_stmt *row;
	int64_t id;
	uint32_t stream; /* its place */
	const struct rtl_type_info *type;
	struct column *columns;
	struct group *groups;
	uint32_t column_count, group_count;
};

/* ---- small tables */

void id_rows_load(struct reader *r, struct id_rows *rows, sqlite3_stmt *question,
		  bool (*take)(struct reader *reader, sqlite3_stmt *row, void *user, void *to),
		  void *user)
{
	for (size_t room = 0; reader_next(r, &question);) {
		if (rows->count == room) {
			room = room ? 2 * room : 64;
			int64_t *ids = reallocarray(rows->ids, room, sizeof(*ids));
			uint8_t *bytes = reallocarray(rows->bytes, room, rows->size);

			rows->ids = ids ? ids : rows->ids;
			rows->bytes = bytes ? bytes : rows->bytes;
			if (!ids || !bytes) {
				reader_fail(r, RTL_ENOMEM, "out of memory");
				continue;
			}
		}
		memset(rows->bytes + rows->count * rows->size, 0, rows->size);
		rows->ids[rows->count] = sqlite3_column_int64(question, 0);
		/* what refers to one that makes no sense finds none */
		rows->count += take(r, question, user, rows->bytes + rows->count * rows->size);
	}
}

static int compare_ids(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static const void *find(const struct id_rows *rows, int64_t id)
{
	const uint64_t guess = rows->count ? (uint64_t)id - (uint64_t)rows->ids[0] : 0;
	const int64_t *at;

	if (guess < rows->count && rows->ids[guess] == id) /* none is missing, mostly */
		return rows->bytes + guess * rows->size;
	at = bsearch(&id, rows->ids, rows->count, sizeof(id), compare_ids);
	return at ? rows->bytes + (size_t)(at - rows->ids) * rows->size : NULL;
}

/* ---- values */

static bool put_blob(sqlite3_stmt *row, const struct column *c, uint8_t *to)
{
	const void *bytes = sqlite3_column_blob(row, c->place);

	if (!bytes || sqlite3_column_type(row, c->place) != SQLITE_BLOB ||
	    (uint32_t)sqlite3_column_bytes(row, c->place) != c->size)
		return false;
	memcpy(to, bytes, c->size);
	return true;
}

static bool put_real(sqlite3_stmt *row, const struct column *c, int type, uint8_t *to)
{
	const double wide = type == SQLITE_NULL ? NAN : sqlite3_column_double(row, c->place);
	const float narrow = (float)wide;

	if (type == SQLITE_BLOB)
		return put_blob(row, c, to);
	if (c->size == sizeof(wide))
		memcpy(to, &wide, sizeof(wide));
	else
		memcpy(to, &narrow, sizeof(narrow));
	return type != SQLITE_TEXT;
}

/* Puts a column's value where it belongs; false: it is none that could be there. */
static bool put(sqlite3_stmt *row, const struct column *c, const struct rtl_event *event,
		uint8_t *payload)
{
	const int type = sqlite3_column_type(row, c->place);
	uint64_t number = 0;

	if (c->how == AS_REAL)
		return put_real(row, c, type, payload + c->offset);
	if (c->how == AS_BYTES)
		return put_blob(row, c, payload + c->offset);
	if (type == SQLITE_INTEGER)
		number = (uint64_t)sqlite3_column_int64(row, c->place) +
			 (c->how == AS_TIME ? event->time_ns : 0);
	else if (type != SQLITE_NULL || c->how == AS_NUMBER)
		return false;
	else if (c->how == AS_NUMBER_OR_CORRELATION)
		number = event->correlation;
	if (c->size == 4) /* quicker than a size that is not known */
		memcpy(payload + c->offset, &number, 4);
	else if (c->size == 8)
		memcpy(payload + c->offset, &number, 8);
	else
		memcpy(payload + c->offset, &number, c->size); /* little-endian */
	return true;
}

/* A row of rtl_args; NULL: there is none. */
static const struct args *find_args(struct reader *r, int64_t id)
{
	struct args *args = &r->known_args[(uint64_t)id % READER_ARGS];
	const void *bytes = NULL;
	uint32_t size;

	if (args->bytes && args->id == id)
		return args;
	free(args->bytes);
	args->bytes = NULL;
	if (reader_find(r, &r->args, "SELECT bytes FROM rtl_args WHERE id = ?", id, 0))
		bytes = sqlite3_column_blob(r->args, 0);
	size = bytes ? (uint32_t)sqlite3_column_bytes(r->args, 0) : 0;
	if (size >= sizeof(struct rtl_text) && size < READER_EVENT_MAX)
		args->bytes = malloc(size);
	if (args->bytes)
		memcpy(args->bytes, bytes, size);
	args->id = id;
	args->size = size;
	sqlite3_reset(r->args);
	return args->bytes ? args : NULL;
}

/* Arguments bring along all that lay behind the fixed part. The host looks whether they lie in it. */
static bool put_args(struct reader *r, sqlite3_stmt *row, const struct column *c,
		     struct rtl_event *event, uint8_t *payload)
{
	const int type = sqlite3_column_type(row, c->place);
	const struct args *args;
	uint32_t rest;

	if (type == SQLITE_NULL)
		return true;
	args = type == SQLITE_INTEGER ? find_args(r, sqlite3_column_int64(row, c->place)) : NULL;
	rest = args ? args->size - (uint32_t)sizeof(struct rtl_text) : 0;
	if (!args || event->payload_size + rest > READER_EVENT_MAX)
		return false;
	memcpy(payload + c->offset, args->bytes, sizeof(struct rtl_text));
	if (event->payload_size == event->type_info->payload_size) {
		memcpy(payload + event->payload_size, args->bytes + sizeof(struct rtl_text), rest);
		event->payload_size += rest;
	}
	return true;
}

static bool put_text(sqlite3_stmt *row, const struct column *c, struct rtl_event *event,
		     uint8_t *payload)
{
	const void *text = sqlite3_column_blob(row, c->place);
	const int length = sqlite3_column_bytes(row, c->place);
	const struct rtl_text place = {event->payload_size, (uint32_t)length};

	if ((uint64_t)event->payload_size + (uint32_t)length > READER_EVENT_MAX)
		return false;
	memcpy(payload + c->offset, &place, sizeof(place));
	if (length)
		memcpy(payload + event->payload_size, text, (size_t)length);
	event->payload_size += (uint32_t)length;
	return true;
}

/* ---- events */

static bool put_group(sqlite3_stmt *row, const struct group *g, uint8_t *payload)
{
	const uint8_t *from = sqlite3_column_type(row, g->place) == SQLITE_INTEGER
				      ? find(&g->rows, sqlite3_column_int64(row, g->place))
				      : NULL;

	for (uint32_t i = 0; from && i < g->copy_count; i++)
		memcpy(payload + g->copies[i].offset, from + g->copies[i].place, g->copies[i].size);
	return from;
}

static bool fill(struct reader *r, const struct table *t, struct rtl_event *event, uint8_t *payload)
{
	bool good = true;

	for (uint32_t i = 0; good && i < t->group_count; i++)
		good = put_group(t->row, &t->groups[i], payload);
	for (uint32_t i = 0; good && i < t->column_count; i++) {
		const struct column *c = &t->columns[i];

		good = c->how == AS_ARGS   ? put_args(r, t->row, c, event, payload)
		       : c->how == AS_TEXT ? put_text(t->row, c, event, payload)
					   : put(t->row, c, event, payload);
	}
	return good;
}

int64_t table_id(const struct table *table)
{
	return table->id;
}

int table_take(struct reader *r, struct table *t)
{
	const struct reader_origin *origin =
		find(&r->origins, sqlite3_column_int64(t->row, ORIGIN));
	bool good = origin && origin->process < r->begun;
	const struct reader_process *process = &r->processes[good ? origin->process : 0];
	struct rtl_event *event;
	uint8_t *payload;

	if (!r->begun)
		return reader_fail(r, RTL_EFORMAT, "%s has events of no process", t->name);
	if (r->event_count == READER_EVENTS || r->used > READER_PAYLOADS - READER_EVENT_MAX)
		reader_give(r);
	event = &r->events[r->event_count++];
	payload = r->payloads + r->used;
	memset(payload, 0, t->type->payload_size);
	*event = (struct rtl_event){.struct_size = sizeof(*event),
				    .type = t->type->type,
				    .stream = process->streams[t->stream],
				    .type_info = t->type,
				    .process = process->theirs,
				    .tid = origin ? origin->tid : 0,
				    .payload_size = t->type->payload_size,
				    .time_ns = (uint64_t)sqlite3_column_int64(t->row, TIME_NS),
				    .uid = origin ? origin->uid : 0,
				    .parent_uid = origin ? origin->parent_uid : 0,
				    .instance = (uint64_t)sqlite3_column_int64(t->row, INSTANCE),
				    .payload = payload};
	event->correlation = sqlite3_column_type(t->row, CORRELATION) == SQLITE_NULL
				     ? event->instance
				     : (uint64_t)sqlite3_column_int64(t->row, CORRELATION);
	if (!good || !fill(r, t, event, payload)) {
		event->type = 0; /* of no type: the host counts it */
		r->rejected++;
	}
	r->used += (event->payload_size + 7) & ~7u;
	return r->error;
}

bool table_next(struct reader *r, struct table *t)
{
	const int rc = sqlite3_step(t->row);

	if (rc == SQLITE_ROW)
		t->id = sqlite3_column_int64(t->row, ID);
	else if (rc != SQLITE_DONE)
		reader_fail_db(r, t->name);
	return rc == SQLITE_ROW;
}

void table_close(struct table *t)
{
	sqlite3_finalize(t->row);
	for (uint32_t i = 0; i < t->group_count; i++) {
		free(t->groups[i].rows.ids);
		free(t->groups[i].rows.bytes);
	}
}

/* ---- opening */

static enum how how_of(const struct rtl_field *f, bool grouped)
{
	const bool is_number = f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8;

	switch (f->kind) {
	case RTL_KIND_UINT:
	case RTL_KIND_ADDRESS:
		if (f->size == 8 && !grouped)
			return AS_NUMBER_OR_CORRELATION;
		/* fall through */
	case RTL_KIND_INT:
	case RTL_KIND_BOOL:
		return is_number ? AS_NUMBER : AS_BYTES;
	case RTL_KIND_TIME:
		return !is_number ? AS_BYTES : grouped ? AS_NUMBER_OR_0 : AS_TIME;
	case RTL_KIND_STRING:
	case RTL_KIND_UID:
		return is_number ? AS_NUMBER_OR_0 : AS_BYTES;
	case RTL_KIND_FLOAT:
		return f->size == 4 || f->size == 8 ? AS_REAL : AS_BYTES;
	case RTL_KIND_TEXT:
		return AS_TEXT;
	case RTL_KIND_ARGS:
	case RTL_KIND_VALUES:
		return AS_ARGS;
	default:
		return AS_BYTES;
	}
}

static int find_column(sqlite3_stmt *row, const char *name, const char *more)
{
	const size_t length = strlen(name);

	for (int i = 0; i < sqlite3_column_count(row); i++) {
		const char *is = sqlite3_column_name(row, i);

		if (is && !strncmp(is, name, length) && !strcmp(is + length, more))
			return i;
	}
	return -1;
}

/* Adds the column of a field, with its value at `offset`. */
static void add_column(struct reader *r, const char *table, sqlite3_stmt *row,
		       const struct rtl_field *field, const char *name, struct column *to,
		       uint32_t offset, enum how how)
{
	*to = (struct column){how, find_column(row, name, ""), offset, field->size};
	if (to->place < 0 && how == AS_TIME)
		to->place = find_column(row, name, "_rel");
	if (to->place < 0)
		reader_fail(r, RTL_EFORMAT, "%s has no column %s", table, name);
}

static bool take_group(struct reader *r, sqlite3_stmt *row, void *user, void *to)
{
	const struct rtl_event none = {0};
	const struct group *g = user;
	bool good = true;

	(void)r;
	for (uint32_t i = 0; good && i < g->column_count; i++)
		good = put(row, &g->columns[i], &none, to);
	return good;
}

/* Adds a field to a group: its place is behind the others. */
static void add_to_group(struct reader *r, struct table *t, struct group *g, sqlite3_stmt *row,
			 const struct rtl_field *field, const char *column)
{
	const enum how how = how_of(field, true);
	const uint32_t at = (uint32_t)g->rows.size;
	struct column *last = g->copy_count ? &g->copies[g->copy_count - 1] : NULL;

	if (how == AS_TEXT || how == AS_ARGS) {
		reader_fail(r, RTL_EFORMAT, "group %s of %s has a text", g->name, t->name);
		return;
	}
	add_column(r, t->name, row, field, column, &g->columns[g->column_count++], at, how);
	if (last && last->offset + last->size == field->offset)
		last->size += field->size;
	else
		g->copies[g->copy_count++] = (struct column){
			.place = (int)at, .offset = field->offset, .size = field->size};
	g->rows.size += field->size;
}

/* The group of the field at that place and of those behind it. */
static void open_group(struct reader *r, struct table *t, const struct reader_field *stored,
		       uint32_t first)
{
	const uint32_t count = t->type->field_count;
	struct group *g = &t->groups[t->group_count++];
	sqlite3_stmt *row;

	g->name = stored[first].group;
	g->place = find_column(t->row, g->name, "");
	g->columns = reader_alloc(r, count, sizeof(*g->columns));
	g->copies = reader_alloc(r, count, sizeof(*g->copies));
	if (g->place < 0)
		reader_fail(r, RTL_EFORMAT, "%s has no column %s", t->name, g->name);
	row = r->error ? NULL
		       : reader_ask(r, "SELECT * FROM \"%w_%w\" ORDER BY id", t->name, g->name);
	for (uint32_t i = first; row && i < count; i++)
		if (!strcmp(stored[i].group, g->name))
			add_to_group(r, t, g, row, &t->type->fields[i], stored[i].column);
	id_rows_load(r, &g->rows, row, take_group, g);
}

static bool is_first_of_group(const struct reader_field *stored, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++)
		if (!strcmp(stored[i].group, stored[at].group))
			return false;
	return true;
}

/* Adds columns of fields in no group. Arguments come first: they bring what lies behind the fixed part. */
static void add_columns(struct reader *r, struct table *t, const struct reader_field *stored,
			bool args)
{
	for (uint32_t i = 0; i < t->type->field_count; i++) {
		const struct rtl_field *field = &t->type->fields[i];
		const enum how how = how_of(field, false);

		if (!*stored[i].group && *stored[i].column && args == (how == AS_ARGS))
			add_column(r, t->name, t->row, field, stored[i].column,
				   &t->columns[t->column_count++], field->offset, how);
	}
}

static void check_table(struct reader *r, const struct table *t)
{
	for (int i = 0; i < BASE_COLUMNS; i++)
		if (find_column(t->row, base_columns[i], "") != i)
			reader_fail(r, RTL_EFORMAT, "%s has no column %s where it should be",
				    t->name, base_columns[i]);
	for (uint32_t i = 0; i < t->type->field_count; i++) {
		const struct rtl_field *f = &t->type->fields[i];

		if (t->type->payload_size > RTL_PAYLOAD_MAX || f->offset > t->type->payload_size ||
		    f->size > t->type->payload_size - f->offset)
			reader_fail(r, RTL_EFORMAT, "field %s of %s lies outside of the payload",
				    f->name, t->name);
	}
}

static void note_last(struct reader *r, const struct table *t)
{
	sqlite3_stmt *row = reader_ask(r, "SELECT max(id) FROM \"%w\"", t->name);

	while (reader_next(r, &row))
		if (sqlite3_column_int64(row, 0) > r->last_id)
			r->last_id = sqlite3_column_int64(row, 0);
}

static void open_table(struct reader *r, uint32_t stream, const struct rtl_type_info *type,
		       const struct reader_type *stored)
{
	struct table *t = reader_alloc(r, 1, sizeof(*t));
	struct table **tables = reallocarray(r->tables, r->table_count + 1, sizeof(struct table *));

	if (!t || !tables) {
		reader_fail(r, RTL_ENOMEM, "out of memory");
		return;
	}
	r->tables = tables;
	r->tables[r->table_count++] = t;
	*t = (struct table){.name = stored->table, .stream = stream, .type = type};
	t->columns = reader_alloc(r, type->field_count, sizeof(*t->columns));
	t->groups = reader_alloc(r, type->field_count, sizeof(*t->groups));
	t->row = reader_ask(r, "SELECT * FROM \"%w\" ORDER BY id", t->name);
	if (!r->error)
		check_table(r, t);
	for (uint32_t i = 0; !r->error && i < type->field_count; i++)
		if (*stored->fields[i].group && is_first_of_group(stored->fields, i))
			open_group(r, t, stored->fields, i);
	if (r->error)
		return;
	add_columns(r, t, stored->fields, true);
	add_columns(r, t, stored->fields, false);
	note_last(r, t);
	if (!r->error && !table_next(r, t)) {
		table_close(t);
		r->table_count--;
	}
}

/* Streams of one name and layout share their tables. */
static bool is_open(const struct reader *r, const char *name)
{
	for (size_t i = 0; i < r->table_count; i++)
		if (!strcmp(r->tables[i]->name, name))
			return true;
	return false;
}

int reader_open_tables(struct reader *r)
{
	for (uint32_t s = 0; s < r->stream_count; s++)
		for (uint32_t i = 0; !r->error && i < r->streams[s].info.type_count; i++) {
			const struct reader_type *type = &r->streams[s].types[i];

			if (type->table && !is_open(r, type->table))
				open_table(r, s, &r->streams[s].info.types[i], type);
		}
	return r->error;
}
