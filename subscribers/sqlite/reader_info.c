/* SPDX-License-Identifier: MIT */
/* reader_info.c: what a database says beside events: see reader.h. */
#include "reader.h"
#include "sub.h"

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
		return reader_fail(r, RTL_EFORMAT, "is not a trace of rtl: it has no table %s",
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
		    !strcmp(key, "interrupted") || !strcmp(key, "paused") ||
		    !strcmp(key, "pauses") || !strcmp(key, "ended"))
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
		if (!strcmp(wanted_kind_name((uint16_t)i), name))
			return (uint16_t)i;
	return UINT16_MAX; /* of a newer version: bytes */
}

static bool take_field(struct reader *r, sqlite3_stmt *row, const void *user, void *to)
{
	*(struct rtl_field *)to = (struct rtl_field){
		.struct_size = sizeof(struct rtl_field),
		.kind = kind_of(reader_text(r, row, 2)),
		.group = (uint16_t)sqlite3_column_int64(row, 7),
		.offset = (uint32_t)sqlite3_column_int64(row, 4),
		.size = (uint32_t)sqlite3_column_int64(row, 5),
		.name = reader_text(r, row, 1),
		.unit = reader_text(r, row, 3),
		.description = reader_text(r, row, 6),
	};
	return true;
}

static bool take_type(struct reader *r, sqlite3_stmt *row, const void *stream, void *to)
{
	struct id_rows fields = {.size = sizeof(struct rtl_field)};

	id_rows_load(
		r, &fields,
		reader_ask(r,
			   "SELECT position, name, kind, unit, offset, size_bytes, description,"
			   " ltrim(group_name, 'g') + 0 FROM rtl_field WHERE stream = %lld AND"
			   " type = %lld ORDER BY position",
			   *(const long long *)stream, sqlite3_column_int64(row, 0)),
		take_field, NULL);
	*(struct reader_type *)to = (struct reader_type){
		.info = {.struct_size = sizeof(struct reader_type),
			 .type = (uint16_t)sqlite3_column_int64(row, 0),
			 .field_count = (uint16_t)fields.count,
			 .payload_size = (uint32_t)sqlite3_column_int64(row, 3),
			 .repeated_by = (uint32_t)sqlite3_column_int64(row, 5),
			 .name = reader_text(r, row, 1),
			 .description = reader_text(r, row, 2),
			 .fields = fields.bytes},
		.table = sqlite3_column_type(row, 4) == SQLITE_TEXT ? reader_text(r, row, 4) : NULL,
	};
	return true;
}

static bool take_stream(struct reader *r, sqlite3_stmt *row, const void *user, void *to)
{
	const long long number = sqlite3_column_int64(row, 0);
	struct id_rows types = {.size = sizeof(struct reader_type)};
	struct reader_stream *stream = to;

	id_rows_load(r, &types,
		     reader_ask(r,
				"SELECT type, name, description, payload_bytes, table_name,"
				" repeated_by FROM rtl_type WHERE stream = %lld ORDER BY type",
				number),
		     take_type, &number);
	stream->info = (struct rtl_stream_info){
		.struct_size = sizeof(stream->info),
		.version_major = (uint16_t)sqlite3_column_int64(row, 2),
		.version_minor = (uint16_t)sqlite3_column_int64(row, 3),
		.name = reader_text(r, row, 1),
		.description = reader_text(r, row, 4),
		.type_count = (uint32_t)types.count,
		.types = types.bytes,
	};
	for (uint32_t i = 0; i < types.count; i++)
		stream->has_events |= reader_type(stream, i)->table != NULL;
	return true;
}

/* ---- processes */

static bool take_process(struct reader *r, sqlite3_stmt *row, const void *user, void *to)
{
	struct reader_process *p = to;

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
		.begin_id = sqlite3_column_int64(row, 0),
		.streams = reader_alloc(r, r->stream_count, sizeof(*p->streams)),
	};
	if (!map_set(&r->by_number, (uint64_t)p->number, ++r->process_count))
		reader_fail(r, RTL_ENOMEM, "out of memory");
	return true;
}

static bool take_origin(struct reader *r, sqlite3_stmt *row, const void *user, void *to)
{
	const uint64_t place = map_get(&r->by_number, (uint64_t)sqlite3_column_int64(row, 1));

	*(struct reader_origin *)to = (struct reader_origin){
		.process = (uint32_t)(place - 1), /* none has that of nobody */
		.tid = (uint32_t)sqlite3_column_int64(row, 2),
		.uid = (uint64_t)sqlite3_column_int64(row, 3),
		.parent_uid = (uint64_t)sqlite3_column_int64(row, 4)};
	return true;
}

int reader_load(struct reader *r)
{
	struct id_rows streams = {.size = sizeof(*r->streams)},
		       processes = {.size = sizeof(*r->processes)};

	id_rows_load(r, &streams,
		     reader_ask(r, "SELECT stream, name, version_major, version_minor, description"
				   " FROM rtl_stream ORDER BY stream"),
		     take_stream, NULL);
	r->streams = streams.bytes;
	r->stream_count = (uint32_t)streams.count;
	id_rows_load(r, &processes,
		     reader_ask(r, "SELECT api_id, process, pid, parent_pid, start_ns, program,"
				   " command, host_name, spool, ifnull(rank, -1), run FROM"
				   " rtl_process ORDER BY api_id, process"),
		     take_process, NULL);
	r->processes = processes.bytes;
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
					   "the description of stream %s is invalid, or there "
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

const char *reader_string(void *instance, const struct rtl_process *process, uint64_t id)
{
	struct reader *r = instance;
	const char *text = map_pointer(&r->strings, id);

	(void)process; /* all have the same */
	if (text || !id)
		return text;
	if (reader_find(r, &r->string, READER_STRING_SQL, (int64_t)id, 0)) {
		text = reader_text(r, r->string, 0);
		(void)map_set(&r->strings, id, (uintptr_t)text); /* else it is asked for again */
	}
	sqlite3_reset(r->string);
	return text;
}

static bool take_metadata(struct reader *r, sqlite3_stmt *row, const void *user, void *to)
{
	*(struct rtl_metadata *)to = (struct rtl_metadata){
		.struct_size = sizeof(struct rtl_metadata),
		.kind = (uint32_t)sqlite3_column_int64(row, 3),
		.key = reader_text(r, row, 1),
		.value = reader_text(r, row, 2),
	};
	return true;
}

/* One that is not there has no struct_size. */
static struct rtl_tracepoint *load_tracepoint(struct reader *r, int64_t process, uint64_t uid)
{
	struct rtl_tracepoint *known = reader_alloc(r, 1, sizeof(*known));
	struct id_rows metadata = {.size = sizeof(struct rtl_metadata)};

	id_rows_load(r, &metadata,
		     reader_ask(r,
				"SELECT position, key, value, kind FROM rtl_tracepoint_metadata"
				" WHERE process = %lld AND uid = %lld ORDER BY position",
				(long long)process, (long long)uid),
		     take_metadata, NULL);
	if (known &&
	    reader_find(r, &r->tracepoint,
			"SELECT kind, name, source, line, \"column\", module, module_offset, hash"
			" FROM rtl_tracepoint WHERE process = ? AND uid = ?",
			process, (int64_t)uid))
		*known = (struct rtl_tracepoint){
			.struct_size = sizeof(*known),
			.line = (uint32_t)sqlite3_column_int64(r->tracepoint, 3),
			.column = (uint32_t)sqlite3_column_int64(r->tracepoint, 4),
			.metadata_count = (uint32_t)metadata.count,
			.uid = uid,
			.kind = reader_text(r, r->tracepoint, 0),
			.name = reader_text(r, r->tracepoint, 1),
			.source = reader_text(r, r->tracepoint, 2),
			.module = reader_text(r, r->tracepoint, 5),
			.module_offset = (uint64_t)sqlite3_column_int64(r->tracepoint, 6),
			.hash = (uint64_t)sqlite3_column_int64(r->tracepoint, 7),
			.metadata = metadata.bytes,
		};
	sqlite3_reset(r->tracepoint);
	return known;
}

bool reader_tracepoint(void *instance, const struct rtl_process *process, uint64_t uid,
		       struct rtl_tracepoint *out)
{
	struct reader *r = instance;
	const uint64_t place = map_get(&r->numbers, (uintptr_t)process);
	struct reader_process *p = place ? &r->processes[place - 1] : NULL;
	struct rtl_tracepoint *known = p ? map_pointer(&p->tracepoints, uid) : NULL;
	const uint32_t size = out->struct_size;

	if (p && uid && !known) {
		known = load_tracepoint(r, p->number, uid);
		if (known)
			(void)map_set(&p->tracepoints, uid, (uintptr_t)known);
	}
	if (!known || !known->struct_size)
		return false;
	memcpy(out, known, size < sizeof(*out) ? size : sizeof(*out));
	out->struct_size = size;
	return true;
}
