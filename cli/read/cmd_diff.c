/* SPDX-License-Identifier: MIT */
/* rtl diff: what got slower or faster from one trace to another. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cli.h"
#include "database.h"
#include "summary.h"
#include "trace_summary.h"

struct request {
	struct cli_operands files;
	struct summary_difference how;
	const char *least, *fail;
};

static const struct cli_option options[] = {
	CLI_FLAG(0, "json", offsetof(struct request, how.json), "print JSON, for programs"),
	CLI_NUMBER(0, "top", "N", offsetof(struct request, how.top), "a number of rows, 0 for all",
		   "rows of each table, those that changed most;\n"
		   "0: all (default: 20; with --json: all)"),
	CLI_VALUE(0, "least", "PERCENT", offsetof(struct request, least),
		  "a mean that changed by less is the same (default: 2)"),
	CLI_VALUE(0, "fail", "PERCENT", offsetof(struct request, fail),
		  "exit with 3 if something got slower by more than that;\n"
		  "0: by whatever is more than --least"),
};

/* 2.5 as 0.025 */
static bool read_percent(const char *text, double *share)
{
	char *end;

	errno = 0;
	*share = strtod(text, &end) / 100;
	return end != text && !*end && !errno && isfinite(*share) && *share >= 0;
}

/* unfinished: CLI_UNFINISHED if it is being written, else untouched */
static struct summary *read_summary(const char *path, int *unfinished)
{
	struct database *database = database_open(path, false);
	struct summary *summary = database ? summary_create() : NULL;

	if (database && !summary)
		cli_error("out of memory");
	if (summary && database_summarize(database, summary)) {
		summary_destroy(summary);
		summary = NULL;
	}
	if (summary && database_say_unfinished(database))
		*unfinished = CLI_UNFINISHED;
	database_close(database);
	return summary;
}

static int diff(const struct summary_difference *how)
{
	int unfinished = CLI_OK, status = CLI_FAILED, slower = 0;
	struct summary *before = read_summary(how->titles[0], &unfinished);
	struct summary *after = before ? read_summary(how->titles[1], &unfinished) : NULL;

	if (after) {
		slower = summary_print_difference(before, after, stdout, how);
		status = slower < 0 ? cli_failed("out of memory") : cli_finish_output();
	}
	summary_destroy(before);
	summary_destroy(after);
	if (status || unfinished)
		return status ? status : unfinished;
	return slower ? CLI_DIFFERENT : CLI_OK;
}

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct request request = {.how = {.top = CLI_NOT_GIVEN, .least = 0.02, .fail = -1}};
	struct summary_difference *how = &request.how;
	int status = cli_read(command, argc, argv, &request);

	if (status >= 0)
		return status;
	if (request.least && !read_percent(request.least, &how->least))
		return cli_usage("diff: --least %s: give percent, such as 2.5", request.least);
	if (request.fail && !read_percent(request.fail, &how->fail))
		return cli_usage("diff: --fail %s: give percent, such as 5", request.fail);
	if (request.files.count < 2)
		return cli_usage("diff: give the files of two traces: rtl diff BEFORE AFTER");
	for (size_t i = 0; i < 2; i++)
		how->titles[i] = request.files.list[i];
	if (how->top == CLI_NOT_GIVEN)
		how->top = how->json ? 0 : SUMMARY_TOP;
	return diff(how);
}

const struct cli_command cmd_diff = {
	.name = "diff",
	.operands = "BEFORE AFTER",
	.purpose = "Shows what got slower or faster from one trace to another",
	.details = "Both are SQLite databases that rtl or RPD wrote.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct request, files, 2, "two files"),
	.run = run,
};
