/* SPDX-License-Identifier: MIT */
/* rtl start, rtl stop: let a running `rtl trace` record, or not. */
#include <stdlib.h>

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

static int find_and_set(const char *verb, const struct cli_operands *sessions, bool paused)
{
	struct running running;
	int status = running_find(verb, sessions->count ? sessions->list[0] : NULL, &running);

	if (!status)
		status = set_paused(verb, &running, paused);
	free(running.folder);
	return status;
}

static int start(void *sessions)
{
	return find_and_set("start", sessions, false);
}

static int stop(void *sessions)
{
	return find_and_set("stop", sessions, true);
}

const struct cli_command cmd_start = {
	.name = "start",
	.operands = "[SESSION]",
	.purpose = "Resumes recording in a running `rtl trace`",
	.details = RUNNING_DETAILS,
	.request_size = sizeof(struct cli_operands),
	.operands_most = 1,
	.excess = "one session at a time",
	.run = start,
};

const struct cli_command cmd_stop = {
	.name = "stop",
	.operands = "[SESSION]",
	.purpose = "Pauses recording in a running `rtl trace`",
	.details = RUNNING_DETAILS,
	.request_size = sizeof(struct cli_operands),
	.operands_most = 1,
	.excess = "one session at a time",
	.run = stop,
};
