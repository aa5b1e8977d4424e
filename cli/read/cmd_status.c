/* SPDX-License-Identifier: MIT */
/* rtl status, rtl top: what traced processes are doing just now, as their spools in shared memory say, and what has
 * ended, as the database says that a collector writes. Nobody is stopped or asked. */
#include <unistd.h>

#include "cli.h"
#include "database.h"
#include "embed.h"
#include "folders.h"
#include "host.h"
#include "info.h"
#include "notes.h"
#include "view.h"

EMBED(status_sql, RTL_CLI "/read/status.sql");
EMBED(recent_sql, RTL_CLI "/read/recent.sql");

/* How old the newest rows of a database are at most, about: two of the bus's flushes. */
#define DATABASE_LAG_NS 100000000
/* Between the two looks of `rtl status`, which tell what is recorded in a second. */
#define STATUS_PERIOD_US 200000

struct status {
	struct cli_operands operands;
	bool json;
	unsigned watch, count, pid;
	bool meant, shown; /* the folder looked at; any */
	bool top;
};

static const struct cli_option options[] = {
	CLI_FLAG(0, "json", offsetof(struct status, json), "print JSON, for programs"),
	CLI_NUMBER(0, "watch", "SECONDS", offsetof(struct status, watch), "a number of seconds",
		   "repeat every SECONDS"),
};

static const struct cli_option top_options[] = {
	CLI_NUMBER(0, "watch", "SECONDS", offsetof(struct status, watch), "a number of seconds",
		   "count for SECONDS before each page (default 1)"),
	CLI_FLAG(0, "json", offsetof(struct status, json), "print JSON, for programs"),
	CLI_NUMBER('n', "count", "N", offsetof(struct status, count), "a number of pages",
		   "end after N pages"),
};

static void look_for_pid(void *user, const char *path, const struct rtl_folder *is)
{
	struct status *status = user;

	status->meant |= (unsigned)is->pid == status->pid;
}

/* A session's work that has ended: the last of each queue, and all of that period. */
static void write_recent(struct json *json, const char *folder, const int64_t period_ns[2])
{
	struct database *database = NULL;
	struct notes notes;

	json_object(json, NULL);
	if (!notes_read(folder, &notes) && notes.database)
		database = database_open(notes.database, true);
	json_print(json, "database:%i", database != NULL);
	if (database)
		(void)info_parts(database, recent_sql, period_ns, json);
	json_end(json);
	database_close(database);
	notes_fini(&notes);
}

/* Each session that is meant, as an object; period_ns: instead, what has ended then. */
static int write_sessions(struct status *status, struct folders *folders, struct json *json,
			  const char *key, const int64_t *period_ns)
{
	int error = CLI_OK;

	json_array(json, key);
	for (size_t i = 0; i < folders->count && !error; i++) {
		struct folder *folder = &folders->items[i];

		folder->is.in_use &= period_ns || !access(folder->path, F_OK); /* it may be gone */
		status->meant = !status->pid || (unsigned)folder->is.pid == status->pid;
		folder_visit_spools(folder->path, look_for_pid, status);
		if (!status->meant || !folder->is.in_use)
			continue;
		status->shown = true;
		if (period_ns)
			write_recent(json, folder->path, period_ns);
		else if (info_write(json, folder->path, &folder->is) && !access(folder->path, F_OK))
			error = CLI_FAILED; /* else it is gone by now */
	}
	json_end(json);
	return error;
}

static int show(struct status *status)
{
	int64_t period_ns[2] = {(int64_t)host_clock_ns(CLOCK_BOOTTIME)};
	const bool top = status->top;
	struct folders folders;
	struct view view;
	int error = CLI_OK, end;

	sessions_find(&folders);
	view_begin(&view, status->json);
	json_print(&view.json, "{");
	error = write_sessions(status, &folders, &view.json, "before", NULL);
	if (top)
		sleep(status->watch);
	else
		usleep(STATUS_PERIOD_US);
	period_ns[1] = (int64_t)host_clock_ns(CLOCK_BOOTTIME);
	json_print(&view.json, "top:%i period_ns:%lu", top, period_ns[1] - period_ns[0]);
	if (!error)
		error = write_sessions(status, &folders, &view.json, "sessions", NULL);
	json_number(&view.json, "now_ns", (uint64_t)period_ns[1]);
	period_ns[1] -= DATABASE_LAG_NS;
	period_ns[0] = top ? period_ns[0] - DATABASE_LAG_NS : period_ns[1];
	(void)write_sessions(status, &folders, &view.json, "recent", period_ns);
	if (top && isatty(STDOUT_FILENO) && !status->json)
		fputs("\033[H\033[2J", stdout);
	end = view_end(&view, status_sql);
	folders_fini(&folders);
	return error ? error : end;
}

static int run(void *request)
{
	struct status *status = request;
	const char *verb = status->top ? "top" : "status";
	unsigned pages = 0;
	int error;

	if (status->operands.count && !cli_number(status->operands.list[0], &status->pid))
		return cli_usage("%s: '%s' is not a process number", verb,
				 status->operands.list[0]);
	do {
		if (pages && !status->top)
			sleep(status->watch);
		status->shown = false;
		error = show(status);
		if (!error && !status->shown && status->pid)
			return cli_failed("%s: process %u is not being traced, or is not yours",
					  verb, status->pid);
	} while (!error && status->watch && ++pages != status->count);
	return error;
}

#define PID                                                                                        \
	"PID is a traced process, its `rtl trace` or `rtl attach`; without it, all are shown.\n"   \
	"It reads shared memory"

const struct cli_command cmd_status = {
	.name = "status",
	.operands = "[PID]",
	.purpose = "Shows what traced programs are doing just now",
	.details = PID ": it works on a process that hangs, and stops nobody.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct status, operands, 1, "one process at a time"),
	.run = run,
};

const struct cli_command cmd_top = {
	.name = "top",
	.operands = "[PID]",
	.purpose = "Shows once a second how busy the GPUs are, and with what",
	.details = PID " and the database that is being written, and stops nobody.",
	.request = &(struct status){.watch = 1, .top = true},
	CLI_OPTIONS(top_options),
	CLI_OPERANDS(struct status, operands, 1, "one process at a time"),
	.run = run,
};
