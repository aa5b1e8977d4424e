/* SPDX-License-Identifier: MIT */
/* rtl start, rtl stop: let a running `rtl trace` record, or not. */
#include <stdlib.h>

#include "cli.h"
#include "folders.h"

static int set_paused(const char *verb, const struct cli_operands *sessions, bool paused)
{
	char message[4096];
	struct running running;
	int status = running_find(verb, sessions->count ? sessions->list[0] : NULL, &running);

	if (!status && rtl_collector_set_paused(running.folder, paused, message, sizeof(message)))
		status = cli_failed("%s: %s", verb, message);
	else if (!status && running.found)
		cli_error("process %d %s: %s", running.pid,
			  paused ? "records nothing until `rtl start`" : "records", running.folder);
	free(running.folder);
	return status;
}

static int start(void *sessions)
{
	return set_paused("start", sessions, false);
}

static int stop(void *sessions)
{
	return set_paused("stop", sessions, true);
}

#define COMMAND(verb, what)                                                                        \
	{                                                                                          \
		.name = #verb, .operands = "[SESSION]", .purpose = what,                           \
		.details = RUNNING_DETAILS, .request_size = sizeof(struct cli_operands),           \
		.operands_most = 1, .excess = "one session at a time", .run = verb                 \
	}

const struct cli_command cmd_start = COMMAND(start, "Resumes recording in a running `rtl trace`");
const struct cli_command cmd_stop = COMMAND(stop, "Pauses recording in a running `rtl trace`");
