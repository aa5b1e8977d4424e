/* SPDX-License-Identifier: MIT */
/*
 * run.c: what is known of the run as a whole: rtl_meta, processes, streams with their types and
 * fields, the clock, and the ledger. Few rows: plain statements.
 */
#include "output_look.h"
#include "output_writer.h"
#include "schema.h"
#include "sub.h"
#include "tables_rocpd.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LEDGER_APART_NS 1000000000u

static const char *not_null(const char *text)
{
	return text ? text : "";
}

static void set_meta(struct sub *sub, const char *key, const char *value)
{
	writer_execf(&sub->writer, "INSERT OR REPLACE INTO rtl_meta VALUES (%Q, %Q)", key,
		     not_null(value));
}

/* Also where readers of the rocpd schema look. */
static void set_both(struct sub *sub, const char *key, const char *value)
{
	set_meta(sub, key, value);
	writer_execf(&sub->writer, "INSERT INTO rocpd_metadata (tag, value) VALUES ('rtl_%w', %Q)",
		     key, not_null(value));
}

/* Streams. */

const char *run_kind_name(uint16_t kind)
{
	static const char *const names[] = {
		[RTL_KIND_UINT] = "uint",       [RTL_KIND_INT] = "int",
		[RTL_KIND_FLOAT] = "float",     [RTL_KIND_BOOL] = "bool",
		[RTL_KIND_ADDRESS] = "address", [RTL_KIND_TIME] = "time",
		[RTL_KIND_STRING] = "string",   [RTL_KIND_UID] = "uid",
		[RTL_KIND_TEXT] = "text",       [RTL_KIND_BYTES] = "bytes",
		[RTL_KIND_ARGS] = "args",       [RTL_KIND_VALUES] = "values",
	};

	return kind < sizeof(names) / sizeof(names[0]) && names[kind] ? names[kind] : "unknown";
}

static void write_type(struct sub *sub, const struct stream *stream,
		       const struct rtl_type_info *type)
{
	struct writer *w = &sub->writer;
	const char *table = stream->table ? stream->table(type->type) : NULL;

	writer_execf(w, "INSERT OR IGNORE INTO rtl_type VALUES (%lld, %u, %Q, %Q, %u, %Q)",
		     (long long)stream->number, type->type, not_null(type->name),
		     not_null(type->description), type->payload_size, table);
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct rtl_field *f = rtl_type_field(type, i);

		writer_execf(w,
			     "INSERT OR IGNORE INTO rtl_field VALUES"
			     " (%lld, %u, %u, %Q, NULL, %Q, %Q, %u, %u, %Q)",
			     (long long)stream->number, type->type, i, not_null(f->name),
			     run_kind_name(f->kind), not_null(f->unit), f->offset, f->size,
			     not_null(f->description));
	}
}

static void write_stream(struct sub *sub, struct stream *stream)
{
	const struct rtl_stream_info *info = stream->info;

	if (!writer_begin(&sub->writer) || (stream->is_xpti && !xpti_init(sub)))
		return;
	stream->number = sub->continues ? exact_find_stream(sub, info) : 0;
	if (stream->number)
		return;
	stream->number = sub->next_stream++;
	writer_execf(&sub->writer, "INSERT INTO rtl_stream VALUES (%lld, %Q, %u, %u, %Q)",
		     (long long)stream->number, not_null(info->name), info->version_major,
		     info->version_minor, not_null(info->description));
	for (uint32_t i = 0; i < info->type_count; i++)
		write_type(sub, stream, rtl_stream_type(info, i));
	sub->writer.pending_rows++;
}

static void write_meta(struct sub *sub)
{
	const struct rtl_host *host = sub->host;
	char writer[768];

	output_writer(writer, sizeof(writer));
	set_meta(sub, OUTPUT_WRITER_KEY, writer);
	set_meta(sub, "state", "writing");
	set_both(sub, "schema", SCHEMA_RTL_VERSION);
	set_both(sub, "version", host->property(host, "version"));
	set_both(sub, OUTPUT_SESSION_KEY, host->property(host, "session"));
	set_both(sub, "mode", host->property(host, "mode"));
	set_both(sub, "where", host->property(host, "where"));
	set_both(sub, "clock", "CLOCK_BOOTTIME, ns");
	set_both(sub, "gpu", sub->settings.gpu_index ? "index" : "node");
}

bool run_begin(struct sub *sub)
{
	struct writer *w = &sub->writer;

	if (!writer_begin(w))
		return false;
	if (sub->continues) {
		exact_take_over(sub);
	} else {
		writer_exec(w, schema_rocpd_tables);
		writer_exec(w, schema_rocpd_views);
		writer_exec(w, schema_rtl_tables);
		write_meta(sub);
	}
	writer_exec(w, schema_wait_tables);
	writer_exec(w, schema_left_out_tables);
	sub->next_process = (uint32_t)writer_ask_int(w, "SELECT max(process) FROM rtl_process") + 1;
	sub->next_stream = writer_ask_int(w, "SELECT max(stream) FROM rtl_stream") + 1;
	return names_init(&sub->names, w) && dispatch_init(sub) && copy_init(sub) &&
	       call_init(sub) && links_init(sub) && marker_init(sub) && span_init(sub) &&
	       memory_init(sub) && counter_init(sub) && tracepoints_init(sub) && exact_init(sub);
}

bool run_streams(struct sub *sub)
{
	for (struct stream *s = sub->streams; s; s = s->next)
		write_stream(sub, s);
	return !sub->writer.failed;
}

/* Processes. */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The time of day that belongs to a time of the trace. */
static void write_clock(struct sub *sub, const struct process *process)
{
	uint64_t before, middle, real, after;

	if (sub->recovers || sub->replays)
		return; /* the trace is not of now */
	before = clock_ns(CLOCK_BOOTTIME);
	real = clock_ns(CLOCK_REALTIME);
	after = clock_ns(CLOCK_BOOTTIME);
	middle = before + (after - before) / 2;
	writer_execf(&sub->writer,
		     "INSERT INTO rtl_clock (process, time_ns, realtime_ns, error_ns)"
		     " VALUES (%u, %lld, %lld, %lld)",
		     process->number, (long long)middle, (long long)real,
		     (long long)(after - before));
}

/* How well the process's times are known: once, whatever hosts there were. */
static void write_calibration(struct sub *sub, const struct process *process)
{
	const struct rtl_host *host = sub->host;
	struct rtl_calibration c = {.struct_size = sizeof(c)};

	if (!HOST_HAS(host, calibration) || host->calibration(host, process->info, &c) != 0)
		return;
	writer_execf(&sub->writer, "DELETE FROM rtl_clock WHERE process = %u AND pairs IS NOT NULL",
		     process->number);
	writer_execf(&sub->writer,
		     "INSERT INTO rtl_clock (process, time_ns, pairs, tick_error_ns, ns_per_tick,"
		     " first_ns, last_ns) VALUES (%u, %lld, %u, %lld, %!.17g, %lld, %lld)",
		     process->number, (long long)c.last_ns, c.pairs, (long long)c.error_ns,
		     c.ns_per_tick, (long long)c.first_ns, (long long)c.last_ns);
}

static void write_mark(struct sub *sub, const struct process *process, int64_t id, int64_t name,
		       uint64_t time_ns)
{
	table_add_rocpd_api(&sub->api,
			    &(struct row_rocpd_api){
				    .id = id,
				    .pid = process->pid,
				    .tid = process->pid,
				    .start = (int64_t)time_ns,
				    .end = (int64_t)time_ns,
				    .apiName_id = name,
				    .category_id = NAMES_EMPTY,
				    .domain_id = sub->names.rtl,
				    .args_id = names_ustring(&sub->names, process->info->command),
			    });
}

/* Two rows of rocpd_api, without duration so that they count as no call's time: readers of the
 * rocpd schema take the extent of a trace from rocpd_api. Where something has cut the trace by
 * time, one of them is missing. */
static void write_span(struct sub *sub, struct process *process)
{
	write_mark(sub, process, process->span_id, sub->names.process, process->span_start_ns);
	write_mark(sub, process, process->span_end_id, sub->names.process_end,
		   process->span_end_ns);
}

void run_before_commit(void *user)
{
	struct sub *sub = user;

	for (struct process *p = sub->processes; p; p = p->next) {
		if (!p->span_changed)
			continue;
		writer_execf(&sub->writer,
			     "UPDATE rocpd_api SET start = %lld, \"end\" = %lld WHERE id = %lld;"
			     "UPDATE rocpd_api SET start = %lld, \"end\" = %lld WHERE id = %lld",
			     (long long)p->span_start_ns, (long long)p->span_start_ns,
			     (long long)p->span_id, (long long)p->span_end_ns,
			     (long long)p->span_end_ns, (long long)p->span_end_id);
		p->span_changed = false;
	}
}

static void write_process(struct sub *sub, struct process *process)
{
	const struct rtl_process *info = process->info;
	const char *texts[] = {info->program, info->command, info->host_name};
	struct arena arena = {0};
	size_t length;

	for (size_t i = 0; i < 3; i++) {
		const char *text = not_null(texts[i]);

		texts[i] = text_clean(&arena, text, strlen(text), &length);
	}
	process->span_id = sub->next_api++;
	process->span_end_id = sub->next_api++;
	process_span(process, info->start_ns, info->start_ns);
	writer_begin(&sub->writer);
	writer_execf(&sub->writer,
		     "INSERT OR REPLACE INTO rtl_process VALUES"
		     " (%u, %d, %d, %lld, NULL, %Q, %Q, %Q, nullif(%lld, 0), nullif(%d, -1), %lld, "
		     "%lld)",
		     process->number, info->pid, info->parent_pid, (long long)info->start_ns,
		     texts[0], texts[1], texts[2], (long long)process_spool(info),
		     process_rank(info), (long long)process->span_id,
		     (long long)process->span_end_id);
	arena_fini(&arena);
	write_clock(sub, process);
	write_span(sub, process);
	sub->writer.pending_rows++;
}

/* Goes on with a process that is in the database, or writes what a new one begins with. */
static void enter_process(struct sub *sub, struct process *process)
{
	process->number = sub->continues ? exact_find_process(sub, process) : 0;
	if (process->number) {
		dispatch_process_resume(sub, process);
		tracepoints_resume(sub, process);
		return;
	}
	process->number = sub->continues ? sub->next_process++ : process->host_number;
	write_process(sub, process);
}

struct process *run_process(struct sub *sub, const struct rtl_process *info)
{
	struct process *p = sub->processes;

	while (p && (p->host_number != info->number || p->pid != info->pid))
		p = p->next;
	if (p) {
		p->info = info;
		return sub->last_process = p;
	}
	p = calloc(1, sizeof(*p));
	if (!p) {
		writer_error(&sub->writer, SQLITE_NOMEM, "process");
		return NULL;
	}
	p->info = info;
	p->host_number = info->number;
	p->pid = info->pid;
	p->next = sub->processes;
	sub->processes = p;
	enter_process(sub, p);
	return sub->last_process = p;
}

/* How the process has waited for us, as far as that is known by now. Outputs of versions without that can
 * be continued. */
static void write_waits(struct sub *sub, const struct process *process)
{
	const struct rtl_host *host = sub->host;
	struct rtl_waits waits = {.struct_size = sizeof(waits)};

	if (!HOST_HAS(host, waits) || host->waits(host, process->info, &waits) != 0 || !waits.count)
		return;
	writer_execf(&sub->writer, "INSERT OR REPLACE INTO rtl_wait VALUES (%u, %lld, %lld)",
		     process->number, (long long)waits.count, (long long)waits.total_ns);
}

/* When the process ended, as far as that is known. */
static uint64_t last_ns(const struct sub *sub, const struct process *process)
{
	const struct rtl_host *host = sub->host;
	struct rtl_calibration c = {.struct_size = sizeof(c)};

	return HOST_HAS(host, calibration) && host->calibration(host, process->info, &c) == 0 &&
			       c.last_ns > process->span_end_ns
		       ? c.last_ns
		       : process->span_end_ns;
}

void run_process_end(struct sub *sub, struct process *process)
{
	if (process->ended || !writer_begin(&sub->writer))
		return;
	process->ended = true;
	xpti_open_take(sub, process, last_ns(sub, process));
	region_process_end(sub, process, last_ns(sub, process));
	tracepoints_refresh(sub, process);
	writer_execf(&sub->writer, "UPDATE rtl_process SET end_ns = %lld WHERE process = %u",
		     (long long)process->span_end_ns, process->number);
	write_clock(sub, process);
	write_calibration(sub, process);
	write_waits(sub, process);
}

/* RTL_ENOTSUP: none of these, or not as we know it. */
static int subscribe_known(struct sub *sub, struct stream *stream)
{
	static const struct known_stream *const known[] = {
		&dispatch_stream, &copy_stream, &memory_stream, &marker_stream, &counter_stream,
	};
	int result;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!wanted_find(&known[i]->wanted, 1, stream->info->name))
			continue;
		result = wanted_subscribe(sub->host, stream->info, &known[i]->wanted, stream, NULL);
		stream->table = result == RTL_ENOTSUP ? NULL : known[i]->table;
		return result;
	}
	return call_subscribe(sub, stream);
}

int run_stream(struct sub *sub, const struct rtl_stream_info *info)
{
	struct stream **end = &sub->streams;
	struct stream *stream = calloc(1, sizeof(*stream));
	int result;

	if (!stream)
		return RTL_ENOMEM;
	*stream = (struct stream){.sub = sub, .info = info};
	while (*end)
		end = &(*end)->next;
	*end = stream;
	result = subscribe_known(sub, stream);
	if (result == RTL_ENOTSUP)
		result = xpti_subscribe(sub, stream);
	if (result == RTL_ENOTSUP)
		result = generic_subscribe(sub, stream, RTL_TYPE_ANY);
	if (sub->open)
		write_stream(sub, stream);
	return result;
}

/* The ledger. */

struct loss_target {
	struct sub *sub;
	const char *stream;
	uint32_t process;
};

static void write_loss(void *user, const char *cause, uint64_t count)
{
	const struct loss_target *target = user;

	writer_execf(&target->sub->writer,
		     "INSERT OR REPLACE INTO rtl_loss VALUES (%u, %Q, %Q, %lld)", target->process,
		     target->stream, not_null(cause), (long long)count);
}

/* What the user's selection left out. */
static void write_left_out(void *user, const char *cause, uint64_t count)
{
	const struct loss_target *target = user;

	writer_execf(&target->sub->writer,
		     "INSERT OR REPLACE INTO rtl_left_out VALUES (%u, %Q, %Q, %lld)",
		     target->process, target->stream, not_null(cause), (long long)count);
}

/* Whether the ledger's row belongs to another stream of that name, with other fields. */
static bool is_of_a_twin(const struct sub *sub, const struct stream *stream,
			 const struct rtl_ledger *l)
{
	if (l->published || l->missed)
		return false;
	for (const struct stream *s = sub->streams; s; s = s->next)
		if (s != stream &&
		    strcmp(not_null(s->info->name), not_null(stream->info->name)) == 0)
			return true;
	return false;
}

/* False: the host does not know. `process` NULL: all of them. */
static bool write_ledger(struct sub *sub, const struct process *process,
			 const struct stream *stream)
{
	const struct rtl_host *host = sub->host;
	const struct rtl_process *info = process ? process->info : NULL;
	struct rtl_ledger l = {.struct_size = sizeof(l)};
	struct loss_target target = {sub, not_null(stream->info->name),
				     process ? process->number : 0};

	if (host->ledger(host, info, stream->info, &l) != 0)
		return false;
	if (is_of_a_twin(sub, stream, &l))
		return true;
	writer_execf(&sub->writer,
		     "INSERT OR REPLACE INTO rtl_ledger VALUES (%u, %Q, %lld, %lld, %lld, %lld,"
		     " %lld)",
		     target.process, target.stream, (long long)l.published, (long long)l.delivered,
		     (long long)l.discarded, (long long)l.abandoned, (long long)l.missed);
	host->losses(host, info, stream->info, write_loss, &target);
	if (HOST_HAS(host, left_out))
		host->left_out(host, info, stream->info, write_left_out, &target);
	return true;
}

void run_skipped(struct sub *sub)
{
	static const char cause[] = "sqlite: not as described";

	for (struct stream *s = sub->streams; s; s = s->next) {
		const char *name = not_null(s->info->name);
		uint64_t more = s->skipped - s->skipped_written;

		if (!more || !writer_begin(&sub->writer))
			continue;
		/* an earlier host may have counted as well, and a stream of the same name */
		writer_execf(&sub->writer, "INSERT OR IGNORE INTO rtl_loss VALUES (0, %Q, %Q, 0)",
			     name, cause);
		writer_execf(&sub->writer,
			     "UPDATE rtl_loss SET count = count + %lld"
			     " WHERE process = 0 AND stream = %Q AND cause = %Q",
			     (long long)more, name, cause);
		s->skipped_written = s->skipped;
	}
}

bool run_ledger_due(const struct sub *sub)
{
	return clock_ns(CLOCK_MONOTONIC) - sub->ledger_written_ns >= LEDGER_APART_NS;
}

void run_ledger(struct sub *sub)
{
	if (!writer_begin(&sub->writer))
		return;
	sub->ledger_written_ns = clock_ns(CLOCK_MONOTONIC);
	for (const struct stream *s = sub->streams; s; s = s->next) {
		bool known = false;

		for (const struct process *p = sub->processes; p; p = p->next)
			known |= write_ledger(sub, p, s);
		if (!known)
			write_ledger(sub, NULL, s);
	}
}

void run_not_stored(struct sub *sub)
{
	sqlite3_str *sql = sqlite3_str_new(sub->writer.db);
	char *text;

	for (const struct stream *s = sub->streams; s; s = s->next) {
		struct rtl_ledger l = {.struct_size = sizeof(l)};
		const char *name = not_null(s->info->name);

		if (sub->host->ledger(sub->host, NULL, s->info, &l) != 0 ||
		    l.delivered <= s->stored)
			continue;
		l.delivered -= s->stored;
		sqlite3_str_appendf(
			sql,
			"DELETE FROM rtl_ledger WHERE stream = %Q;"
			"INSERT INTO rtl_ledger VALUES (0, %Q, %llu, %llu, %llu, %llu, %llu);"
			"INSERT OR REPLACE INTO rtl_loss VALUES"
			" (0, %Q, 'sqlite: could not be written', %llu);",
			name, name, l.published, s->stored, l.discarded, l.abandoned + l.delivered,
			l.missed, name, l.delivered);
	}
	sqlite3_str_appendall(sql, "UPDATE rtl_meta SET value = 'incomplete' WHERE key = 'state'");
	text = sqlite3_str_finish(sql);
	(void)writer_try_again(&sub->writer, text);
	sqlite3_free(text);
}

/* Where the events' collector died, the end is not the program's. */
static void write_state(struct sub *sub)
{
	const char *interrupted = sub->host->property(sub->host, "interrupted");
	const bool lacks = sub->host->property(sub->host, "lacking");

	if (interrupted)
		set_meta(sub, "interrupted", interrupted);
	set_meta(sub, "state", lacks ? "incomplete" : interrupted ? "recovered" : "complete");
}

/* Has SQLite sort what they are made of. */
static bool make_link_indexes(struct writer *w, size_t count)
{
	bool made = true;

	for (size_t i = 0; i < count; i++) {
		const struct index_spec *spec = &schema_link_indexes[i];
		const char *second = spec->columns[1];
		char sql[256];

		snprintf(sql, sizeof(sql), "CREATE INDEX IF NOT EXISTS %s ON %s (%s%s%s)",
			 spec->name, spec->table, spec->columns[0], second ? ", " : "",
			 second ? second : "");
		made &= writer_try(w, sql);
	}
	return made;
}

/* Without one of them the trace is whole all the same. In somebody's process SQLite makes all. */
static void make_indexes(struct writer *w)
{
	const bool has_calls = writer_ask_int(w, "SELECT EXISTS (SELECT 1 FROM rtl_call)");
	const size_t count = SCHEMA_LINK_INDEXES - !has_calls;
	bool lack = false;

	for (const char *const *sql = schema_indexes; *sql; sql++)
		lack |= !writer_try(w, *sql);
	if (!w->may_step || !writer_keep_alone(w) ||
	    !index_build(w->db, schema_link_indexes, count))
		lack |= !make_link_indexes(w, count);
	if (lack)
		writer_warn(w, "all rows are stored, but not all indexes, so questions to it take "
			       "longer");
}

void run_end(struct sub *sub)
{
	struct writer *w = &sub->writer;

	for (struct process *p = sub->processes; p; p = p->next)
		run_process_end(sub, p);
	run_ledger(sub);
	run_skipped(sub);
	exact_positions(sub);
	writer_commit(w);
	writer_never_append(w);
	writer_exec(w, "PRAGMA temp_store=FILE"); /* for what is sorted, where it is much */
	writer_begin(w);
	links_settle(sub);
	counter_settle(sub);
	writer_exec(w, schema_sequences);
	writer_commit(w);
	make_indexes(w);
	writer_begin(w);
	write_state(sub);
	writer_execf(w, "DELETE FROM rtl_meta WHERE key = '%s'", OUTPUT_WRITER_KEY);
}

void run_fini(struct sub *sub)
{
	for (struct process *p = sub->processes, *next; p; p = next) {
		next = p->next;
		dispatch_process_fini(p);
		map_fini(&p->gpus);
		map_fini(&p->uids);
		map_fini(&p->kernels);
		map_fini(&p->kernel_names);
		free(p);
	}
	region_fini(sub);
	for (struct stream *s = sub->streams, *next; s; s = next) {
		next = s->next;
		free(s);
	}
	sub->processes = NULL;
	sub->streams = NULL;
	map_fini(&sub->call_strings);
	map_fini(&sub->xpti_names);
	xpti_open_fini(sub);
	map_fini(&sub->call_categories);
	map_fini(&sub->queue_ids);
	call_args_fini(&sub->call_args);
	links_fini(&sub->links);
}
