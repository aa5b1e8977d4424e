/* SPDX-License-Identifier: MIT */
/* See info.h: of a folder. */
#include "info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "collect.h"
#include "folders.h"
#include "json.h"
#include "notes.h"

/* What the subscriber of our own, which never subscribes to anything, knows when it finishes. */
static struct {
	struct json *json; /* NULL: text */
	const char *path;
	const struct rtl_stream_info **streams;
	size_t stream_count;
} state;

static const char *kind_name(const struct rtl_folder *is)
{
	static const char *const names[] = {"recording", "collector", "spool"};

	return is->kind < sizeof(names) / sizeof(*names) ? names[is->kind] : "folder";
}

/* ---- processes ---- */

static void print_cause(void *kind, const char *cause, uint64_t count)
{
	if (!state.json) {
		cli_line("    %s%s: %" PRIu64, (const char *)kind, cause, count);
		return;
	}
	json_object(state.json, NULL);
	json_text(state.json, "cause", cause);
	json_number(state.json, "count", count);
	json_end(state.json);
}

static void print_ledger(const char *name, const struct rtl_ledger *l)
{
	if (state.json) {
		json_object(state.json, NULL);
		json_text(state.json, "stream", name);
		json_number(state.json, "published", l->published);
		json_number(state.json, "delivered", l->delivered);
		json_number(state.json, "undelivered", l->abandoned);
		json_number(state.json, "discarded", l->discarded);
		json_number(state.json, "missed", l->missed);
	} else if (l->published || l->discarded || l->missed) {
		cli_line("  %s: %" PRIu64 " published, %" PRIu64 " delivered, %" PRIu64
			 " undelivered, %" PRIu64 " discarded, %" PRIu64 " missed",
			 name, l->published, l->delivered, l->abandoned, l->discarded, l->missed);
	}
}

/* If something happened in it. */
static void print_stream(const struct rtl_process *process, const struct rtl_stream_info *stream)
{
	static char lost[] = "", left_out[] = "left out, ";
	struct rtl_ledger l = {.struct_size = sizeof(l)};

	if (collect_host->ledger(collect_host, process, stream, &l) ||
	    !(l.published || l.delivered || l.missed))
		return;
	print_ledger(stream->name, &l);
	if (state.json)
		json_array(state.json, "losses");
	collect_host->losses(collect_host, process, stream, print_cause, lost);
	if (state.json) {
		json_end(state.json);
		json_array(state.json, "left_out");
	}
	collect_host->left_out(collect_host, process, stream, print_cause, left_out);
	if (state.json) {
		json_end(state.json);
		json_end(state.json);
	}
}

struct living {
	int32_t pid;
	bool is;
};

static void look_whether_alive(void *user, const char *path, const struct rtl_folder *is)
{
	struct living *living = user;

	(void)path;
	living->is |= is->in_use && living->pid == is->pid;
}

static void print_process(const struct rtl_process *p)
{
	struct rtl_waits waits = {.struct_size = sizeof(waits)};
	struct living alive = {.pid = p->pid};

	folder_visit_spools(state.path, look_whether_alive, &alive);
	collect_host->waits(collect_host, p, &waits);
	if (state.json) {
		json_object(state.json, NULL);
		json_number(state.json, "pid", (uint64_t)p->pid);
		json_number(state.json, "parent_pid", (uint64_t)p->parent_pid);
		json_bool(state.json, "alive", alive.is);
		json_text(state.json, "program", p->program);
		json_text(state.json, "command", p->command);
		json_number(state.json, "waits", waits.count);
		json_number(state.json, "waited_ns", waits.total_ns);
		json_array(state.json, "streams");
	} else {
		putchar('\n');
		cli_line("process %d (%s), of %d: %s", p->pid, alive.is ? "alive" : "ended",
			 p->parent_pid, p->command);
	}
	for (size_t i = 0; i < state.stream_count; i++)
		print_stream(p, state.streams[i]);
	if (state.json) {
		json_end(state.json);
		json_end(state.json);
	} else if (waits.count) {
		cli_line("  its threads waited %" PRIu64 " times for room in their buffers, %.3f s "
			 "in all",
			 waits.count, (double)waits.total_ns / 1e9);
	}
}

static int on_stream(void *instance, const struct rtl_stream_info *stream)
{
	const struct rtl_stream_info **larger =
		reallocarray(state.streams, state.stream_count + 1, sizeof(stream));

	(void)instance;
	if (!larger)
		return RTL_ENOMEM;
	state.streams = larger;
	larger[state.stream_count++] = stream;
	return 0;
}

static int on_finish(void *instance)
{
	const char *interrupted = collect_host->property(collect_host, "interrupted");
	const struct rtl_process *process;

	(void)instance;
	if (state.json) {
		json_text(state.json, "interrupted", interrupted);
		json_array(state.json, "processes");
	} else if (interrupted) {
		cli_line("interrupted: %s", interrupted);
	}
	for (uint32_t i = 1; (process = collect_host->process(collect_host, i)); i++)
		print_process(process);
	if (state.json)
		json_end(state.json);
	return 0;
}

static const struct rtl_subscriber subscriber = COLLECT_OWN("info", on_stream, NULL, on_finish);

/* ---- the folder ---- */

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

static void print_head_json(struct json *json, const char *path, const struct rtl_folder *is,
			    const struct notes *notes)
{
	json_object(json, NULL);
	json_text(json, "folder", path);
	json_text(json, "kind", kind_name(is));
	json_bool(json, "running", is->in_use);
	json_number(json, "pid", (uint64_t)is->pid);
	json_text(json, "program", notes->command);
	json_text(json, "subscribers", notes->subscribers);
	json_text(json, "database", notes->database);
}

int info_folder(const char *path, bool json)
{
	struct json out = {.file = stdout};
	struct rtl_folder is;
	struct notes notes;
	int status = folder_look("info", path, &is);

	if (status)
		return status;
	state.path = path;
	state.json = json ? &out : NULL;
	notes_read(path, &notes);
	if (json)
		print_head_json(&out, path, &is, &notes);
	else
		print_head(path, &is, &notes);
	notes_fini(&notes);
	status = collect_inspect(path, true, &subscriber);
	free(state.streams);
	if (json)
		json_end(&out);
	return status ? status : cli_finish_output();
}
