/* SPDX-License-Identifier: MIT */
/* rtl diff: what got slower or faster from one trace to another. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cli.h"
#include "database.h"
#include "summary.h"

enum { OPTION_JSON, OPTION_TOP, OPTION_LEAST, OPTION_FAIL };

static const struct cli_option options[] = {
	{0, "json", NULL, "print JSON, for programs"},
	{0, "top", "N",
	 "rows of each table, those that changed most;\n"
	 "0: all (default: 20; with --json: all)"},
	{0, "least", "PERCENT", "a mean that changed by less is the same (default: 2)"},
	{0, "fail", "PERCENT",
	 "exit with 3 if something got slower by more than that;\n"
	 "0: by whatever is more than --least"},
};

/* 2.5 as 0.025 */
static bool read_percent(const char *text, double *share)
{
	char *end;

	errno = 0;
	*share = strtod(text, &end) / 100;
	return end != text && !*end && !errno && isfinite(*share) && *share >= 0;
}

static struct summary *read_summary(const char *path)
{
	struct database *database = database_open(path, false);
	struct summary *summary = database ? summary_create() : NULL;

	if (database && !summary)
		cli_error("out of memory");
	if (summary && database_summarize(database, summary)) {
		summary_destroy(summary);
		summary = NULL;
	}
	database_close(database);
	return summary;
}

static int diff(const struct summary_difference *how)
{
	struct summary *before = read_summary(how->titles[0]);
	struct summary *after = before ? read_summary(how->titles[1]) : NULL;
	int status = CLI_FAILED, slower = 0;

	if (after) {
		slower = summary_print_difference(before, after, stdout, how);
		status = slower < 0 ? cli_failed("out of memory") : cli_finish_output();
	}
	summary_destroy(before);
	summary_destroy(after);
	return status == CLI_OK && slower ? CLI_DIFFERENT : status;
}

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct summary_difference how = {.least = 0.02, .fail = -1};
	struct cli_args args = CLI_ARGS(command, argc, argv);
	bool has_top = false;
	int option, given = 0;

	while ((option = cli_next(&args)) != CLI_END) {
		if (option == CLI_HELP)
			return CLI_OK;
		if (option == CLI_BAD)
			return CLI_USAGE;
		if (option == OPTION_JSON)
			how.json = true;
		else if (option == OPTION_TOP && !(has_top = cli_number(args.value, &how.top)))
			return cli_usage("diff: --top %s: give a number of rows, 0 for all",
					 args.value);
		else if (option == OPTION_LEAST && !read_percent(args.value, &how.least))
			return cli_usage("diff: --least %s: give percent, such as 2.5", args.value);
		else if (option == OPTION_FAIL && !read_percent(args.value, &how.fail))
			return cli_usage("diff: --fail %s: give percent, such as 5", args.value);
		else if (option == CLI_OPERAND && given == 2)
			return cli_usage("diff: two files; '%s' is one more", args.value);
		else if (option == CLI_OPERAND)
			how.titles[given++] = args.value;
	}
	if (given < 2)
		return cli_usage("diff: give the files of two traces: rtl diff BEFORE AFTER");
	if (!has_top)
		how.top = how.json ? 0 : SUMMARY_TOP;
	return diff(&how);
}

const struct cli_command cmd_diff = {
	.name = "diff",
	.operands = "BEFORE AFTER",
	.purpose = "Shows what got slower or faster from one trace to another",
	.details = "Both are SQLite databases that rtl or RPD wrote.",
	.options = options,
	.option_count = sizeof(options) / sizeof(*options),
	.mentions = true,
	.run = run,
};
