/* SPDX-License-Identifier: MIT */
/* reader_info.c: what a database says beside events: see reader.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "schema.h"
#include "sub.h"

#define TYPES_MAX  256
#define FIELDS_MAX 256

struct known {
	struct rtl_tracepoint info;
	struct rtl_metadata metadata[];
};

/* ---- whether it is one that we can read */

static bool has_table(struct reader *r, const char *name)
{
	return sqlite3_table_column_metadata(r->db, NULL, name, NULL, NULL, NULL, NULL, NULL,
					     NULL) == SQLITE_OK;
}

int reader_check(struct reader *r)
{
	sqlite3_stmt *question;
	const char *key, *value;
	bool known = false;

	if (!has_table(r, "rtl_meta") || !has_table(r, "rtl_origin"))
		return reader_fail(r, RTL_EFORMAT, "is no trace of rtl: it has no table %s",
				   has_table(r, "rtl_meta") ? "rtl_origin" : "rtl_meta");
	question = reader_ask(r, "SELECT key, value FROM rtl_meta");
	while (reader_next(r, &question)) {
		key = reader_text(r, question, 0);
		value = reader_text(r, question, 1);
		if (!strcmp(key, "schema") && strcmp(value, SCHEMA_RTL_VERSION) != 0)
			reader_fail(r, RTL_EFORMAT,
				    "was written by another version of rtl: its tables are of "
				    "version %s, not " SCHEMA_RTL_VERSION,
				    value);
		known |= !strcmp(key, "schema");
		if (!strcmp(key, "mode") || !strcmp(key, "session") ||
		    !strcmp(key, "interrupted") || !strcmp(key, "paused"))
			r->host->property(r->host, key, value);
	}
	if (!known)
		reader_fail(r, RTL_EFORMAT, "does not say of which version its tables are");
	return r->error;
}

/* ---- streams */

static uint16_t kind_of(const char *name)
{
	for (int i = 1; i <= RTL_KIND_VALUES; i++)
		if (!strcmp(run_kind_name((uint16_t)i), name))
			return (uint16_t)i;
	return UINT16_MAX; /* of a newer version: bytes */
}

/* How many rows a question has, which says it in its first column; 0 after a line. */
static uint32_t count_of(struct reader *r, sqlite3_stmt *row, int64_t most, const char *what)
{
	const int64_t count = sqlite3_column_int64(row, 0);

	if (count >= 1 && count <= most)
		return (uint32_t)count;
	reader_fail(r, RTL_EFORMAT, "it is damaged: %lld %s", (long long)count, what);
	return 0;
}

static void load_fields(struct reader *r, int64_t stream, struct rtl_type_info *type)
{
	sqlite3_stmt *row =
		reader_ask(r,
			   "SELECT count(*) OVER (), name, kind, unit, offset, size_bytes,"
			   " description, ltrim(group_name, 'g') + 0 FROM rtl_field"
			   " WHERE stream = %lld AND type = %u ORDER BY position",
			   (long long)stream, type->type);
	struct rtl_field *fields = NULL;

	while (reader_next(r, &row)) {
		if (!fields)
			fields = reader_alloc(r, count_of(r, row, FIELDS_MAX, "fields of a type"),
					      sizeof(*fields));
		if (r->error)
			continue;
		fields[type->field_count++] = (struct rtl_field){
			.struct_size = sizeof(*fields),
			.kind = kind_of(reader_text(r, row, 2)),
			.group = (uint16_t)sqlite3_column_int64(row, 7),
			.offset = (uint32_t)sqlite3_column_int64(row, 4),
			.size = (uint32_t)sqlite3_column_int64(row, 5),
			.name = reader_text(r, row, 1),
			.unit = reader_text(r, row, 3),
			.description = reader_text(r, row, 6),
		};
	}
	type->fields = fields;
}

static void load_types(struct reader *r, int64_t number, struct reader_stream *stream)
{
	sqlite3_stmt *row =
		reader_ask(r,
			   "SELECT count(*) OVER (), type, name, description, payload_bytes,"
			   " table_name, repeated_by FROM rtl_type WHERE stream = %lld"
			   " ORDER BY type",
			   (long long)number);
	struct rtl_type_info *types = NULL, *type;

	while (reader_next(r, &row)) {
		if (!types) {
			const uint32_t count = count_of(r, row, TYPES_MAX, "types of a stream");

			types = reader_alloc(r, count, sizeof(*types));
			stream->tables = reader_alloc(r, count, sizeof(*stream->tables));
		}
		if (r->error)
			continue;
		if (sqlite3_column_type(row, 5) == SQLITE_TEXT) {
			stream->tables[stream->info.type_count] = reader_text(r, row, 5);
			stream->has_events = true;
		}
		type = &types[stream->info.type_count++];
		*type = (struct rtl_type_info){
			.struct_size = sizeof(*type),
			.type = (uint16_t)sqlite3_column_int64(row, 1),
			.payload_size = (uint32_t)sqlite3_column_int64(row, 4),
			.repeated_by = (uint32_t)sqlite3_column_int64(row, 6),
			.name = reader_text(r, row, 2),
			.description = reader_text(r, row, 3),
		};
		load_fields(r, number, type);
	}
	stream->info.types = types;
}

static void load_streams(struct reader *r)
{
	sqlite3_stmt *row =
		reader_ask(r, "SELECT count(*) OVER (), stream, name, version_major, version_minor,"
			      " description FROM rtl_stream ORDER BY stream");

	for (uint32_t i = 0; reader_next(r, &row); i++) {
		if (!r->streams)
			r->streams = reader_alloc(r, count_of(r, row, 1 << 16, "streams"),
						  sizeof(*r->streams));
		if (r->error)
			continue;
		r->streams[i].info = (struct rtl_stream_info){
			.struct_size = sizeof(r->streams[i].info),
			.version_major = (uint16_t)sqlite3_column_int64(row, 3),
			.version_minor = (uint16_t)sqlite3_column_int64(row, 4),
			.name = reader_text(r, row, 2),
			.description = reader_text(r, row, 5),
		};
		r->stream_count = i + 1;
		load_types(r, sqlite3_column_int64(row, 1), &r->streams[i]);
	}
}

/* ---- processes */

static void load_processes(struct reader *r)
{
	sqlite3_stmt *row = reader_ask(
		r, "SELECT count(*) OVER (), process, pid, parent_pid, start_ns, program, command,"
		   " host_name, spool, ifnull(rank, -1), run, api_id FROM rtl_process"
		   " ORDER BY api_id, process");
	struct reader_process *p;

	for (size_t i = 0; reader_next(r, &row); i++) {
		if (!r->processes)
			r->processes = reader_alloc(r, count_of(r, row, 1 << 24, "processes"),
						    sizeof(*r->processes));
		if (r->error)
			continue;
		p = &r->processes[i];
		*p = (struct reader_process){
			.info = {.struct_size = sizeof(p->info),
				 .pid = (int32_t)sqlite3_column_int64(row, 2),
				 .parent_pid = (int32_t)sqlite3_column_int64(row, 3),
				 .start_ns = (uint64_t)sqlite3_column_int64(row, 4),
				 .program = reader_text(r, row, 5),
				 .command = reader_text(r, row, 6),
				 .host_name = reader_text(r, row, 7),
				 .spool_id = (uint64_t)sqlite3_column_int64(row, 8),
				 .rank = (int32_t)sqlite3_column_int64(row, 9),
				 .run = reader_text(r, row, 10)},
			.number = sqlite3_column_int64(row, 1),
			.begin_id = sqlite3_column_int64(row, 11),
			.streams = reader_alloc(r, r->stream_count, sizeof(*p->streams)),
		};
		r->process_count = i + 1;
		if (!map_set(&r->by_number, (uint64_t)p->number, i + 1))
			reader_fail(r, RTL_ENOMEM, "out of memory");
	}
}

static bool take_origin(struct reader *r, sqlite3_stmt *row, const void *user, void *to)
{
	const uint64_t place = map_get(&r->by_number, (uint64_t)sqlite3_column_int64(row, 1));

	(void)user;
	*(struct reader_origin *)to = (struct reader_origin){
		.process = (uint32_t)(place - 1), /* none has that of nobody */
		.tid = (uint32_t)sqlite3_column_int64(row, 2),
		.uid = (uint64_t)sqlite3_column_int64(row, 3),
		.parent_uid = (uint64_t)sqlite3_column_int64(row, 4)};
	return true;
}

int reader_load(struct reader *r)
{
	load_streams(r);
	load_processes(r);
	r->origins.size = sizeof(struct reader_origin);
	id_rows_load(r, &r->origins,
		     reader_ask(r, "SELECT id, process, tid, uid, parent_uid FROM rtl_origin"
				   " ORDER BY id"),
		     take_origin, NULL);
	return r->error;
}

/* The host's stream of that name, of that process; NULL: none. Of several with other fields it is the first
 * that has events. */
static const struct rtl_stream_info *find_stream(const struct reader *r,
						 const struct reader_process *p, const char *name)
{
	const struct rtl_stream_info *found = NULL;

	for (uint32_t i = 0; name && i < r->stream_count; i++) {
		if (strcmp(r->streams[i].info.name, name) != 0)
			continue;
		if (r->streams[i].has_events)
			return p->streams[i];
		found = found ? found : p->streams[i];
	}
	return found;
}

/* What is known of all processes together, under the number 0, is told of the first. */
#define OF_PROCESS "process IN (%lld, %lld)"

static void tell_ledger(struct reader *r, const struct reader_process *p, int64_t other)
{
	sqlite3_stmt *row = reader_ask(r,
				       "SELECT stream, published, delivered, discarded, abandoned,"
				       " missed, left_out FROM rtl_ledger WHERE " OF_PROCESS
				       " ORDER BY process",
				       (long long)p->number, (long long)other);
	const struct rtl_stream_info *stream;

	while (reader_next(r, &row)) {
		const struct rtl_ledger ledger = {
			.struct_size = sizeof(ledger),
			.published = (uint64_t)sqlite3_column_int64(row, 1),
			.delivered = (uint64_t)sqlite3_column_int64(row, 2),
			.discarded = (uint64_t)sqlite3_column_int64(row, 3),
			.abandoned = (uint64_t)sqlite3_column_int64(row, 4),
			.missed = (uint64_t)sqlite3_column_int64(row, 5),
			.left_out = (uint64_t)sqlite3_column_int64(row, 6),
		};

		stream = find_stream(r, p, (const char *)sqlite3_column_text(row, 0));
		if (stream)
			r->host->ledger(r->host, p->theirs, stream, &ledger);
	}
}

static void tell_causes(struct reader *r, const struct reader_process *p, int64_t other,
			const char *table)
{
	sqlite3_stmt *row = reader_ask(r,
				       "SELECT stream, cause, count FROM %s WHERE " OF_PROCESS
				       " ORDER BY process, stream, cause",
				       table, (long long)p->number, (long long)other);
	void (*const tell)(const struct rtl_source_host *, const struct rtl_process *,
			   const struct rtl_stream_info *, const char *, uint64_t) =
		!strcmp(table, "rtl_loss") ? r->host->loss : r->host->left_out;
	const struct rtl_stream_info *stream;

	while (reader_next(r, &row)) {
		const char *cause = (const char *)sqlite3_column_text(row, 1);

		stream = find_stream(r, p, (const char *)sqlite3_column_text(row, 0));
		if (stream && cause)
			tell(r->host, p->theirs, stream, cause,
			     (uint64_t)sqlite3_column_int64(row, 2));
	}
}

static void tell_clock(struct reader *r, const struct reader_process *p)
{
	sqlite3_stmt *row = reader_ask(r,
				       "SELECT pairs, tick_error_ns, ns_per_tick, first_ns, last_ns"
				       " FROM rtl_clock WHERE process = %lld AND pairs NOT NULL",
				       (long long)p->number);

	while (reader_next(r, &row)) {
		const struct rtl_calibration calibration = {
			.struct_size = sizeof(calibration),
			.pairs = (uint32_t)sqlite3_column_int64(row, 0),
			.error_ns = (uint64_t)sqlite3_column_int64(row, 1),
			.ns_per_tick = sqlite3_column_double(row, 2),
			.first_ns = (uint64_t)sqlite3_column_int64(row, 3),
			.last_ns = (uint64_t)sqlite3_column_int64(row, 4),
		};

		r->host->calibration(r->host, p->theirs, &calibration);
	}
	row = reader_ask(r, "SELECT waits, waited_ns FROM rtl_wait WHERE process = %lld",
			 (long long)p->number);
	while (reader_next(r, &row)) {
		const struct rtl_waits waits = {
			.struct_size = sizeof(waits),
			.count = (uint64_t)sqlite3_column_int64(row, 0),
			.total_ns = (uint64_t)sqlite3_column_int64(row, 1),
		};

		r->host->waits(r->host, p->theirs, &waits);
	}
}

int reader_begin_process(struct reader *r)
{
	struct reader_process *p = &r->processes[r->begun];
	const int64_t other = r->begun++ ? p->number : 0;

	p->theirs = r->host->process(r->host, &p->info);
	if (!p->theirs ||
	    !map_set(&r->numbers, (uintptr_t)p->theirs, (uint64_t)(p - r->processes) + 1))
		return reader_fail(r, RTL_ENOMEM, "out of memory");
	/* also those that it did not have: which these are is not known, nor of use to anyone */
	for (uint32_t i = 0; i < r->stream_count; i++) {
		p->streams[i] = r->host->stream(r->host, p->theirs, &r->streams[i].info);
		if (!p->streams[i])
			return reader_fail(r, RTL_EFORMAT,
					   "the description of stream %s makes no sense, or there "
					   "are too many streams",
					   r->streams[i].info.name);
	}
	tell_ledger(r, p, other);
	tell_causes(r, p, other, "rtl_loss");
	tell_causes(r, p, other, "rtl_left_out");
	tell_clock(r, p);
	return r->error;
}

/* ---- what subscribers ask for */

const char *reader_string(struct reader *r, uint64_t id)
{
	const char *text = (const char *)(uintptr_t)map_get(&r->strings, id);

	if (text || !id)
		return text;
	if (reader_find(r, &r->string, READER_STRING_SQL, (int64_t)id, 0)) {
		text = reader_text(r, r->string, 0);
		(void)map_set(&r->strings, id, (uintptr_t)text); /* else it is asked for again */
	}
	sqlite3_reset(r->string);
	return text;
}

/* A tracepoint with its metadata alone; NULL: no memory. */
static struct known *load_metadata(struct reader *r, int64_t process, uint64_t uid)
{
	bool more =
		reader_find(r, &r->metadata,
			    "SELECT count(*) OVER (), key, value, kind FROM rtl_tracepoint_metadata"
			    " WHERE process = ? AND uid = ? ORDER BY position",
			    process, (int64_t)uid);
	const uint32_t count = more ? count_of(r, r->metadata, 1 << 16, "metadata") : 0;
	struct known *known = reader_alloc(r, 1, sizeof(*known) + count * sizeof(*known->metadata));

	for (uint32_t i = 0; known && more && i < count; i++) {
		known->metadata[i] = (struct rtl_metadata){
			.struct_size = sizeof(*known->metadata),
			.kind = (uint32_t)sqlite3_column_int64(r->metadata, 3),
			.key = reader_text(r, r->metadata, 1),
			.value = reader_text(r, r->metadata, 2),
		};
		known->info.metadata_count = i + 1;
		more = sqlite3_step(r->metadata) == SQLITE_ROW;
	}
	sqlite3_reset(r->metadata);
	return known;
}

/* One that is not there has no struct_size. */
static struct known *load_tracepoint(struct reader *r, int64_t process, uint64_t uid)
{
	struct known *known = load_metadata(r, process, uid);

	if (known &&
	    reader_find(r, &r->tracepoint,
			"SELECT kind, name, source, line, \"column\", module, module_offset, hash"
			" FROM rtl_tracepoint WHERE process = ? AND uid = ?",
			process, (int64_t)uid))
		known->info = (struct rtl_tracepoint){
			.struct_size = sizeof(known->info),
			.line = (uint32_t)sqlite3_column_int64(r->tracepoint, 3),
			.column = (uint32_t)sqlite3_column_int64(r->tracepoint, 4),
			.metadata_count = known->info.metadata_count,
			.uid = uid,
			.kind = reader_text(r, r->tracepoint, 0),
			.name = reader_text(r, r->tracepoint, 1),
			.source = reader_text(r, r->tracepoint, 2),
			.module = reader_text(r, r->tracepoint, 5),
			.module_offset = (uint64_t)sqlite3_column_int64(r->tracepoint, 6),
			.hash = (uint64_t)sqlite3_column_int64(r->tracepoint, 7),
			.metadata = known->metadata,
		};
	sqlite3_reset(r->tracepoint);
	return known;
}

bool reader_tracepoint(struct reader *r, const struct rtl_process *process, uint64_t uid,
		       struct rtl_tracepoint *out)
{
	const uint64_t place = map_get(&r->numbers, (uintptr_t)process);
	struct reader_process *p = place ? &r->processes[place - 1] : NULL;
	struct known *known = p ? (struct known *)(uintptr_t)map_get(&p->tracepoints, uid) : NULL;
	const uint32_t size = out->struct_size;

	if (p && uid && !known) {
		known = load_tracepoint(r, p->number, uid);
		if (known)
			(void)map_set(&p->tracepoints, uid, (uintptr_t)known);
	}
	if (!known || !known->info.struct_size)
		return false;
	memcpy(out, &known->info, size < sizeof(*out) ? size : sizeof(*out));
	out->struct_size = size;
	return true;
}
