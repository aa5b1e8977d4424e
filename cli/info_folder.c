/* SPDX-License-Identifier: MIT */
/* See info.h: of a folder. */
#include "info.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli.h"
#include "folders.h"
#include "inspect.h"
#include "json.h"
#include "notes.h"

static const char *kind_name(const struct rtl_folder *is)
{
	static const char *const names[] = {"recording", "collector", "spool"};

	return is->kind < sizeof(names) / sizeof(*names) ? names[is->kind] : "folder";
}

/* ---- text ---- */

static void print_causes(const char *kind, const struct inspected_causes *causes)
{
	for (size_t i = 0; i < causes->count; i++)
		cli_line("    %s%s: %" PRIu64, kind, causes->list[i].cause, causes->list[i].count);
}

static void print_stream(const struct inspected_stream *s)
{
	const struct rtl_ledger *l = &s->ledger;

	if (l->published || l->discarded || l->missed)
		cli_line("  %s: %" PRIu64 " published, %" PRIu64 " delivered, %" PRIu64
			 " undelivered, %" PRIu64 " discarded, %" PRIu64 " missed",
			 s->name, l->published, l->delivered, l->abandoned, l->discarded,
			 l->missed);
	print_causes("", &s->losses);
	print_causes("left out, ", &s->left_out);
}

static void print_process(const struct inspected_process *p)
{
	putchar('\n');
	cli_line("process %d (%s), of %d: %s", p->pid, p->alive ? "alive" : "ended", p->parent_pid,
		 p->command);
	for (size_t i = 0; i < p->stream_count; i++)
		print_stream(&p->streams[i]);
	if (p->waits.count)
		cli_line("  its threads waited %" PRIu64 " times for room in their buffers, %.3f s "
			 "in all",
			 p->waits.count, (double)p->waits.total_ns / 1e9);
}

static void print_head(const char *path, const struct rtl_folder *is, const struct notes *notes)
{
	if (is->kind == RTL_FOLDER_COLLECTOR)
		cli_line("%s: of `rtl trace`, process %d, %s", path, is->pid,
			 is->in_use ? "running" : "dead: `rtl recover` completes its output");
	else if (is->kind == RTL_FOLDER_SPOOL)
		cli_line("%s: of process %d, %s", path, is->pid, is->in_use ? "running" : "ended");
	else
		cli_line("%s: a recording", path);
	if (notes->command)
		cli_line("command: %s", notes->command);
	if (notes->subscribers)
		cli_line("subscribers: %s", notes->subscribers);
	if (notes->database)
		cli_line("database: %s", notes->database);
}

static void print(const char *path, const struct rtl_folder *is, const struct notes *notes,
		  const struct inspection *inspection)
{
	print_head(path, is, notes);
	if (inspection->interrupted)
		cli_line("interrupted: %s", inspection->interrupted);
	for (size_t i = 0; i < inspection->count; i++)
		print_process(&inspection->processes[i]);
}

/* ---- JSON ---- */

static void print_causes_json(struct json *json, const char *key,
			      const struct inspected_causes *causes)
{
	json_array(json, key);
	for (size_t i = 0; i < causes->count; i++) {
		json_object(json, NULL);
		json_text(json, "cause", causes->list[i].cause);
		json_number(json, "count", causes->list[i].count);
		json_end(json);
	}
	json_end(json);
}

static void print_stream_json(struct json *json, const struct inspected_stream *s)
{
	json_object(json, NULL);
	json_text(json, "stream", s->name);
	json_number(json, "published", s->ledger.published);
	json_number(json, "delivered", s->ledger.delivered);
	json_number(json, "undelivered", s->ledger.abandoned);
	json_number(json, "discarded", s->ledger.discarded);
	json_number(json, "missed", s->ledger.missed);
	print_causes_json(json, "losses", &s->losses);
	print_causes_json(json, "left_out", &s->left_out);
	json_end(json);
}

static void print_process_json(struct json *json, const struct inspected_process *p)
{
	json_object(json, NULL);
	json_number(json, "pid", (uint64_t)p->pid);
	json_number(json, "parent_pid", (uint64_t)p->parent_pid);
	json_bool(json, "alive", p->alive);
	json_text(json, "program", p->program);
	json_text(json, "command", p->command);
	json_number(json, "waits", p->waits.count);
	json_number(json, "waited_ns", p->waits.total_ns);
	json_array(json, "streams");
	for (size_t i = 0; i < p->stream_count; i++)
		print_stream_json(json, &p->streams[i]);
	json_end(json);
	json_end(json);
}

static void print_json(const char *path, const struct rtl_folder *is, const struct notes *notes,
		       const struct inspection *inspection)
{
	struct json json = {.file = stdout};

	json_object(&json, NULL);
	json_text(&json, "folder", path);
	json_text(&json, "kind", kind_name(is));
	json_bool(&json, "running", is->in_use);
	json_number(&json, "pid", (uint64_t)is->pid);
	json_text(&json, "program", notes->command);
	json_text(&json, "subscribers", notes->subscribers);
	json_text(&json, "database", notes->database);
	json_text(&json, "interrupted", inspection->interrupted);
	json_array(&json, "processes");
	for (size_t i = 0; i < inspection->count; i++)
		print_process_json(&json, &inspection->processes[i]);
	json_end(&json);
	json_end(&json);
}

int info_folder(const char *path, bool json)
{
	struct inspection inspection;
	struct rtl_folder is;
	struct notes notes;
	int status = folder_look("info", path, &is);

	if (status)
		return status;
	status = inspect(path, &inspection);
	if (status)
		return status;
	notes_read(path, &notes);
	if (json)
		print_json(path, &is, &notes, &inspection);
	else
		print(path, &is, &notes, &inspection);
	notes_fini(&notes);
	inspection_fini(&inspection);
	return cli_finish_output();
}
