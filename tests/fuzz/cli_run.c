/* SPDX-License-Identifier: MIT */
#include "cli_run.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MOST 16

void cli_run_init(void)
{
	/* the streams alone: a sanitizer writes to the descriptor */
	stdout = fopen("/dev/null", "w");
	stderr = fopen("/dev/null", "w");
	if (!stdout || !stderr)
		abort();
}

int cli_run(const struct cli_command *command, ...)
{
	char *argv[MOST + 1] = {strdup(command->name)}, *given[MOST];
	int argc = 1, status;
	const char *word;
	va_list args;

	va_start(args, command);
	while ((word = va_arg(args, const char *)) && argc < MOST)
		argv[argc++] = strdup(word);
	va_end(args);
	memcpy(given, argv, sizeof(given)); /* reading them moves them */
	status = cli_start(command, argc, argv);
	while (argc)
		free(given[--argc]);
	if (status != CLI_OK && status != CLI_FAILED && status != CLI_USAGE &&
	    status != CLI_UNFINISHED)
		abort();
	return status;
}
