/* SPDX-License-Identifier: MIT */
/* rtl info: what is in a trace, or in a folder of spools. What other writers of the rocpd schema do not have is not
 * shown. */
#include <errno.h>
#include <inttypes.h>
#include <rtl/events.h>
#include <sys/stat.h>

#include "cli.h"
#include "collect.h"
#include "database.h"
#include "demangle.h"
#include "embed.h"
#include "folders.h"
#include "host.h"
#include "info.h"
#include "notes.h"
#include "view.h"

EMBED(info_sql, RTL_CLI "/read/info.sql");
EMBED(info_folder_sql, RTL_CLI "/read/info_folder.sql");

struct info {
	struct cli_operands operands;
	bool json;
};

static const struct cli_option options[] = {
	CLI_FLAG(0, "json", offsetof(struct info, json), "print JSON, for programs"),
};

/* ---- a trace ---- */

/* Parameters: when a period began, and when it ended. */
static int print_part(struct database *database, const char *sql, const int64_t period_ns[2],
		      struct json *json)
{
	sqlite3_stmt *row;
	int rc;

	if (sqlite3_prepare_v2(database->connection, sql, -1, &row, NULL) != SQLITE_OK)
		return sqlite3_errcode(database->connection) == SQLITE_ERROR
			       ? 0
			       : database_fail(database);
	for (int i = 0; period_ns && i < sqlite3_bind_parameter_count(row); i++)
		sqlite3_bind_int64(row, i + 1, period_ns[i]);
	while ((rc = sqlite3_step(row)) == SQLITE_ROW) {
		if (!json) {
			cli_line("%s", (const char *)sqlite3_column_text(row, 0));
			continue;
		}
		json_object(json, NULL);
		for (int i = 1; i < sqlite3_column_count(row); i++) {
			const char *key = sqlite3_column_name(row, i);
			const char *value = (const char *)sqlite3_column_text(row, i);

			if (sqlite3_column_type(row, i) == SQLITE_TEXT)
				json_text(json, key, value);
			else
				json_value(json, key, value);
		}
		json_end(json);
	}
	rc = rc == SQLITE_DONE ? 0 : database_fail(database);
	sqlite3_finalize(row);
	return rc;
}

int info_parts(struct database *database, const char *parts, const int64_t period_ns[2],
	       struct json *json)
{
	int error = 0;
	char name[32];

	for (const char *at = parts; !error && (at = strstr(at, "-- @")); at++) {
		const char *sql = strchr(at, '\n');

		snprintf(name, sizeof(name), "%.*s", (int)(sql - at - 4), at + 4);
		if (json)
			json_array(json, name);
		error = print_part(database, sql, period_ns, json);
		if (json)
			json_end(json);
	}
	return error;
}

static const char *const facts[] = {"version",     "mode",    "where", "state",
				    "interrupted", "session", "clock", "ended"};

static int print(struct database *database, const char *path, int64_t operations, struct json *json)
{
	int error;

	if (json) {
		json_print(json, "{file:%s operations:%lu", path, operations);
	} else {
		cli_line("%s: %" PRId64 " GPU operations", path, operations);
	}
	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
		char *value = database_fact(database, facts[i]);

		if (json)
			json_text(json, strcmp(facts[i], "clock") ? facts[i] : "time", value);
		else if (value && *value)
			cli_line("%s: %s", facts[i], value);
		free(value);
	}
	error = info_parts(database, info_sql, NULL, json);
	if (json)
		json_end(json);
	return error;
}

int info_database(const char *path, bool json)
{
	struct database *database = database_open(path, false);
	/* The views of which rtl's rocpd_op is made: without it SQLite leaves out half the joins. */
	int64_t operations =
		database ? database_number(database,
					   database->has_facts
						   ? "SELECT (SELECT count(*) FROM rtl_kernel_op)"
						     " + (SELECT count(*) FROM rtl_copy_op)"
						   : "SELECT count(*) FROM rocpd_op",
					   NULL)
			 : -1;
	int error = -1, status;

	if (operations >= 0)
		error = print(database, path, operations,
			      json ? &(struct json){.file = stdout} : NULL);
	status = cli_finish_output();
	if (error)
		status = CLI_FAILED;
	if (!status)
		status = database_say_unfinished(database);
	database_close(database);
	return status;
}

/* ---- a folder ---- */

/* What the subscriber of our own, which never subscribes to anything, knows when it finishes. */
static struct {
	struct json *json;
	const char *path;
	uint64_t now_ns;
} state;

#define NAME_BYTES 512 /* more than what is kept of one */

static void write_cause(void *unused, const char *cause, uint64_t count)
{
	json_print(state.json, "{cause:%s count:%lu}", cause, count);
}

/* If something happened in it. */
static void write_stream(const struct rtl_process *process, const struct rtl_stream_info *stream)
{
	struct rtl_ledger l = {.struct_size = sizeof(l)};

	if (collect_host->ledger(collect_host, process, stream, &l) ||
	    !(l.published || l.delivered || l.missed))
		return;
	json_print(state.json,
		   "{stream:%s published:%lu delivered:%lu undelivered:%lu discarded:%lu missed:%lu"
		   " losses:[",
		   stream->name, l.published, l.delivered, l.abandoned, l.discarded, l.missed);
	collect_host->losses(collect_host, process, stream, write_cause, NULL);
	json_print(state.json, "] left_out:[");
	collect_host->left_out(collect_host, process, stream, write_cause, NULL);
	json_print(state.json, "]}");
}

static uint64_t read_number(const struct rtl_event *event, const struct rtl_field *field)
{
	return host_number((const char *)event->payload + field->offset,
			   field->size <= 8 ? field->size : 8);
}

static void write_name(const struct rtl_event *event, const struct rtl_field *field)
{
	const char *payload = event->payload;
	struct rtl_text text;
	char name[NAME_BYTES] = "";

	if (field->kind == RTL_KIND_STRING) {
		const char *string = collect_host->string(collect_host, event->process,
							  read_number(event, field));
		char *readable = demangle(string ? string : "");

		json_text(state.json, "name", readable ? readable : string);
		free(readable);
		return;
	}
	memcpy(&text, payload + field->offset,
	       sizeof(text)); /* in the payload, as the host has checked */
	memcpy(name, payload + text.offset,
	       text.length < sizeof(name) ? text.length : sizeof(name) - 1);
	json_text(state.json, "name", name);
}

/* Of any stream: by what its fields are called. */
static void write_unfinished(void *unused, const struct rtl_event *event)
{
	static const char *const numbers[] = {"gpu",    "queue",   "packet_id",  "grid_x", "grid_y",
					      "grid_z", "call_ns", "hip_stream", "range",  "bytes"};
	const struct rtl_type_info *type = event->type_info;
	uint64_t begin_ns = 0, tid = event->tid;
	bool named = false;

	json_print(state.json, "{stream:%s", event->stream->name);
	for (uint32_t i = 0; i < type->field_count; i++) {
		const struct rtl_field *field = rtl_type_field(type, i);

		for (size_t k = 0; k < sizeof(numbers) / sizeof(*numbers); k++)
			if (!strcmp(field->name, numbers[k]))
				json_number(state.json, numbers[k], read_number(event, field));
		if (!strcmp(field->name, "begin_ns") || !strcmp(field->name, "submit_ns"))
			begin_ns += read_number(event, field); /* one of them is 0 */
		else if (!strcmp(field->name, "tid") || !strcmp(field->name, "begin_tid") ||
			 !strcmp(field->name, "submit_tid"))
			tid = read_number(event, field);
		else if (!strcmp(field->name, "direction"))
			json_text(state.json, "name",
				  rtl_hsa_copy_direction_text((uint32_t)read_number(event, field)));
		else if (!named &&
			 (field->kind == RTL_KIND_STRING || field->kind == RTL_KIND_TEXT)) {
			write_name(event, field);
			named = true;
		}
	}
	json_print(state.json, "correlation:%lu tid:%lu begin_ns:%lu age_ns:%lu}",
		   event->correlation, tid, begin_ns,
		   state.now_ns > begin_ns ? state.now_ns - begin_ns : 0);
}

struct living {
	int32_t pid;
	bool is;
};

static void look_whether_alive(void *user, const char *path, const struct rtl_folder *is)
{
	struct living *living = user;

	living->is |= is->in_use && living->pid == is->pid;
}

/* Before what it has of the process is let go. */
static int write_process(void *instance, const struct rtl_process *p)
{
	struct rtl_waits waits = {.struct_size = sizeof(waits)};
	struct living alive = {.pid = p->pid};

	folder_visit_spools(state.path, look_whether_alive, &alive);
	collect_host->waits(collect_host, p, &waits);
	json_print(state.json,
		   "{pid:%d parent_pid:%d alive:%i program:%s command:%s waits:%lu waited_ns:%lu"
		   " unfinished:[",
		   p->pid, p->parent_pid, alive.is, p->program, p->command, waits.count,
		   waits.total_ns);
	collect_host->unfinished(collect_host, p, write_unfinished, NULL);
	json_print(state.json, "] streams:[");
	for (size_t i = 0; i < collect_stream_count; i++)
		write_stream(p, collect_streams[i]);
	json_print(state.json, "]}");
	return 0;
}

static int on_finish(void *instance)
{
	json_end(state.json);
	json_text(state.json, "interrupted", collect_host->property(collect_host, "interrupted"));
	return 0;
}

static struct rtl_subscriber subscriber = COLLECT_OWN("info", collect_note_stream, NULL, on_finish);

int info_write(struct json *json, const char *path, const struct rtl_folder *is)
{
	static const char *const kinds[] = {"recording", "collector", "spool"};
	const size_t kind = is->kind;
	const unsigned depth = json->depth;
	struct notes notes;
	int status;

	state.now_ns = host_clock_ns(CLOCK_BOOTTIME);
	state.path = path;
	state.json = json;
	subscriber.process_end = write_process;
	notes_read(path, &notes);
	json_print(json,
		   "{folder:%s kind:%s running:%i pid:%d program:%s subscribers:%s database:%s"
		   " processes:[",
		   path, kind < sizeof(kinds) / sizeof(*kinds) ? kinds[kind] : "folder", is->in_use,
		   is->pid, notes.command, notes.subscribers, notes.database);
	notes_fini(&notes);
	status = collect_inspect(path, true, &subscriber);
	while (json->depth > depth) /* also where it is gone, and on_finish was not called */
		json_end(json);
	return status;
}

static int info_folder(const char *path, bool as_json)
{
	struct rtl_folder is;
	struct view view;
	int status = folder_look("info", path, &is), error;

	if (status)
		return status;
	view_begin(&view, as_json);
	status = info_write(&view.json, path, &is);
	error = view_end(&view, info_folder_sql);
	return status ? status : error;
}

static int run(void *request)
{
	const struct info *info = request;
	const char *path = info->operands.list[0];
	struct stat st;

	if (stat(path, &st))
		return cli_failed("info: %s: %s", path, strerror(errno));
	return S_ISDIR(st.st_mode) ? info_folder(path, info->json)
				   : info_database(path, info->json);
}

const struct cli_command cmd_info = {
	.name = "info",
	.operands = "FILE|FOLDER",
	.purpose = "Shows the processes, streams and losses of a trace",
	.details = "FILE is a trace. FOLDER is a recording, or the folder of an `rtl trace` or a "
		   "process,\n"
		   "running or killed. Nothing in it changes.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct info, operands, 1, "one file or folder at a time"),
	.missing = "give the file of a trace, or a folder: rtl info FILE",
	.run = run,
};
