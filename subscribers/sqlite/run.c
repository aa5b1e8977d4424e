/* SPDX-License-Identifier: MIT */
/* run.c: what is known of the run as a whole: rtl_meta, processes, streams with their types and fields, the clock, and
 * the ledger. Few rows: plain statements. */
#include "embed.h"
#include "output_writer.h"
#include "sub.h"

#define LEDGER_APART_NS 1000000000u

/* What people query are views. Those named rocpd_ and those without a prefix are the rocpd schema of RPD,
 * schema_version 3, which its tools read. Facts of it: the repository ROCm/rocmProfileData. */
EMBED(schema_tables, RTL_SQLITE_FOLDER "/tables.sql");
EMBED(schema_views, RTL_SQLITE_FOLDER "/views.sql");

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

static void write_type(struct sub *sub, int64_t stream, const struct rtl_type_info *type)
{
	struct writer *w = &sub->writer;

	writer_execf(w, "INSERT OR IGNORE INTO rtl_type VALUES (%lld, %u, %Q, %Q, %u, %u, NULL)",
		     (long long)stream, type->type, not_null(type->name),
		     not_null(type->description), type->payload_size, type->repeated_by);
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct rtl_field *f = rtl_type_field(type, i);

		writer_execf(w,
			     "INSERT OR IGNORE INTO rtl_field VALUES"
			     " (%lld, %u, %u, %Q, NULL, CASE WHEN %u THEN 'g%u' ELSE '' END, %Q, "
			     "%Q, %u, %u, %Q)",
			     (long long)stream, type->type, i, not_null(f->name), f->group,
			     f->group, wanted_kind_name(f->kind), not_null(f->unit), f->offset,
			     f->size, not_null(f->description));
	}
}

/* The stream that an earlier host has written with the same types and fields; 0: there is none. */
static int64_t find_stream(struct sub *sub, int64_t number)
{
	static const char type[] = "SELECT type, payload_bytes FROM rtl_type WHERE stream = ",
			  field[] = "SELECT type, position, name, kind, offset, size_bytes"
				    " FROM rtl_field WHERE stream = ";

	return writer_ask_int(&sub->writer,
			      "SELECT min(s.stream) FROM rtl_stream AS n JOIN rtl_stream AS s"
			      " USING (name, version_major, version_minor)"
			      " WHERE n.stream = %lld AND s.stream < n.stream"
			      " AND NOT EXISTS (%sn.stream EXCEPT %ss.stream)"
			      " AND NOT EXISTS (%ss.stream EXCEPT %sn.stream)"
			      " AND NOT EXISTS (%sn.stream EXCEPT %ss.stream)"
			      " AND NOT EXISTS (%ss.stream EXCEPT %sn.stream)",
			      (long long)number, type, type, type, type, field, field, field,
			      field);
}

/* One that is in the database stays the only one. */
static void write_stream(struct sub *sub, struct stream *stream)
{
	const struct rtl_stream_info *info = stream->info;
	const long long number = sub->next_stream;

	if (!writer_begin(&sub->writer))
		return;
	writer_execf(&sub->writer, "INSERT INTO rtl_stream VALUES (%lld, %Q, %u, %u, %Q)", number,
		     not_null(info->name), info->version_major, info->version_minor,
		     not_null(info->description));
	for (uint32_t i = 0; i < info->type_count; i++)
		write_type(sub, number, rtl_stream_type(info, i));
	stream->number = sub->continues ? find_stream(sub, number) : 0;
	if (stream->number)
		writer_execf(
			&sub->writer,
			"DELETE FROM rtl_stream WHERE stream = %lld; DELETE FROM rtl_type WHERE"
			" stream = %lld; DELETE FROM rtl_field WHERE stream = %lld",
			number, number, number);
	else
		stream->number = sub->next_stream++;
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
		writer_exec(w, schema_tables);
		write_meta(sub);
	}
	sub->next_process = (uint32_t)writer_ask_int(w, "SELECT max(process) FROM rtl_process") + 1;
	sub->next_stream = writer_ask_int(w, "SELECT max(stream) FROM rtl_stream") + 1;
	sub->next_id = sub->continues ? store_last_id(sub) + 1 : 1;
	if (!tracepoints_init(sub) || !args_init(sub) || !exact_init(sub) || !store_known(sub))
		return false;
	return sub->continues || writer_exec(w, schema_views);
}

bool run_streams(struct sub *sub)
{
	for (struct stream *s = sub->streams; s; s = s->next)
		write_stream(sub, s);
	return !sub->writer.failed;
}

/* Processes. */

/* The time of day that belongs to a time of the trace. */
static void write_clock(struct sub *sub, const struct process *process)
{
	uint64_t before, middle, real, after;

	if (sub->recovers || sub->replays)
		return; /* the trace is not of now */
	before = host_clock_ns(CLOCK_BOOTTIME);
	real = host_clock_ns(CLOCK_REALTIME);
	after = host_clock_ns(CLOCK_BOOTTIME);
	middle = before + (after - before) / 2;
	writer_execf(&sub->writer,
		     "INSERT INTO rtl_clock (process, time_ns, realtime_ns, error_ns)"
		     " VALUES (%u, %lld, %lld, %lld)",
		     process->number, (long long)middle, (long long)real,
		     (long long)(after - before));
}

/* How well the process's times are known: once, whatever hosts there were. */
static void write_calibration(struct sub *sub, const struct process *process,
			      const struct rtl_calibration *c)
{
	writer_execf(&sub->writer, "DELETE FROM rtl_clock WHERE process = %u AND pairs IS NOT NULL",
		     process->number);
	writer_execf(&sub->writer,
		     "INSERT INTO rtl_clock (process, time_ns, pairs, tick_error_ns, ns_per_tick,"
		     " first_ns, last_ns) VALUES (%u, %lld, %u, %lld, %!.17g, %lld, %lld)",
		     process->number, (long long)c->last_ns, c->pairs, (long long)c->error_ns,
		     c->ns_per_tick, (long long)c->first_ns, (long long)c->last_ns);
}

void run_before_commit(void *user)
{
	struct sub *sub = user;

	for (struct process *p = sub->processes; p; p = p->next) {
		if (!p->extent_changed)
			continue;
		writer_execf(
			&sub->writer,
			"UPDATE rtl_process SET first_ns = %lld, last_ns = %lld WHERE process = %u",
			(long long)p->first_ns, (long long)p->last_ns, p->number);
		p->extent_changed = false;
	}
}

static void write_process(struct sub *sub, struct process *process)
{
	const struct rtl_process *info = process->info;
	const char *texts[] = {info->program, info->command, info->host_name, info->run};
	const int64_t id = sub->next_id;
	struct arena arena = {0};
	size_t length;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const char *text = not_null(texts[i]);

		texts[i] = text_clean(&arena, text, strlen(text), &length);
	}
	sub->next_id += 2;
	process_extend(process, info->start_ns);
	writer_begin(&sub->writer);
	writer_execf(
		&sub->writer,
		"INSERT OR REPLACE INTO rtl_process VALUES (%u, %d, %d, %lld, NULL, %Q, %Q, %Q,"
		" nullif(%lld, 0), nullif(%d, -1), %Q, %lld, %lld, %lld, %lld)",
		process->number, info->pid, info->parent_pid, (long long)info->start_ns, texts[0],
		texts[1], texts[2], (long long)info->spool_id, info->rank, texts[3], (long long)id,
		(long long)id + 1, (long long)process->first_ns, (long long)process->last_ns);
	arena_fini(&arena);
	write_clock(sub, process);
	sub->writer.pending_rows++;
}

/* Goes on with a process that is in the database, or writes what a new one begins with. */
static void enter_process(struct sub *sub, struct process *process)
{
	process->number = sub->continues ? exact_find_process(sub, process) : 0;
	if (process->number) {
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

/* How the process has waited for us, as far as that is known by now. */
static void write_waits(struct sub *sub, const struct process *process)
{
	const struct rtl_host *host = sub->host;
	struct rtl_waits waits = {.struct_size = sizeof(waits)};

	if (host->waits(host, process->info, &waits) != 0 || !waits.count)
		return;
	writer_execf(&sub->writer, "INSERT OR REPLACE INTO rtl_wait VALUES (%u, %lld, %lld)",
		     process->number, (long long)waits.count, (long long)waits.total_ns);
}

void run_process_end(struct sub *sub, struct process *process)
{
	const struct rtl_host *host = sub->host;
	struct rtl_calibration c = {.struct_size = sizeof(c)};
	bool known;

	if (process->ended || !writer_begin(&sub->writer))
		return;
	process->ended = true;
	tracepoints_refresh(sub, process);
	known = host->calibration(host, process->info, &c) == 0;
	writer_execf(
		&sub->writer, "UPDATE rtl_process SET end_ns = %lld WHERE process = %u",
		(long long)(known && c.last_ns > process->last_ns ? c.last_ns : process->last_ns),
		process->number);
	write_clock(sub, process);
	if (known)
		write_calibration(sub, process, &c);
	write_waits(sub, process);
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
	result = store_subscribe(sub, stream);
	if (sub->open)
		write_stream(sub, stream);
	return result;
}

/* The ledger. */

struct loss_target {
	struct sub *sub;
	const char *table, *stream;
	uint32_t process;
};

static void write_loss(void *user, const char *cause, uint64_t count)
{
	const struct loss_target *target = user;

	writer_execf(&target->sub->writer, "INSERT OR REPLACE INTO %s VALUES (%u, %Q, %Q, %lld)",
		     target->table, target->process, target->stream, not_null(cause),
		     (long long)count);
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
	struct loss_target target = {sub, "rtl_loss", not_null(stream->info->name),
				     process ? process->number : 0};

	if (host->ledger(host, info, stream->info, &l) != 0)
		return false;
	if (is_of_a_twin(sub, stream, &l))
		return true;
	writer_execf(&sub->writer,
		     "INSERT OR REPLACE INTO rtl_ledger VALUES (%u, %Q, %lld, %lld, %lld, %lld,"
		     " %lld, %lld)",
		     target.process, target.stream, (long long)l.published, (long long)l.delivered,
		     (long long)l.discarded, (long long)l.abandoned, (long long)l.missed,
		     (long long)l.left_out);
	host->losses(host, info, stream->info, write_loss, &target);
	target.table = "rtl_left_out"; /* by the user's selection */
	host->left_out(host, info, stream->info, write_loss, &target);
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
	return host_clock_ns(CLOCK_MONOTONIC) - sub->ledger_written_ns >= LEDGER_APART_NS;
}

void run_ledger(struct sub *sub)
{
	if (!writer_begin(&sub->writer))
		return;
	sub->ledger_written_ns = host_clock_ns(CLOCK_MONOTONIC);
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
			"INSERT INTO rtl_ledger VALUES (0, %Q, %llu, %llu, %llu, %llu, %llu, %llu);"
			"INSERT OR REPLACE INTO rtl_loss VALUES"
			" (0, %Q, 'sqlite: could not be written', %llu);",
			name, name, l.published, s->stored, l.discarded, l.abandoned + l.delivered,
			l.missed, l.left_out, name, l.delivered);
	}
	sqlite3_str_appendall(sql, "UPDATE rtl_meta SET value = 'incomplete' WHERE key = 'state'");
	text = sqlite3_str_finish(sql);
	(void)writer_try_again(&sub->writer, text);
	sqlite3_free(text);
}

/* Where the events' collector died, the end is not the program's. */
static void write_state(struct sub *sub)
{
	static const char *const kept[] = {"interrupted", "paused", "ended", "pauses"};
	const struct rtl_host *host = sub->host;

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (host->property(host, kept[i]))
			set_meta(sub, kept[i], host->property(host, kept[i]));
	set_meta(sub, "state",
		 host->property(host, "lacking")       ? "incomplete"
		 : host->property(host, "interrupted") ? "recovered"
						       : "complete");
}

void run_end(struct sub *sub)
{
	struct writer *w = &sub->writer;

	for (struct process *p = sub->processes; p; p = p->next)
		run_process_end(sub, p);
	run_ledger(sub);
	run_skipped(sub);
	exact_positions(sub);
	writer_begin(w);
	write_state(sub);
	writer_execf(w, "DELETE FROM rtl_meta WHERE key = '%s'", OUTPUT_WRITER_KEY);
}

void run_fini(struct sub *sub)
{
	for (struct process *p = sub->processes; p; p = p->next) {
		map_fini(&p->uids);
		map_fini(&p->strings);
	}
	for (struct stream *s = sub->streams; s; s = s->next)
		free(s->types);
	list_free(sub->processes);
	list_free(sub->streams);
	dictionary_fini(&sub->strings);
	dictionary_fini(&sub->args_known);
	dictionary_fini(&sub->origins);
}
