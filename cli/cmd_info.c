/* SPDX-License-Identifier: MIT */
/* rtl info: what is in a trace, or in a folder of spools. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "info.h"

enum { OPTION_JSON };

static const struct cli_option options[] = {
	{0, "json", NULL, "print JSON, for programs"},
};

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct cli_args args = CLI_ARGS(command, argc, argv);
	const char *path = NULL;
	bool json = false;
	struct stat st;
	int option;

	while ((option = cli_next(&args)) != CLI_END) {
		if (option == CLI_HELP)
			return CLI_OK;
		if (option == CLI_BAD)
			return CLI_USAGE;
		if (option == OPTION_JSON)
			json = true;
		else if (path)
			return cli_usage("info: one file or folder at a time; '%s' is one more",
					 args.value);
		else
			path = args.value;
	}
	if (!path)
		return cli_usage("info: give the file of a trace, or a folder: rtl info FILE");
	if (stat(path, &st))
		return cli_failed("info: %s: %s", path, strerror(errno));
	return S_ISDIR(st.st_mode) ? info_folder(path, json) : info_database(path, json);
}

const struct cli_command cmd_info = {
	.name = "info",
	.operands = "FILE|FOLDER",
	.purpose = "Shows processes, streams and the ledger of a trace",
	.details = "FILE is a trace. FOLDER is what processes record into: a collector's, also of\n"
		   "one that runs, a recording, or one process's spool. Nothing in it changes.",
	.options = options,
	.option_count = sizeof(options) / sizeof(*options),
	.run = run,
};
