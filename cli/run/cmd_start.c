/* SPDX-License-Identifier: MIT */
/* rtl start, rtl stop: let a running `rtl trace` record, or not. */
#include <stdlib.h>
#include <string.h>

#include <rtl/collector.h>

#include "cli.h"
#include "folders.h"

static int set_paused(const char *verb, const struct running *running, bool paused)
{
	char message[4096];

	if (rtl_collector_set_paused(running->folder, paused, message, sizeof(message)))
		return cli_failed("%s: %s", verb, message);
	if (running->found)
		cli_error("process %d %s: %s", running->pid,
			  paused ? "records nothing for now" : "records", running->folder);
	return CLI_OK;
}

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct cli_operands sessions = {0};
	struct running running;
	int status = cli_read(command, argc, argv, &sessions);

	if (status >= 0)
		return status;
	status = running_find(command->name, sessions.count ? sessions.list[0] : NULL, &running);
	if (!status)
		status = set_paused(command->name, &running, !strcmp(command->name, "stop"));
	free(running.folder);
	return status;
}

const struct cli_command cmd_start = {
	.name = "start",
	.operands = "[SESSION]",
	.purpose = "Resumes recording in a running `rtl trace`",
	.details = RUNNING_DETAILS,
	.operands_most = 1,
	.excess = "one session at a time",
	.run = run,
};

const struct cli_command cmd_stop = {
	.name = "stop",
	.operands = "[SESSION]",
	.purpose = "Pauses recording in a running `rtl trace`",
	.details = RUNNING_DETAILS,
	.operands_most = 1,
	.excess = "one session at a time",
	.run = run,
};
