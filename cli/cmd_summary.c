/* SPDX-License-Identifier: MIT */
/* rtl summary: where the time went, from a trace. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "database.h"
#include "summary.h"

enum { OPTION_JSON, OPTION_CSV, OPTION_TOP, OPTION_SORT, OPTION_FULL_NAMES };

static const struct cli_option options[] = {
	{0, "json", NULL, "print JSON, for programs"},
	{0, "csv", NULL, "print CSV: a line for each row of each table"},
	{0, "top", "N",
	 "rows of each table, the first ones;\n"
	 "0: all (default: 20; with --json and --csv: all)"},
	{0, "sort", "KEY",
	 "total (default), count, mean, min, p50, p99, max: the\n"
	 "greatest first; or name"},
	{0, "full-names", NULL, "names in full, however long the lines"},
};

static bool read_sort(const char *text, enum summary_sort *sort)
{
	static const char *const keys[SUMMARY_SORTS] = {
		[SUMMARY_BY_TOTAL] = "total", [SUMMARY_BY_COUNT] = "count",
		[SUMMARY_BY_MEAN] = "mean",   [SUMMARY_BY_MIN] = "min",
		[SUMMARY_BY_P50] = "p50",     [SUMMARY_BY_P99] = "p99",
		[SUMMARY_BY_MAX] = "max",     [SUMMARY_BY_NAME] = "name",
	};

	for (int i = 0; i < SUMMARY_SORTS; i++) {
		*sort = (enum summary_sort)i;
		if (!strcmp(text, keys[i]))
			return true;
	}
	return false;
}

static void say_removed(struct database *database, const char *path)
{
	char *line;

	if (!database_removed(database, &line) && line)
		cli_error("%s: %s", path, line);
	free(line);
}

typedef void print_fn(struct summary *summary, FILE *file, const struct summary_style *style);

static int summarize(const char *path, print_fn *print, const struct summary_style *style)
{
	struct database *database = database_open(path, false);
	struct summary *summary = database ? summary_create() : NULL;
	int status = CLI_FAILED;

	if (database && !summary)
		cli_error("out of memory");
	if (summary && !database_summarize(database, summary)) {
		print(summary, stdout, style);
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
	print_fn *print = summary_print_text;
	bool has_top = false;
	int option;

	while ((option = cli_next(&args)) != CLI_END) {
		if (option == CLI_HELP)
			return CLI_OK;
		if (option == CLI_BAD)
			return CLI_USAGE;
		if (option == OPTION_JSON)
			print = summary_print_json;
		else if (option == OPTION_CSV)
			print = summary_print_csv;
		else if (option == OPTION_FULL_NAMES)
			style.columns = UINT_MAX;
		else if (option == OPTION_SORT && !read_sort(args.value, &style.sort))
			return cli_usage("summary: --sort %s: give total, count, mean, min, p50, "
					 "p99, max or name",
					 args.value);
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
		style.top = print == summary_print_text ? SUMMARY_TOP : 0;
	style.title = path;
	return summarize(path, print, &style);
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
