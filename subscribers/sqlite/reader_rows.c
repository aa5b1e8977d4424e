/* SPDX-License-Identifier: MIT */
/* reader_rows.c: rows of storage tables, and the events that they were. See reader.h. */
#include "array.h"
#include "plan.h"
#include "reader.h"
#include "wanted.h"

/* Columns that each storage table begins with. */
enum { ID, ORIGIN, TIME_NS, INSTANCE, CORRELATION };

static const char *const base_columns[PLAN_BASE] = {"id", "origin", "time_ns", "instance",
						    "correlation"};

/* Where a field is stored: in a column of the table, or of a group's. */
struct column {
	enum plan_how how;
	int cell;
	uint32_t group; /* its place in table.groups and 1; 0: none */
	uint32_t offset, size;
};

/* Rows of a group: images of the payload. */
struct group {
	struct id_rows rows;
	int cell;
	const uint8_t *image; /* of the event's */
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
	/* What was not stored as this repeats it (RTL_IN_DEBUG), and its stream; NULL: nothing. */
	const struct rtl_type_info *repeated;
	uint32_t repeated_stream;
};

/* ---- small tables */

/* What it had before stays with the reader. */
static bool grow(struct reader *r, struct id_rows *rows, size_t room)
{
	int64_t *ids = reader_alloc(r, room, sizeof(*ids));
	uint8_t *bytes = reader_alloc(r, room, rows->size);

	if (!ids || !bytes)
		return false;
	if (rows->count) {
		memcpy(ids, rows->ids, rows->count * sizeof(*ids));
		memcpy(bytes, rows->bytes, rows->count * rows->size);
	}
	rows->ids = ids;
	rows->bytes = bytes;
	return true;
}

void id_rows_load(struct reader *r, struct id_rows *rows, sqlite3_stmt *question, id_rows_take take,
		  const void *user)
{
	for (size_t room = 0; reader_next(r, &question);) {
		uint8_t *to;

		if (rows->count == room && !grow(r, rows, room = room ? 2 * room : 8))
			continue;
		to = (uint8_t *)rows->bytes + rows->count * rows->size;
		memset(to, 0, rows->size);
		rows->ids[rows->count] = sqlite3_column_int64(question, 0);
		/* references to an invalid one find none */
		rows->count += take(r, question, user, to);
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

	if (!rows->count)
		return NULL;
	if (guess < rows->count && rows->ids[guess] == id) /* none is missing, mostly */
		return (uint8_t *)rows->bytes + guess * rows->size;
	at = bsearch(&id, rows->ids, rows->count, sizeof(id), compare_ids);
	return at ? (uint8_t *)rows->bytes + (size_t)(at - rows->ids) * rows->size : NULL;
}

/* ---- values: each is put where it belongs; false: it is none that could be there */

static bool put_blob(sqlite3_value *value, const struct column *c, uint8_t *to)
{
	const void *bytes = sqlite3_value_blob(value);
	const bool good = bytes && (uint32_t)sqlite3_value_bytes(value) == c->size;

	if (good)
		memcpy(to, bytes, c->size);
	return good;
}

static bool put_real(sqlite3_value *value, const struct column *c, uint8_t *to)
{
	const double wide = sqlite3_value_double(value);
	const float narrow = (float)wide;

	memcpy(to, c->size == sizeof(wide) ? (const void *)&wide : (const void *)&narrow, c->size);
	return true;
}

static bool put(sqlite3_stmt *row, const struct column *c, const struct rtl_event *event,
		uint8_t *payload)
{
	/* one look at the row for type and value; nobody else uses its connection */
	sqlite3_value *value = sqlite3_column_value(row, c->cell);
	uint8_t *to = payload + c->offset;
	uint64_t number = 0;

	switch (sqlite3_value_type(value)) {
	case SQLITE_BLOB:
		return (c->how == PLAN_BYTES || c->how == PLAN_FLOAT) && put_blob(value, c, to);
	case SQLITE_FLOAT:
		return c->how == PLAN_FLOAT && put_real(value, c, to);
	case SQLITE_NULL:
		if (c->how == PLAN_WORD && !c->group)
			number = event->correlation;
		else if (c->how != PLAN_TIME && c->how != PLAN_UID && c->how != PLAN_STRING)
			return false;
		break;
	case SQLITE_INTEGER:
		if (c->how == PLAN_FLOAT || c->how == PLAN_BYTES)
			return false;
		number = (uint64_t)sqlite3_value_int64(value) +
			 (c->how == PLAN_TIME ? event->time_ns : 0);
		break;
	default:
		return false;
	}
	if (c->size == 4) /* quicker than a size that is not known */
		memcpy(to, &number, 4);
	else if (c->size == 8)
		memcpy(to, &number, 8);
	else
		memcpy(to, &number, c->size); /* little-endian */
	return true;
}

/* Puts bytes behind the payload. */
static bool append(struct rtl_event *event, uint8_t *payload, const void *bytes, uint32_t size)
{
	if (size > READER_EVENT_MAX - event->payload_size)
		return false;
	if (size)
		memcpy(payload + event->payload_size, bytes, size);
	event->payload_size += size;
	return true;
}

/* Arguments bring along all of the payload from where they or its rest begin. The host looks whether what
 * they refer to lies in it. */
static bool put_bytes(const uint8_t *bytes, uint32_t size, const struct column *c,
		      struct rtl_event *event, uint8_t *payload)
{
	const uint32_t fixed = event->type_info->payload_size;
	struct rtl_text place;
	uint32_t from;

	if (size < sizeof(place))
		return false;
	memcpy(&place, bytes, sizeof(place));
	bytes += sizeof(place);
	size -= (uint32_t)sizeof(place);
	from = place.offset < fixed ? place.offset : fixed;
	if (size > READER_EVENT_MAX - from || size < fixed - from ||
	    (uint64_t)place.offset + place.length > from + size)
		return false;
	if (event->payload_size == fixed) {
		memcpy(payload + from, bytes, size);
		event->payload_size = from + size;
	} else if (from + size <= event->payload_size) { /* a second set in one payload */
		memcpy(payload + place.offset, bytes + (place.offset - from), place.length);
	}
	memcpy(payload + c->offset, &place, sizeof(place));
	return true;
}

static bool put_args(struct reader *r, sqlite3_stmt *row, const struct column *c,
		     struct rtl_event *event, uint8_t *payload)
{
	const int64_t id = sqlite3_column_int64(row, c->cell);

	if (sqlite3_column_type(row, c->cell) == SQLITE_NULL)
		return true;
	if (!r->args || id != r->args_id) { /* else its row is the statement's still */
		sqlite3_reset(r->args);
		r->args_found =
			reader_find(r, &r->args, "SELECT bytes FROM rtl_args WHERE id = ?", id, 0);
		r->args_id = id;
	}
	return r->args_found &&
	       put_bytes(sqlite3_column_blob(r->args, 0),
			 (uint32_t)sqlite3_column_bytes(r->args, 0), c, event, payload);
}

/* The id of a string stands where the field is. */
static bool put_text(struct reader *r, const struct column *c, struct rtl_event *event,
		     uint8_t *payload)
{
	struct rtl_text place = {event->payload_size, 0};
	int64_t id;
	bool good;

	memcpy(&id, payload + c->offset, sizeof(id));
	good = reader_find(r, &r->string, READER_STRING_SQL, id, 0);
	if (good) {
		const void *text = sqlite3_column_blob(r->string, 0);

		place.length = (uint32_t)sqlite3_column_bytes(r->string, 0);
		good = append(event, payload, text, place.length);
		memcpy(payload + c->offset, &place, sizeof(place));
	}
	sqlite3_reset(r->string);
	return good;
}

/* ---- events */

static bool fill(struct reader *r, const struct table *t, struct rtl_event *event, uint8_t *payload)
{
	bool good = true;

	for (uint32_t i = 0; good && i < t->group_count; i++) {
		struct group *g = &t->groups[i];

		g->image = find(&g->rows, sqlite3_column_int64(t->row, g->cell));
		good = g->image;
	}
	for (uint32_t i = 0; good && i < t->column_count; i++) {
		const struct column *c = &t->columns[i];

		if (c->group)
			memcpy(payload + c->offset, t->groups[c->group - 1].image + c->offset,
			       c->size);
		else if (c->how == PLAN_ARGS)
			good = put_args(r, t->row, c, event, payload);
		else
			good = put(t->row, c, event, payload);
		if (good && c->how == PLAN_TEXT)
			good = put_text(r, c, event, payload);
	}
	return good;
}

int64_t table_id(const struct table *table)
{
	return table->id;
}

/* Adds the event that the last one repeats. */
static void take_repeated(struct reader *r, const struct table *t,
			  const struct reader_process *process)
{
	struct rtl_event *event = &r->events[r->event_count++];

	*event = event[-1];
	event->type = t->repeated->type;
	event->stream = process->streams[t->repeated_stream];
	event->type_info = t->repeated;
	event->payload_size = t->repeated->payload_size;
}

int table_take(struct reader *r, struct table *t)
{
	static const struct reader_origin nobody;
	const struct reader_origin *found = find(&r->origins, sqlite3_column_int64(t->row, ORIGIN));
	const bool known = found && found->process < r->begun;
	const struct reader_origin *origin = known ? found : &nobody;
	const struct reader_process *process = &r->processes[origin->process];
	struct rtl_event *event;
	uint8_t *payload;

	if (!r->begun)
		return reader_fail(r, RTL_EFORMAT, "%s has events of no process", t->name);
	if (r->event_count >= READER_EVENTS - 1 || r->used > READER_PAYLOADS - READER_EVENT_MAX)
		reader_give(r);
	event = &r->events[r->event_count++];
	payload = r->payloads + r->used;
	memset(payload, 0, t->type->payload_size);
	*event = (struct rtl_event){.struct_size = sizeof(*event),
				    .type = t->type->type,
				    .stream = process->streams[t->stream],
				    .type_info = t->type,
				    .process = process->theirs,
				    .tid = origin->tid,
				    .payload_size = t->type->payload_size,
				    .time_ns = (uint64_t)sqlite3_column_int64(t->row, TIME_NS),
				    .uid = origin->uid,
				    .parent_uid = origin->parent_uid,
				    .instance = (uint64_t)sqlite3_column_int64(t->row, INSTANCE),
				    .payload = payload};
	event->correlation = sqlite3_column_type(t->row, CORRELATION) == SQLITE_NULL
				     ? event->instance
				     : (uint64_t)sqlite3_column_int64(t->row, CORRELATION);
	if (!known || !fill(r, t, event, payload)) {
		event->type = 0; /* of no type: the host counts it */
		r->rejected++;
	} else if (t->repeated) {
		take_repeated(r, t, process);
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
}

/* ---- opening */

/* Cells are numbered as the writer does it; their names must agree. */
static void check_name(struct reader *r, const char *table, sqlite3_stmt *row, uint32_t cell,
		       const char *name, const char *suffix)
{
	const char *is = row ? sqlite3_column_name(row, (int)cell) : NULL;
	const size_t length = strlen(name);

	if (!is || strncmp(is, name, length) != 0 || strcmp(is + length, suffix) != 0)
		reader_fail(r, RTL_EFORMAT, "%s has no column %s%s where it should be", table, name,
			    suffix);
}

static bool take_group(struct reader *r, sqlite3_stmt *row, const void *user, void *to)
{
	const struct rtl_event none = {0};
	const struct table *t = user;
	bool good = true;

	for (uint32_t i = 0; good && i < t->column_count; i++)
		if (t->columns[i].group == t->group_count)
			good = put(row, &t->columns[i], &none, to);
	return good;
}

static void open_group(struct reader *r, struct table *t, const struct plan *plan,
		       const struct plan_group *planned)
{
	struct group *g = &t->groups[t->group_count++];
	sqlite3_stmt *row =
		reader_ask(r, "SELECT * FROM \"%w_g%u\" ORDER BY id", t->name, planned->number);

	g->cell = (int)planned->cell;
	g->rows.size = t->type->payload_size;
	for (uint32_t i = 0; row && i < plan->count; i++)
		if (plan->list[i].group == planned->number) {
			t->columns[i].group = t->group_count;
			check_name(r, t->name, row, plan->list[i].cell, plan->list[i].name, "");
		}
	id_rows_load(r, &g->rows, row, take_group, t);
}

static void open_columns(struct reader *r, struct table *t, const struct plan *plan)
{
	for (uint32_t i = 0; i < PLAN_BASE; i++)
		check_name(r, t->name, t->row, i, base_columns[i], "");
	for (uint32_t i = 0; i < plan->count; i++) {
		const struct plan_column *c = &plan->list[i];
		const struct rtl_field *f = c->field;

		t->columns[t->column_count++] =
			(struct column){c->how, (int)c->cell, 0, f->offset, f->size};
		if (!c->group)
			check_name(r, t->name, t->row, c->cell, c->name,
				   c->how == PLAN_TIME ? "_rel" : "");
		if (t->type->payload_size > RTL_PAYLOAD_MAX || f->offset > t->type->payload_size ||
		    f->size > t->type->payload_size - f->offset)
			reader_fail(r, RTL_EFORMAT, "field %s of %s lies outside of the payload",
				    f->name, t->name);
	}
	for (uint32_t i = 0; !r->error && i < plan->group_count; i++)
		open_group(r, t, plan, &plan->groups[i]);
}

/* They bring what lies behind the fixed part. */
static void put_args_first(struct table *t)
{
	for (uint32_t i = 0, first = 0; i < t->column_count; i++)
		if (t->columns[i].how == PLAN_ARGS) {
			const struct column args = t->columns[i];

			t->columns[i] = t->columns[first];
			t->columns[first++] = args;
		}
}

static void note_last(struct reader *r, const struct table *t)
{
	sqlite3_stmt *row = reader_ask(r, "SELECT max(id) FROM \"%w\"", t->name);

	while (reader_next(r, &row))
		if (sqlite3_column_int64(row, 0) > r->last_id)
			r->last_id = sqlite3_column_int64(row, 0);
}

/* The type of the stream without ".debug" that a type repeats, if it is not stored. */
static void find_repeated(const struct reader *r, struct table *t)
{
	for (uint32_t s = 0; s < r->stream_count; s++) {
		const struct reader_stream *stream = &r->streams[s];

		if (!wanted_is_debug(r->streams[t->stream].info.name, stream->info.name))
			continue;
		for (uint32_t i = 0; i < stream->info.type_count; i++) {
			const struct rtl_type_info *type = &reader_type(stream, i)->info;

			if (type->repeated_by == (RTL_IN_DEBUG | t->type->type) &&
			    type->payload_size <= t->type->payload_size &&
			    !reader_type(stream, i)->table) {
				t->repeated = type;
				t->repeated_stream = s;
			}
		}
	}
}

static void open_table(struct reader *r, uint32_t stream, const struct rtl_type_info *type,
		       const char *name)
{
	struct table *t = reader_alloc(r, 1, sizeof(*t));
	struct table **place = t ? ARRAY_ADD(r->tables, r->table_count) : NULL;
	struct plan plan;

	if (place)
		*place = t;
	if (!place || !plan_init(&plan, type)) {
		reader_fail(r, RTL_ENOMEM, "out of memory");
		return;
	}
	*t = (struct table){.name = name, .stream = stream, .type = type};
	t->columns = reader_alloc(r, plan.count, sizeof(*t->columns));
	t->groups = reader_alloc(r, plan.group_count, sizeof(*t->groups));
	t->row = reader_ask(r, "SELECT * FROM \"%w\" ORDER BY id", name);
	if (!r->error)
		open_columns(r, t, &plan);
	put_args_first(t);
	find_repeated(r, t);
	plan_fini(&plan);
	if (!r->error)
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
			const struct reader_type *type = reader_type(&r->streams[s], i);

			if (type->table && !is_open(r, type->table))
				open_table(r, s, &type->info, type->table);
		}
	return r->error;
}
