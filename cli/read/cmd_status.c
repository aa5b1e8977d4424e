/* SPDX-License-Identifier: MIT */
/* rtl status: what traced processes are doing just now, as their spools in shared memory say. Nobody is stopped or asked. */
#include <unistd.h>

#include "cli.h"
#include "embed.h"
#include "folders.h"
#include "info.h"
#include "view.h"

EMBED(status_sql, RTL_CLI "/read/status.sql");

struct status {
	struct cli_operands operands;
	bool json, meant;
	unsigned watch, pid;
};

static const struct cli_option options[] = {
	CLI_FLAG(0, "json", offsetof(struct status, json), "print JSON, for programs"),
	CLI_NUMBER(0, "watch", "SECONDS", offsetof(struct status, watch), "a number of seconds",
		   "repeat every SECONDS"),
};

static void look_for_pid(void *user, const char *path, const struct rtl_folder *is)
{
	struct status *status = user;

	status->meant |= (unsigned)is->pid == status->pid;
}

static int show(struct status *status)
{
	struct folders folders;
	struct view view;
	int error = CLI_OK, end;
	bool shown = !status->pid;

	folders_find(&folders);
	view_begin(&view, status->json);
	json_object(&view.json, NULL);
	json_array(&view.json, "sessions");
	for (size_t i = 0; i < folders.count && !error; i++) {
		const struct folder *folder = &folders.items[i];

		status->meant = !status->pid || (unsigned)folder->is.pid == status->pid;
		folder_visit_spools(folder->path, look_for_pid, status);
		if (status->meant && folder->is.in_use) {
			shown = true;
			/* it may be gone by now */
			if (info_write(&view.json, folder->path, &folder->is) &&
			    !access(folder->path, F_OK))
				error = CLI_FAILED;
		}
	}
	json_end(&view.json);
	json_end(&view.json);
	end = view_end(&view, status_sql);
	folders_fini(&folders);
	if (!error && !end && !shown)
		return cli_failed("status: process %u is not being traced, or is not yours",
				  status->pid);
	return error ? error : end;
}

static int run(void *request)
{
	struct status *status = request;
	int error;

	if (status->operands.count && !cli_number(status->operands.list[0], &status->pid))
		return cli_usage("status: '%s' is no number of a process",
				 status->operands.list[0]);
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
