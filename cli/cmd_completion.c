/* SPDX-License-Identifier: MIT */
/* rtl completion: what a shell needs to complete the words of rtl. */
#include <string.h>

#include "cli.h"
#include "embed.h"

EMBED(completion_bash, RTL_CLI "/completion.bash");
EMBED(completion_zsh, RTL_CLI "/completion.zsh");
extern const char completion_bash[], completion_zsh[];

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct cli_operands shells = {0};
	int status = cli_read(command, argc, argv, &shells);

	if (status >= 0)
		return status;
	if (!shells.count)
		return cli_usage("completion: say for which shell: bash or zsh");
	if (!strcmp(shells.list[0], "bash"))
		fputs(completion_bash, stdout);
	else if (!strcmp(shells.list[0], "zsh"))
		fputs(completion_zsh, stdout);
	else
		return cli_usage("completion: unknown shell '%s'; there are bash and zsh",
				 shells.list[0]);
	return cli_finish_output();
}

const struct cli_command cmd_completion = {
	.name = "completion",
	.operands = "SHELL",
	.purpose = "Prints the completion script for bash or zsh",
	.details = "An installed rtl has it where these shells look.",
	.operands_most = 1,
	.excess = "one shell at a time",
	.run = run,
};
