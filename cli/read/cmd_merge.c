/* SPDX-License-Identifier: MIT */
/* rtl merge: several traces in one. */
#include <stddef.h>
#include <stdint.h>

#include "cli.h"
#include "database.h"
#include "merge.h"

struct request {
	struct cli_operands files;
	const char *output;
	bool unfinished;
};

static const struct cli_option options[] = {
	CLI_VALUE('o', "output", "FILE", offsetof(struct request, output),
		  "the database to write; replaces a trace"),
	DATABASE_UNFINISHED(offsetof(struct request, unfinished)),
};

static int merge(const struct request *request)
{
	const char *output = request->output;
	char *const *inputs = request->files.list;
	const size_t count = request->files.count;
	int status;

	if (!output)
		return cli_usage("merge: say with -o FILE where to write");
	if (count < 2)
		return cli_usage("merge: give two traces or more: rtl merge -o FILE TRACE...");
	for (size_t i = 0; i < count; i++) {
		if (database_same_file(output, inputs[i]))
			return cli_usage("merge: %s is one of the traces: give -o another name",
					 output);
	}
	if (!database_replaceable(output))
		return cli_failed("output %s exists and is no trace, so it is not written over; "
				  "move it away, or choose another file with -o",
				  output);
	status = merge_traces(output, inputs, count, request->unfinished);
	if (status)
		return status;
	cli_line("%s: %zu traces", output, count);
	return cli_finish_output();
}

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct request request = {0};
	const int status = cli_read(command, argc, argv, &request);

	return status >= 0 ? status : merge(&request);
}

const struct cli_command cmd_merge = {
	.name = "merge",
	.operands = "TRACE...",
	.purpose = "Makes one trace of several: processes, ranks, hosts",
	.details = "Traces are SQLite databases that rtl or RPD wrote.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct request, files, SIZE_MAX, NULL),
	.run = run,
};
