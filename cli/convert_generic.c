/* SPDX-License-Identifier: MIT */
/*
 * convert_generic.c: streams that have tables by their description (rtl_type, rtl_field). What has
 * a begin and an end is a slice, all else a mark, as libjson_sub.so shows their events.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "convert.h"

/* Columns that each query has before the fields. */
enum { PROCESS, BEGIN, END, TID, UID, INSTANCE, CORRELATION, FIELDS };

#define FIELDS_MOST (WORK_VALUES / 2 - 8)

enum how { AS_MARK, AS_SLICE, AS_BEGIN, AS_END };

struct field {
	struct timeline_name *key, *end_key;
	enum timeline_value_kind kind;
};

struct convert_type {
	struct convert_type *next, *begin; /* of an end: its begin's */
	struct convert_input *input;
	int64_t stream;
	uint16_t number;
	enum how how;
	struct timeline_name *name, *category;
	int string, text, gpu, queue; /* fields, or -1 */
	int begin_ns, end_ns;
	int field_count;
	struct field fields[FIELDS_MOST];
};

/* A begin that waits for its end. */
struct opened {
	const struct convert_type *type;
	struct work_process *process;
	struct work_other other;
	char *name;
	uint32_t count;
	struct timeline_value values[];
};

/* ---- types ---- */

static enum timeline_value_kind kind_of(const char *kind)
{
	static const struct {
		const char *name;
		enum timeline_value_kind kind;
	} kinds[] = {
		{"uint", TIMELINE_UINT}, {"time", TIMELINE_UINT},  {"int", TIMELINE_INT},
		{"bool", TIMELINE_BOOL}, {"float", TIMELINE_REAL}, {"address", TIMELINE_HEX},
		{"uid", TIMELINE_HEX},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kind, kinds[i].name))
			return kinds[i].kind;
	return TIMELINE_TEXT;
}

static const char *text_at(sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return text ? text : "";
}

static void add_field(struct convert *convert, struct convert_type *type, const char *name,
		      const char *kind)
{
	struct field *field = &type->fields[type->field_count];
	/* what readers of Kineto's names take for theirs */
	const bool is_taken = convert->work.is_kineto &&
			      (!strcmp(name, "stream") || !strcmp(name, "correlation"));
	char begin[256], end[256];

	snprintf(begin, sizeof(begin), "%s%s", name, is_taken ? "_" : "");
	snprintf(end, sizeof(end), "end_%s", name);
	field->key = timeline_intern(&convert->timeline, begin);
	field->end_key = timeline_intern(&convert->timeline, end);
	field->kind = kind_of(kind);
	if (!strcmp(name, "begin_ns") && !strcmp(kind, "time"))
		type->begin_ns = type->field_count;
	if (!strcmp(name, "end_ns") && !strcmp(kind, "time"))
		type->end_ns = type->field_count;
	if (type->string < 0 && !strcmp(kind, "string"))
		type->string = type->field_count;
	if (type->text < 0 && !strcmp(kind, "text"))
		type->text = type->field_count;
	if (!strcmp(name, "gpu"))
		type->gpu = type->field_count;
	if (!strcmp(name, "queue"))
		type->queue = type->field_count;
	type->field_count++;
}

/* Its fields, and the query of its rows in *sql, to be freed. */
static int read_fields(struct convert *convert, struct convert_type *type, const char *table,
		       char **sql)
{
	sqlite3_str *columns = sqlite3_str_new(type->input->db);
	sqlite3_stmt *rows = NULL;

	if (sqlite3_prepare_v2(type->input->db,
			       "SELECT name, " CONVERT_COLUMN ", kind FROM rtl_field"
			       " WHERE stream = ?1 AND type = ?2 AND column_name IS NOT NULL"
			       " ORDER BY position",
			       -1, &rows, NULL) != SQLITE_OK) {
		sqlite3_free(sqlite3_str_finish(columns));
		return convert_refuse(type->input);
	}
	sqlite3_bind_int64(rows, 1, type->stream);
	sqlite3_bind_int(rows, 2, type->number);
	while (sqlite3_step(rows) == SQLITE_ROW && type->field_count < (int)FIELDS_MOST) {
		sqlite3_str_appendf(columns, ", \"%w\"", text_at(rows, 1));
		add_field(convert, type, text_at(rows, 0), text_at(rows, 2));
	}
	sqlite3_finalize(rows);
	if (type->begin_ns >= 0 && type->end_ns >= 0)
		type->how = AS_SLICE;
	*sql = sqlite3_mprintf("SELECT process, %s, %s, tid, uid, instance, correlation%s FROM"
			       " \"%w\" ORDER BY 3",
			       type->how == AS_SLICE ? "ifnull(begin_ns, time_ns)" : "time_ns",
			       type->how == AS_SLICE ? "ifnull(end_ns, time_ns)" : "time_ns",
			       sqlite3_str_value(columns) ? sqlite3_str_value(columns) : "", table);
	sqlite3_free(sqlite3_str_finish(columns));
	return *sql ? CLI_OK : cli_failed("out of memory");
}

static struct convert_type *find_type(struct convert *convert, const struct convert_input *input,
				      int64_t stream, int number)
{
	struct convert_type *type = convert->types;

	while (type && (type->input != input || type->stream != stream || type->number != number))
		type = type->next;
	return type;
}

/* ---- rows ---- */

static struct timeline_name *tracepoint_name(struct convert *convert, struct convert_input *input,
					     int64_t process, int64_t uid)
{
	const uint64_t key = hash_number((uint64_t)uid) + (uint64_t)process;
	const uint64_t known = uid ? map_get(&input->tracepoints, key) : 1;
	sqlite3_stmt *question = NULL;
	struct timeline_name *name = NULL;

	if (known)
		return known > 1 ? (struct timeline_name *)(uintptr_t)known : NULL;
	if (sqlite3_prepare_v2(input->db,
			       "SELECT name FROM rtl_tracepoint WHERE process = ?1 AND uid = ?2",
			       -1, &question, NULL) == SQLITE_OK) {
		sqlite3_bind_int64(question, 1, process);
		sqlite3_bind_int64(question, 2, uid);
		if (sqlite3_step(question) == SQLITE_ROW && *text_at(question, 0))
			name = timeline_intern(&convert->timeline, text_at(question, 0));
	}
	sqlite3_finalize(question);
	if (!map_set(&input->tracepoints, key, name ? (uint64_t)(uintptr_t)name : 1))
		convert->timeline.out_of_memory = true;
	return name;
}

/* What it is called: as its tracepoint is, by a string or text in it, or as its type. */
static const char *set_name(struct convert *convert, struct convert_source *source,
			    const struct convert_type *type, struct work_other *other)
{
	const char *string = type->string < 0 ? "" : text_at(source->rows, FIELDS + type->string);
	const char *text = type->text < 0 ? "" : text_at(source->rows, FIELDS + type->text);

	other->name =
		tracepoint_name(convert, source->input, sqlite3_column_int64(source->rows, PROCESS),
				sqlite3_column_int64(source->rows, UID));
	if (other->name)
		return other->name->text;
	other->text = *string ? string : *text ? text : type->name->text;
	other->text_length = (uint32_t)strlen(other->text);
	return other->text;
}

static bool set_value(struct timeline_value *value, const struct field *field, sqlite3_stmt *row,
		      int column)
{
	*value = (struct timeline_value){.key = field->key, .kind = (uint16_t)field->kind};
	if (sqlite3_column_type(row, column) == SQLITE_NULL)
		return false;
	if (field->kind == TIMELINE_REAL) {
		value->real = sqlite3_column_double(row, column);
	} else if (field->kind == TIMELINE_TEXT) {
		value->text = text_at(row, column);
		value->length = (uint32_t)sqlite3_column_bytes(row, column);
	} else {
		value->integer = sqlite3_column_int64(row, column);
	}
	return true;
}

static void add_values(struct convert *convert, struct convert_source *source,
		       const struct convert_type *type)
{
	const uint64_t correlation = convert_uint(source, CORRELATION);

	work_begin_values(&convert->work);
	if (correlation && !convert->work.is_kineto)
		work_add(&convert->work, WORK_CORR_ID, TIMELINE_UINT, correlation);
	for (int i = 0; i < type->field_count; i++) {
		struct timeline_value value;

		if (set_value(&value, &type->fields[i], source->rows, FIELDS + i))
			*work_value(&convert->work, value.key, value.kind) = value;
	}
}

/* Whether it has both its times. */
static bool is_timed(const struct convert_source *source, const struct convert_type *type)
{
	return type->how == AS_SLICE &&
	       sqlite3_column_type(source->rows, FIELDS + type->begin_ns) != SQLITE_NULL &&
	       sqlite3_column_type(source->rows, FIELDS + type->end_ns) != SQLITE_NULL;
}

static void take_alone(struct convert *convert, struct convert_source *source,
		       struct work_process *process)
{
	const struct convert_type *type = source->what;
	struct work_other other = {
		.category = type->category,
		.is_mark = !is_timed(source, type),
		.begin_ns = convert_uint(source, BEGIN),
		.end_ns = convert_uint(source, END),
		.tid = (uint32_t)convert_uint(source, TID),
	};

	if (!other.is_mark && type->gpu >= 0 && convert_uint(source, FIELDS + type->gpu)) {
		other.on_gpu = true;
		other.gpu = (uint32_t)convert_uint(source, FIELDS + type->gpu);
		other.queue =
			type->queue < 0 ? 0 : (uint32_t)convert_uint(source, FIELDS + type->queue);
	}
	if ((other.on_gpu && !convert_wants_gpu(convert, other.gpu)) ||
	    !convert_wants(convert, set_name(convert, source, type, &other)))
		return;
	add_values(convert, source, type);
	work_other(&convert->work, process, &other);
}

static void free_opened(struct opened *opened)
{
	for (uint32_t i = 0; i < opened->count; i++)
		if (opened->values[i].kind == TIMELINE_TEXT)
			free((char *)(size_t)opened->values[i].text);
	free(opened->name);
	free(opened);
}

static struct pairing_begin pair_of(struct convert_source *source, const struct convert_type *begin,
				    const struct work_process *process)
{
	return (struct pairing_begin){
		.owner = begin,
		.instance = convert_uint(source, INSTANCE),
		.process = process->number,
		.has_group = true,
	};
}

/* Its values live until its end comes. */
static void take_begin(struct convert *convert, struct convert_source *source,
		       struct work_process *process)
{
	const struct convert_type *type = source->what;
	struct opened *opened = calloc(1, sizeof(*opened) + (size_t)type->field_count *
								    sizeof(struct timeline_value));
	struct pairing_begin begin = pair_of(source, type, process);

	begin.group = opened;
	if (!opened || !pairing_put(&convert->pairing, &begin)) {
		free(opened);
		take_alone(convert, source, process);
		return;
	}
	opened->type = type;
	opened->process = process;
	opened->other = (struct work_other){.category = type->category,
					    .begin_ns = convert_uint(source, BEGIN),
					    .tid = (uint32_t)convert_uint(source, TID)};
	opened->name = strdup(set_name(convert, source, type, &opened->other));
	for (int i = 0; i < type->field_count; i++) {
		struct timeline_value *value = &opened->values[opened->count];

		if (!set_value(value, &type->fields[i], source->rows, FIELDS + i))
			continue;
		if (value->kind == TIMELINE_TEXT)
			value->text = strndup(value->text, value->length);
		opened->count += value->kind != TIMELINE_TEXT || value->text;
	}
}

static bool same_value(const struct timeline_value *a, const struct timeline_value *b)
{
	if (a->key != b->key || a->kind != b->kind)
		return false;
	return a->kind == TIMELINE_TEXT
		       ? a->length == b->length && memcmp(a->text, b->text, a->length) == 0
		       : a->number == b->number;
}

/* What the end has otherwise than its begin; a text that only the begin has is not repeated. */
static void add_changes(struct convert *convert, struct convert_source *source,
			const struct convert_type *type, const struct opened *opened)
{
	for (int i = 0; i < type->field_count; i++) {
		struct timeline_value value;
		bool told = false;

		if (!set_value(&value, &type->fields[i], source->rows, FIELDS + i) ||
		    (value.kind == TIMELINE_TEXT && !value.length))
			continue;
		for (uint32_t k = 0; k < opened->count && !told; k++)
			told = same_value(&opened->values[k], &value);
		if (told)
			continue;
		value.key = type->fields[i].end_key;
		*work_value(&convert->work, value.key, value.kind) = value;
	}
}

static void show_opened(struct convert *convert, struct opened *opened, uint64_t end_ns)
{
	opened->other.end_ns = end_ns;
	if (opened->name && !opened->other.name) {
		opened->other.text = opened->name;
		opened->other.text_length = (uint32_t)strlen(opened->name);
	}
	if (opened->name && convert_wants(convert, opened->name))
		work_other(&convert->work, opened->process, &opened->other);
	free_opened(opened);
}

static void begin_opened_values(struct convert *convert, const struct opened *opened)
{
	work_begin_values(&convert->work);
	for (uint32_t i = 0; i < opened->count; i++)
		*work_value(&convert->work, opened->values[i].key, opened->values[i].kind) =
			opened->values[i];
}

static void take_end(struct convert *convert, struct convert_source *source,
		     struct work_process *process)
{
	const struct convert_type *type = source->what;
	struct pairing_begin begin = pair_of(source, type->begin, process);

	if (!pairing_take(&convert->pairing, &begin)) {
		take_alone(convert, source, process);
		return;
	}
	begin_opened_values(convert, begin.group);
	add_changes(convert, source, type, begin.group);
	show_opened(convert, begin.group, convert_uint(source, END));
}

void convert_generic_end(struct convert *convert)
{
	for (size_t i = 0; i < convert->pairing.hash.capacity;) {
		const struct pairing_begin *at = pairing_at(&convert->pairing, i);
		struct pairing_begin begin;
		struct opened *opened;

		if (!at) {
			i++;
			continue;
		}
		begin = *at;
		opened = begin.group;
		pairing_take(&convert->pairing, &begin); /* another one may take its place */
		begin_opened_values(convert, opened);
		show_opened(convert, opened,
			    convert->timeline.latest_ns > opened->other.begin_ns
				    ? convert->timeline.latest_ns
				    : opened->other.begin_ns);
	}
}

/* ---- all of them ---- */

static int add_type(struct convert *convert, struct convert_input *input, sqlite3_stmt *row)
{
	struct convert_type *type = calloc(1, sizeof(*type));
	char *sql = NULL;
	int status;

	if (!type)
		return cli_failed("out of memory");
	type->next = convert->types;
	convert->types = type;
	type->input = input;
	type->stream = sqlite3_column_int64(row, 0);
	type->number = (uint16_t)sqlite3_column_int(row, 1);
	type->string = type->text = type->gpu = type->queue = -1;
	type->begin_ns = type->end_ns = -1;
	type->name = timeline_intern(&convert->timeline, text_at(row, 2));
	type->category = timeline_intern(&convert->timeline, text_at(row, 4));
	status = read_fields(convert, type, text_at(row, 3), &sql);
	if (status)
		return status;
	type->begin = type->how == AS_MARK && type->number && work_begins(type->number - 1)
			      ? find_type(convert, input, type->stream, type->number - 1)
			      : NULL;
	if (type->begin)
		type->how = AS_END;
	else if (type->how == AS_MARK && work_begins(type->number))
		type->how = AS_BEGIN;
	status = convert_add(convert, input,
			     type->how == AS_BEGIN ? take_begin
			     : type->how == AS_END ? take_end
						   : take_alone,
			     type, sql);
	sqlite3_free(sql);
	return status;
}

int convert_generic(struct convert *convert, struct convert_input *input)
{
	/* Of rtl's own streams what is shown otherwise is left out, and begins whose ends say all that they
	 * say. */
	static const char sql[] =
		"SELECT t.stream, t.type, ifnull(t.name, 'event'), " CONVERT_VIEW ", s.name"
		" FROM rtl_type AS t JOIN rtl_stream AS s USING (stream)"
		" WHERE t.table_name NOT NULL AND (s.name <> 'rtl.hsa' OR t.name = 'barrier_end')"
		" AND (s.name <> 'rtl.hsa.counter' OR t.name NOT IN ('value', 'interval'))"
		" AND s.name NOT IN ('rtl.hsa.copy', 'rtl.hsa.mem', 'rtl.hsa.call',"
		" 'rtl.hsa.call.debug', 'rtl.hip.call', 'rtl.hip.call.debug', 'rtl.roctx')"
		" AND NOT (t.type % 2 = 0 AND EXISTS"
		" (SELECT 1 FROM rtl_field AS f WHERE f.stream = t.stream AND f.type = t.type + 1"
		" AND f.name = 'begin_ns') AND EXISTS (SELECT 1 FROM rtl_field AS f WHERE"
		" f.stream = t.stream AND f.type = t.type + 1 AND f.name = 'end_ns'))"
		" GROUP BY t.table_name ORDER BY t.stream, t.type";
	sqlite3_stmt *rows = NULL;
	int status = CLI_OK;

	if (sqlite3_prepare_v2(input->db, sql, -1, &rows, NULL) != SQLITE_OK)
		return convert_refuse(input);
	while (!status && sqlite3_step(rows) == SQLITE_ROW)
		status = add_type(convert, input, rows);
	sqlite3_finalize(rows);
	return status;
}

void convert_generic_fini(struct convert *convert)
{
	for (size_t i = 0; i < convert->pairing.hash.capacity; i++)
		if (pairing_at(&convert->pairing, i))
			free_opened(pairing_at(&convert->pairing, i)->group);
	pairing_fini(&convert->pairing);
	for (struct convert_type *type = convert->types, *next; type; type = next) {
		next = type->next;
		free(type);
	}
}
