/* SPDX-License-Identifier: MIT */
/* rtl completion: what a shell needs to complete the words of rtl. */

#include "cli.h"
#include "embed.h"

EMBED(completion_bash, RTL_CLI "/completion.bash");
EMBED(completion_zsh, RTL_CLI "/completion.zsh");

static int run(void *request)
{
	const char *shell = ((const struct cli_operands *)request)->list[0];

	if (!strcmp(shell, "bash"))
		fputs(completion_bash, stdout);
	else if (!strcmp(shell, "zsh"))
		fputs(completion_zsh, stdout);
	else
		return cli_usage("completion: unknown shell '%s'; give bash or zsh", shell);
	return cli_finish_output();
}

const struct cli_command cmd_completion = {
	.name = "completion",
	.operands = "SHELL",
	.purpose = "Prints the completion script for bash or zsh",
	.details = "Installing rtl puts both where these shells look.",
	.request_size = sizeof(struct cli_operands),
	.operands_most = 1,
	.excess = "one shell at a time",
	.missing = "give a shell: bash or zsh",
	.run = run,
};
