/* SPDX-License-Identifier: MIT */
/* See info.h: of a folder. */
#include "info.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli.h"
#include "folders.h"
#include "inspect.h"
#include "notes.h"

static const char *kind_name(const struct rtl_folder *is)
{
	static const char *const names[] = {"recording", "collector", "spool"};

	return is->kind < sizeof(names) / sizeof(*names) ? names[is->kind] : "folder";
}

/* ---- text ---- */

static void print_stream(const struct inspected_stream *s)
{
	const struct rtl_ledger *l = &s->ledger;

	cli_line("  %s: %" PRIu64 " published, %" PRIu64 " delivered, %" PRIu64
		 " undelivered, %" PRIu64 " discarded, %" PRIu64 " missed",
		 s->name, l->published, l->delivered, l->abandoned, l->discarded, l->missed);
	for (size_t i = 0; i < s->loss_count; i++)
		cli_line("    %s: %" PRIu64, s->losses[i].cause, s->losses[i].count);
}

static void print_process(const struct inspected_process *p)
{
	putchar('\n');
	cli_line("process %d (%s), of %d: %s", p->pid, p->alive ? "alive" : "ended", p->parent_pid,
		 p->command);
	for (size_t i = 0; i < p->stream_count; i++)
		print_stream(&p->streams[i]);
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

static void print_stream_json(const struct inspected_stream *s)
{
	info_json_text("{", "stream", s->name);
	info_json_number(",", "published", s->ledger.published);
	info_json_number(",", "delivered", s->ledger.delivered);
	info_json_number(",", "undelivered", s->ledger.abandoned);
	info_json_number(",", "discarded", s->ledger.discarded);
	info_json_number(",", "missed", s->ledger.missed);
	fputs(",\"losses\":[", stdout);
	for (size_t i = 0; i < s->loss_count; i++) {
		info_json_text(i ? ",{" : "{", "cause", s->losses[i].cause);
		info_json_number(",", "count", s->losses[i].count);
		putchar('}');
	}
	fputs("]}", stdout);
}

static void print_process_json(const struct inspected_process *p)
{
	info_json_number("{", "pid", (uint64_t)p->pid);
	info_json_number(",", "parent_pid", (uint64_t)p->parent_pid);
	printf(",\"alive\":%s", p->alive ? "true" : "false");
	info_json_text(",", "program", p->program);
	info_json_text(",", "command", p->command);
	fputs(",\"streams\":[", stdout);
	for (size_t i = 0; i < p->stream_count; i++) {
		fputs(i ? ",\n    " : "\n    ", stdout);
		print_stream_json(&p->streams[i]);
	}
	fputs("]}", stdout);
}

static void print_json(const char *path, const struct rtl_folder *is, const struct notes *notes,
		       const struct inspection *inspection)
{
	info_json_text("{", "folder", path);
	info_json_text(",", "kind", kind_name(is));
	printf(",\"running\":%s", is->in_use ? "true" : "false");
	info_json_number(",", "pid", (uint64_t)is->pid);
	info_json_text(",", "program", notes->command);
	info_json_text(",", "subscribers", notes->subscribers);
	info_json_text(",", "database", notes->database);
	info_json_text(",", "interrupted", inspection->interrupted);
	fputs(",\"processes\":[", stdout);
	for (size_t i = 0; i < inspection->count; i++) {
		fputs(i ? ",\n  " : "\n  ", stdout);
		print_process_json(&inspection->processes[i]);
	}
	fputs("]}\n", stdout);
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
