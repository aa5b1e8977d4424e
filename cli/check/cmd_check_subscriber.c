/* SPDX-License-Identifier: MIT */
/*
 * rtl check-subscriber: leads a subscriber through its life, by synthetic streams, and says what it does wrong:
 * check_subscriber.sh, which calls the command again for each scenario.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "cli.h"
#include "embed.h"

EMBED(check_subscriber_sh, RTL_CLI "/check/check_subscriber.sh");
extern const char check_subscriber_sh[];

#define TIMEOUT_S 30u
/* Names the scenario, where the script calls. */
#define SCENARIO "RTL_CHECK_SCENARIO"

struct check {
	struct cli_operands names;
	unsigned timeout_s;
};

static const struct cli_option options[] = {
	CLI_NUMBER(0, "timeout", "SECONDS", offsetof(struct check, timeout_s),
		   "a number of seconds, at least 1",
		   "time after which a step counts as hung (default: 30)"),
};

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct check check = {.timeout_s = TIMEOUT_S};
	char seconds[16], self[PATH_MAX];
	int status = cli_read(command, argc, argv, &check);

	if (status >= 0)
		return status;
	if (!check.names.count)
		return cli_usage("check-subscriber: give a subscriber");
	if (!check.timeout_s || check.timeout_s > 3600)
		return cli_usage("check-subscriber: --timeout takes 1 to 3600 seconds");
	if (getenv(SCENARIO))
		check_scenario(getenv(SCENARIO), check.names.list[0]);
	cli_need(realpath("/proc/self/exe", self));
	setenv("self", self, 1);
	snprintf(seconds, sizeof(seconds), "%u", check.timeout_s);
	execl("/bin/sh", "sh", "-c", check_subscriber_sh, "rtl", check.names.list[0], seconds,
	      NULL);
	return cli_failed("cannot run /bin/sh: %s", strerror(errno));
}

const struct cli_command cmd_check_subscriber = {
	.name = "check-subscriber",
	.operands = "NAME[?key=value&...]",
	.purpose = "Runs a subscriber through its life and reports its mistakes",
	.details = "Synthetic streams are published, recorded and replayed, in processes of their\n"
		   "own. Exit status 0: nothing is wrong; 1: something is, a line each.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct check, names, 1, "one subscriber at a time"),
	.run = run,
};
