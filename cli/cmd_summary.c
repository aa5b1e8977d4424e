/* SPDX-License-Identifier: MIT */
/* rtl summary: where the time went, from a trace. */
#include <stdlib.h>

#include "cli.h"
#include "database.h"
#include "summary.h"

enum { OPTION_JSON, OPTION_TOP };

static const struct cli_option options[] = {
	{0, "json", NULL, "print JSON, for programs"},
	{0, "top", "N",
	 "rows of each table, those that took longest;\n"
	 "0: all (default: 20; with --json: all)"},
};

static void say_removed(struct database *database, const char *path)
{
	char *line;

	if (!database_removed(database, &line) && line)
		cli_error("%s: %s", path, line);
	free(line);
}

static int summarize(const char *path, bool json, const struct summary_style *style)
{
	struct database *database = database_open(path, false);
	struct summary *summary = database ? summary_create() : NULL;
	int status = CLI_FAILED;

	if (database && !summary)
		cli_error("out of memory");
	if (summary && !database_summarize(database, summary)) {
		if (json)
			summary_print_json(summary, stdout, style);
		else
			summary_print_text(summary, stdout, style);
		status = cli_finish_output();
		char *writer = database_fact(database, "writer");
		char *interrupted = database_fact(database, "interrupted");
		if (writer)
			cli_error("%s is not complete: its program still runs, or was cut off",
				  path);
		if (interrupted)
			cli_error("%s was recovered: %s", path, interrupted);
		free(interrupted);
		free(writer);
		say_removed(database, path);
	}
	summary_destroy(summary);
	database_close(database);
	return status;
}

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct cli_args args = CLI_ARGS(command, argc, argv);
	struct summary_style style = {0};
	const char *path = NULL;
	bool json = false, has_top = false;
	int option;

	while ((option = cli_next(&args)) != CLI_END) {
		if (option == CLI_HELP)
			return CLI_OK;
		if (option == CLI_BAD)
			return CLI_USAGE;
		if (option == OPTION_JSON)
			json = true;
		else if (option == OPTION_TOP && !(has_top = cli_number(args.value, &style.top)))
			return cli_usage("summary: --top %s: give a number of rows, 0 for all",
					 args.value);
		else if (option == CLI_OPERAND && path)
			return cli_usage("summary: one file at a time; '%s' is one more",
					 args.value);
		else if (option == CLI_OPERAND)
			path = args.value;
	}
	if (!path)
		return cli_usage("summary: give the file of a trace: rtl summary FILE");
	if (!has_top)
		style.top = json ? 0 : SUMMARY_TOP;
	style.title = path;
	return summarize(path, json, &style);
}

const struct cli_command cmd_summary = {
	.name = "summary",
	.operands = "FILE",
	.purpose = "Shows where the time went in a trace",
	.details = "FILE is an SQLite database that rtl or RPD wrote.",
	.options = options,
	.option_count = sizeof(options) / sizeof(*options),
	.mentions = true,
	.run = run,
};
