/* SPDX-License-Identifier: MIT */
/* rtl info: what is in a trace, or in a folder of spools. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "info.h"

struct info {
	struct cli_operands operands;
	bool json;
};

static const struct cli_option options[] = {
	CLI_FLAG(0, "json", offsetof(struct info, json), "print JSON, for programs"),
};

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct info info = {0};
	const char *path;
	struct stat st;
	int status = cli_read(command, argc, argv, &info);

	if (status >= 0)
		return status;
	if (!info.operands.count)
		return cli_usage("info: give the file of a trace, or a folder: rtl info FILE");
	path = info.operands.list[0];
	if (stat(path, &st))
		return cli_failed("info: %s: %s", path, strerror(errno));
	return S_ISDIR(st.st_mode) ? info_folder(path, info.json) : info_database(path, info.json);
}

const struct cli_command cmd_info = {
	.name = "info",
	.operands = "FILE|FOLDER",
	.purpose = "Shows processes, streams and the ledger of a trace",
	.details = "FILE is a trace. FOLDER is what processes record into: a collector's, also of\n"
		   "one that runs, a recording, or one process's spool. Nothing in it changes.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct info, operands, 1, "one file or folder at a time"),
	.run = run,
};
