/* SPDX-License-Identifier: MIT */
/* rtl status: what traced processes are doing just now, as their spools in shared memory say. Nobody is stopped or asked. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rtl/events.h>

#include "cli.h"
#include "collect.h"
#include "embed.h"
#include "folders.h"
#include "view.h"

EMBED(status_sql, RTL_CLI "/run/status.sql");

struct status {
	struct cli_operands operands;
	bool json;
	unsigned watch, pid;
	struct json *out;
	uint64_t now_ns;
	size_t shown;
};

static const struct cli_option options[] = {
	CLI_FLAG(0, "json", offsetof(struct status, json), "print JSON, for programs"),
	CLI_NUMBER(0, "watch", "SECONDS", offsetof(struct status, watch), "a number of seconds",
		   "again and again, with so many seconds between"),
};

#define NAME_BYTES 512 /* more than what is kept of one */

/* What the subscriber of our own looks for: it has no state. */
static struct status *asked;

/* ---- what is under way ---- */

static uint64_t read_number(const struct rtl_event *event, const struct rtl_field *field)
{
	uint64_t number = 0;

	memcpy(&number, (const char *)event->payload + field->offset,
	       field->size <= 8 ? field->size : 8);
	return number;
}

static void write_name(const struct rtl_event *event, const struct rtl_field *field)
{
	const char *payload = event->payload;
	struct rtl_text text;
	char name[NAME_BYTES] = "";

	if (field->kind == RTL_KIND_STRING) {
		json_text(asked->out, "name",
			  collect_host->string(collect_host, event->process,
					       read_number(event, field)));
		return;
	}
	memcpy(&text, payload + field->offset,
	       sizeof(text)); /* in the payload, as the host has checked */
	memcpy(name, payload + text.offset,
	       text.length < sizeof(name) ? text.length : sizeof(name) - 1);
	json_text(asked->out, "name", name);
}

/* Of any stream: by what its fields are called. */
static void write_unfinished(void *unused, const struct rtl_event *event)
{
	const struct rtl_type_info *type = event->type_info;
	uint64_t begin_ns = 0, tid = event->tid;
	bool named = false;

	json_object(asked->out, NULL);
	json_text(asked->out, "stream", event->stream->name);
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct rtl_field *field = rtl_type_field(type, i);

		if (!strcmp(field->name, "begin_ns"))
			begin_ns = read_number(event, field);
		else if (!strcmp(field->name, "tid") || !strcmp(field->name, "begin_tid"))
			tid = read_number(event, field);
		else if (!named &&
			 (field->kind == RTL_KIND_STRING || field->kind == RTL_KIND_TEXT)) {
			write_name(event, field);
			named = true;
		}
	}
	json_number(asked->out, "tid", tid);
	json_number(asked->out, "begin_ns", begin_ns);
	json_number(asked->out, "age_ns", asked->now_ns > begin_ns ? asked->now_ns - begin_ns : 0);
	json_end(asked->out);
}

static void add_under_way(void *user, const char *cause, uint64_t count)
{
	if (!strcmp(cause, RTL_CAUSE_UNDER_WAY))
		*(uint64_t *)user += count;
}

static void write_stream(const struct rtl_process *process, const struct rtl_stream_info *stream)
{
	struct rtl_ledger l = {.struct_size = sizeof(l)};
	uint64_t under_way = 0;

	if (collect_host->ledger(collect_host, process, stream, &l) || !(l.published || l.missed))
		return;
	collect_host->losses(collect_host, process, stream, add_under_way, &under_way);
	json_object(asked->out, NULL);
	json_text(asked->out, "stream", stream->name);
	json_number(asked->out, "published", l.published);
	json_number(asked->out, "under_way", under_way);
	json_number(asked->out, "lost", l.discarded + l.missed - under_way);
	json_end(asked->out);
}

/* When a look at it ends. */
static int on_process_end(void *instance, const struct rtl_process *process)
{
	if (kill(process->pid, 0) && errno == ESRCH)
		return 0;
	json_object(asked->out, NULL);
	json_number(asked->out, "pid", (uint64_t)process->pid);
	json_text(asked->out, "command", process->command);
	json_array(asked->out, "unfinished");
	collect_host->unfinished(collect_host, process, write_unfinished, NULL);
	json_end(asked->out);
	json_array(asked->out, "streams");
	for (size_t k = 0; k < collect_stream_count; k++)
		write_stream(process, collect_streams[k]);
	json_end(asked->out);
	json_end(asked->out);
	return 0;
}

static struct rtl_subscriber subscriber = COLLECT_OWN("status", collect_note_stream, NULL, NULL);

/* ---- whose ---- */

static void look_for_pid(void *user, const char *path, const struct rtl_folder *is)
{
	*(bool *)user |= (unsigned)is->pid == asked->pid;
}

static int show_folder(const char *path, const struct rtl_folder *is)
{
	bool meant = !asked->pid || (unsigned)is->pid == asked->pid;
	struct timespec now;
	int status;

	folder_visit_spools(path, look_for_pid, &meant);
	if (!meant || !is->in_use)
		return CLI_OK;
	asked->shown++;
	clock_gettime(CLOCK_BOOTTIME, &now);
	asked->now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	json_object(asked->out, NULL);
	json_text(asked->out, "folder", path);
	json_number(asked->out, "pid", (uint64_t)is->pid);
	json_array(asked->out, "processes");
	status = collect_inspect(path, true, &subscriber);
	json_end(asked->out);
	json_end(asked->out);
	return status;
}

static int show(struct status *status)
{
	struct folders folders;
	struct view view;
	int error = CLI_OK, end;

	folders_find(&folders);
	view_begin(&view, status->json);
	status->out = &view.json;
	status->shown = 0;
	json_object(&view.json, NULL);
	json_array(&view.json, "sessions");
	for (size_t i = 0; i < folders.count && !error; i++)
		error = show_folder(folders.items[i].path, &folders.items[i].is);
	json_end(&view.json);
	json_end(&view.json);
	end = view_end(&view, status_sql);
	folders_fini(&folders);
	if (!error && !end && !status->shown && status->pid)
		return cli_failed("status: process %u is not being traced, or is not yours",
				  status->pid);
	return error ? error : end;
}

static int run(void *request)
{
	struct status *status = request;
	int error;

	if (status->operands.count && !cli_number(status->operands.list[0], &status->pid))
		return cli_usage("status: '%s' is no number of a process", status->operands.list[0]);
	asked = status;
	subscriber.process_end = on_process_end;
	while (!(error = show(status)) && status->watch)
		sleep(status->watch);
	return error;
}

const struct cli_command cmd_status = {
	.name = "status",
	.operands = "[PID]",
	.purpose = "Shows what traced programs are doing just now",
	.details = "PID is a traced process or its `rtl trace`; without it, all of yours are "
		   "shown. It reads\n"
		   "shared memory: it works on a process that hangs, and stops nobody.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct status, operands, 1, "one process at a time"),
	.run = run,
};
