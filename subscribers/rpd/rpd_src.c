/* SPDX-License-Identifier: MIT */
/* The source librpd_src.so: reads SQLite files in RPD's shape (rocmProfileData, schema versions 1 to 3), whoever made
 * them. rpd.sql says which event a row is: a question for each type, whose answers SQLite sorts by their ends, and
 * whose columns have the names of the event's fields. Here they are merged and put into payloads. Each pid is a
 * process; a tracepoint's id is its kind and the id of its name. Counters, monitors, stack frames and arguments of
 * calls are left out. One thread at a time; nothing in a file is believed. */
#include <rtl/events.h>
#include <rtl/publish.h>
#include <rtl/source.h>

#include "embed.h"
#include "events/events.h"
#include "host.h"
#include "map.h"
#include "sqlite_open.h"

EMBED(rpd_sql, RTL_RPD_FOLDER "/rpd.sql");

enum { AT_A_TIME = 2048, COLUMNS = 32, ROWS = 7, PAYLOAD = 4352, ROOM = 1 << 20 };
/* The first columns of events. Kinds of tracepoints: the high byte of their ids. */
enum { PID, TID, TIME, UID, INSTANCE, CORRELATION, FIELDS };
enum { KERNEL = 1, FUNCTION, COPY, KIND_SHIFT = 56 };

/* The answers to a question: events of one type. */
struct rows {
	sqlite3_stmt *at; /* NULL: there are no more */
	uint64_t time_ns; /* of the next */
	struct rtl_stream_info info;
	const struct rtl_type_info *type;
	const struct rtl_field *fields[COLUMNS]; /* NULL: the column is none */
};

struct process {
	const struct rtl_process *theirs;
	const struct rtl_stream_info *streams[ROWS]; /* the host's; NULL: not told yet */
};

struct reader {
	const struct rtl_source_host *host;
	char *path;
	sqlite3 *db;
	int error; /* the first, after its line */
	struct rows rows[ROWS];
	size_t row_count;
	sqlite3_stmt *string, *category;
	struct map strings, categories, processes;
	struct rtl_metadata metadata;
	struct rtl_event events[AT_A_TIME];
	uint64_t payloads[(ROOM + PAYLOAD) / 8];
	size_t event_count, used;
};

static int fail(struct reader *r, int error, const char *why)
{
	char line[4096];

	snprintf(line, sizeof(line), "%.3000s cannot be read: %.900s", r->path, why);
	if (!r->error)
		r->host->report(r->host, RTL_LEVEL_ERROR, line);
	return r->error ? r->error : (r->error = error);
}

/* The next row; false: that was all, or there is an error, and the question is gone. */
static bool next(struct reader *r, sqlite3_stmt **question)
{
	const int rc = *question && !r->error ? sqlite3_step(*question) : SQLITE_DONE;

	if (rc == SQLITE_ROW)
		return true;
	if (rc != SQLITE_DONE)
		fail(r, RTL_EFORMAT, sqlite3_errmsg(r->db));
	sqlite3_finalize(*question);
	*question = NULL;
	return false;
}

/* A text by its id; NULL: there is none. Valid until the next question. */
static const char *look_up(sqlite3_stmt *question, uint64_t id)
{
	sqlite3_reset(question);
	sqlite3_bind_int64(question, 1, (int64_t)id);
	return sqlite3_step(question) == SQLITE_ROW ? (const char *)sqlite3_column_text(question, 0)
						    : NULL;
}

/* The same, until the end: from the texts that are there, else they get it. */
static const char *keep(struct map *texts, sqlite3_stmt *question, uint64_t id)
{
	char *text = map_pointer(texts, id);
	const char *found = text || !id ? NULL : look_up(question, id);

	if (!found || ((text = strdup(found)) && map_set(texts, id, (uintptr_t)text)))
		return text;
	free(text);
	return NULL;
}

static const char *string(void *instance, const struct rtl_process *process, uint64_t id)
{
	struct reader *r = instance;

	return keep(&r->strings, r->string, id);
}

static bool tracepoint(void *instance, const struct rtl_process *process, uint64_t uid,
		       struct rtl_tracepoint *out)
{
	static const char *const kinds[] = {"", "kernel", "function", "copy"};
	struct reader *r = instance;
	const uint64_t kind = uid >> KIND_SHIFT, id = uid << 8 >> 8;
	const char *category = kind == FUNCTION ? keep(&r->categories, r->category, id) : NULL;
	const char *name =
		kind == COPY ? rtl_hsa_copy_direction_text((uint32_t)id) : string(r, process, id);
	const struct rtl_tracepoint tp = {.struct_size = out->struct_size,
					  .metadata_count = category != NULL,
					  .uid = uid,
					  .kind = kind <= COPY ? kinds[kind] : "",
					  .name = name ? name : "",
					  .source = "",
					  .module = "",
					  .metadata = &r->metadata};

	r->metadata = (struct rtl_metadata){
		.struct_size = sizeof(r->metadata), .key = "category", .value = category};
	memcpy(out, &tp, tp.struct_size < sizeof(tp) ? tp.struct_size : sizeof(tp));
	return *tp.kind;
}

/* ---- events */

static struct process *process_of(struct reader *r, uint64_t pid, uint64_t ns, const char *program)
{
	struct process *p = map_pointer(&r->processes, pid);
	const struct rtl_process info = {.struct_size = sizeof(info),
					 .pid = (int32_t)pid,
					 .start_ns = ns,
					 .program = program,
					 .rank = -1};

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (p && (p->theirs = r->host->process(r->host, &info)) &&
	    map_set(&r->processes, pid, (uintptr_t)p))
		return p;
	free(p);
	fail(r, RTL_ENOMEM, "out of memory");
	return NULL;
}

/* A number, also one that is written as "0x7f2a"; 0 for what is none. */
static uint64_t number(sqlite3_stmt *row, int column)
{
	return sqlite3_column_type(row, column) == SQLITE_TEXT
		       ? strtoull((const char *)sqlite3_column_text(row, column), NULL, 0)
		       : (uint64_t)sqlite3_column_int64(row, column);
}

/* Puts a text behind the `size` bytes of a payload. How many there are then. */
static size_t put_text(const struct rtl_field *field, sqlite3_stmt *row, int i, char *to,
		       size_t size)
{
	const char *from = (const char *)sqlite3_column_text(row, i);
	const size_t bytes = from ? (size_t)sqlite3_column_bytes(row, i) : 0;
	const size_t length = bytes < PAYLOAD - size ? bytes : PAYLOAD - size;
	const struct rtl_text text = {(uint32_t)size, (uint32_t)length};

	memcpy(to + field->offset, &text, sizeof(text));
	memcpy(to + size, from ? from : "", length);
	return size + length;
}

static void take(struct reader *r, const struct rows *rows)
{
	struct process *p = process_of(r, number(rows->at, PID), 0, NULL);
	const struct rtl_stream_info **stream = p ? &p->streams[rows - r->rows] : NULL;
	char *payload = (char *)&r->payloads[r->used];
	size_t size = rows->type->payload_size;

	if (p && !*stream && !(*stream = r->host->stream(r->host, p->theirs, &rows->info)))
		fail(r, RTL_ENOMEM, "out of memory, or too many streams");
	if (!p || r->error)
		return;
	memset(payload, 0, size);
	for (int i = FIELDS; i < COLUMNS; i++)
		if (rows->fields[i] && rows->fields[i]->kind == RTL_KIND_TEXT)
			size = put_text(rows->fields[i], rows->at, i, payload, size);
		else if (rows->fields[i])
			memcpy(payload + rows->fields[i]->offset, /* least bytes first */
			       &(uint64_t){number(rows->at, i)}, rows->fields[i]->size);
	r->events[r->event_count++] =
		(struct rtl_event){.struct_size = sizeof(struct rtl_event),
				   .type = rows->type->type,
				   .stream = *stream,
				   .process = p->theirs,
				   .tid = (uint32_t)number(rows->at, TID),
				   .time_ns = rows->time_ns,
				   .uid = number(rows->at, UID),
				   .instance = number(rows->at, INSTANCE),
				   .correlation = number(rows->at, CORRELATION),
				   .payload_size = (uint32_t)size,
				   .payload = payload};
	r->used += (size + 7) / 8;
}

static void advance(struct reader *r, struct rows *rows)
{
	rows->time_ns = next(r, &rows->at) ? number(rows->at, TIME) & INT64_MAX : UINT64_MAX;
}

static int read_some(void *instance)
{
	struct reader *r = instance;

	r->event_count = r->used = 0;
	while (!r->error && r->event_count < AT_A_TIME && r->used < ROOM / 8) {
		struct rows *first = r->rows;

		for (size_t i = 1; i < r->row_count; i++) /* of one time the first: calls */
			if (r->rows[i].time_ns < first->time_ns)
				first = &r->rows[i];
		if (!first->at)
			break;
		take(r, first);
		advance(r, first);
	}
	if (r->event_count && r->host->events(r->host, r->events, r->event_count))
		return 0;
	return r->error ? r->error : r->event_count > 0;
}

/* ---- opening */

/* Whether a table, no view, has that column; NULL: whether it is there. */
static bool has(sqlite3 *db, const char *table, const char *column)
{
	return !sqlite3_table_column_metadata(db, "main", table, column, NULL, NULL, NULL, NULL,
					      NULL);
}

static bool reads(const char *path)
{
	sqlite3 *db;
	const bool is = !sqlite_open(path, SQLITE_OPEN_AS_OF_NOW, &db) &&
			(has(db, "rocpd_api", NULL) || has(db, "rocpd_op", NULL)) &&
			!has(db, "rtl_origin", NULL);

	sqlite3_close(db);
	return is;
}

/* The file's tables for rpd.sql. Behind a bar: what older schemas call it. What is not there is NULL. */
static const char *const tables[][3] = {
	{"rpd_string", "rocpd_string", "id string"},
	{"rpd_ustring", "rocpd_ustring|rocpd_string", "id string"},
	{"rpd_api", "rocpd_api", "id pid tid start end apiName_id domain_id category_id args_id"},
	{"rpd_op", "rocpd_op", "id gpuId queueId sequenceId start end description_id opType_id"},
	{"rpd_link", "rocpd_api_ops", "api_id op_id"},
	{"rpd_launch", "rocpd_kernelapi|rocpd_kernelop",
	 "api_ptr_id|op_ptr_id gridX gridY gridZ workgroupX workgroupY workgroupZ"
	 " groupSegmentSize privateSegmentSize stream kernelName_id"},
	{"rpd_copy", "rocpd_copyapi|rocpd_copyop",
	 "api_ptr_id|op_ptr_id size width height kind dst src dstDevice srcDevice stream"},
};

static void define(struct reader *r, const char *view, const char *from, const char *columns)
{
	char table[64], name[64], other[64], *text;
	sqlite3_str *sql = sqlite3_str_new(r->db);

	if (sscanf(from, "%63[^|]|%63s", table, other) == 2 && !has(r->db, table, NULL))
		strcpy(table, other);
	sqlite3_str_appendf(sql, "CREATE TEMP VIEW %s AS SELECT 0", view);
	for (int n = 0, count;
	     (count = sscanf(columns, " %63[^| ]%n|%63s%n", name, &n, other, &n)) > 0; columns += n)
		sqlite3_str_appendf(sql,
				    has(r->db, table, name)                 ? ", \"%w\""
				    : count > 1 && has(r->db, table, other) ? ", %.0s\"%w\" AS %s"
									    : ", NULL AS \"%w\"",
				    name, other, name);
	sqlite3_str_appendf(sql, has(r->db, table, NULL) ? " FROM main.%s" : " WHERE 0", table);
	text = sqlite3_str_finish(sql);
	if (sqlite3_exec(r->db, text, NULL, NULL, NULL) != SQLITE_OK)
		fail(r, RTL_EFORMAT, sqlite3_errmsg(r->db));
	sqlite3_free(text);
}

/* The next question of rpd.sql, after what is done before it. */
static sqlite3_stmt *next_question(struct reader *r, const char **sql)
{
	sqlite3_stmt *question = NULL;

	do {
		next(r, &question);
		if (!r->error && sqlite3_prepare_v2(r->db, *sql, -1, &question, sql) != SQLITE_OK)
			fail(r, RTL_EFORMAT, sqlite3_errmsg(r->db));
	} while (question && !sqlite3_column_count(question));
	return question;
}

/* Takes a question for events. The names of its first columns are those of the stream and the type. */
static void add_rows(struct reader *r, sqlite3_stmt *q)
{
	static const struct rtl_stream_info *const ours[] = {EVENTS_STREAMS};
	const char *name = sqlite3_column_name(q, PID);
	struct rows *rows = &r->rows[r->row_count++];

	rows->at = q;
	rows->info = call_stream_info; /* the like of it, of other domains than rtl knows */
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (!strcmp(ours[i]->name, name))
			rows->info = *ours[i];
	rows->info.name = name;
	for (uint32_t i = 0; i < rows->info.type_count; i++)
		if (!strcmp(rtl_stream_type(&rows->info, i)->name, sqlite3_column_name(q, TID)))
			rows->type = rtl_stream_type(&rows->info, i);
	for (int i = FIELDS; i < sqlite3_column_count(q) && i < COLUMNS; i++)
		for (uint16_t k = 0; k < rows->type->field_count; k++)
			if (!strcmp(rtl_type_field(rows->type, k)->name, sqlite3_column_name(q, i)))
				rows->fields[i] = rtl_type_field(rows->type, k);
	advance(r, rows); /* now SQLite sorts */
}

static void finish(void *instance)
{
	struct reader *r = instance;

	for (sqlite3_stmt *q; r->db && (q = sqlite3_next_stmt(r->db, NULL));)
		sqlite3_finalize(q);
	sqlite3_close(r->db);
	map_free(&r->strings);
	map_free(&r->categories);
	map_free(&r->processes);
	free(r->path);
	free(r);
}

static int begin(const struct rtl_source_host *host, const char *path, void **instance)
{
	struct reader *r = calloc(1, sizeof(*r));
	sqlite3_stmt *processes, *question;
	const char *sql = rpd_sql;

	if (!r)
		return RTL_ENOMEM;
	*instance = r; /* from here on `close` frees it */
	r->host = host;
	r->path = strdup(path);
	sqlite_open(path, SQLITE_OPEN_AS_OF_NOW, &r->db);
	if (!r->path || !r->db)
		return RTL_ENOMEM;
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		define(r, tables[i][0], tables[i][1], tables[i][2]);
	processes = next_question(r, &sql);
	while (next(r, &processes))
		process_of(r, number(processes, 0), number(processes, 1),
			   (const char *)sqlite3_column_text(processes, 2));
	r->string = next_question(r, &sql);
	r->category = next_question(r, &sql);
	while (r->row_count < ROWS && (question = next_question(r, &sql)))
		add_rows(r, question);
	return r->error;
}

RTL_EXPORT_SOURCE = {
	.abi_version = RTL_SOURCE_ABI_VERSION,
	.struct_size = sizeof(struct rtl_source),
	.name = "rpd",
	.version = HOST_RTL_VERSION,
	.description = "SQLite files in RPD's shape",
	.reads = reads,
	.open = begin,
	.read = read_some,
	.string = string,
	.tracepoint = tracepoint,
	.close = finish,
};
