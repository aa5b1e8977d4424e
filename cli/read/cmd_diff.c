/* SPDX-License-Identifier: MIT */
/* rtl diff: what got slower or faster from one trace to another. */
#include <errno.h>
#include <math.h>

#include "cli.h"
#include "collect.h"
#include "database.h"
#include "summary.h"

#define FILES_MOST 100

struct request {
	struct cli_operands files;
	struct summary_difference how;
	const char *least, *fail, *only;
};

static const struct cli_option options[] = {
	CLI_FLAG(0, "json", offsetof(struct request, how.json), "print JSON, for programs"),
	CLI_NUMBER(0, "top", "N", offsetof(struct request, how.top), "a number of rows, 0 for all",
		   "the N rows of each table that changed most;\n"
		   "0: all (default: 20; with --json: all)"),
	CLI_VALUE(0, "least", "PERCENT", offsetof(struct request, least),
		  "ignore means that changed by less (default: 2)"),
	CLI_VALUE(0, "fail", "PERCENT", offsetof(struct request, fail),
		  "exit with 3 if something got slower by more than this;\n"
		  "0: by more than --least"),
	CLI_VALUE(0, "only", "WHAT", offsetof(struct request, only),
		  "compare only kernels, calls or steps (ranges)"),
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
	struct summary *summary = database ? cli_need(summary_create()) : NULL;

	if (summary && database_summarize(database, summary)) {
		summary_destroy(summary);
		summary = NULL;
	}
	if (summary && database_say_unfinished(database))
		*unfinished = CLI_UNFINISHED;
	database_close(database);
	return summary;
}

static int diff(struct summary_difference *how, struct summary **runs)
{
	int unfinished = CLI_OK, status = CLI_OK, slower = 0;
	size_t count = 0;

	for (int side = 0; side < 2; side++) {
		how->runs[side] = runs + count;
		for (size_t i = 0; !status && i < how->count[side]; i++) {
			runs[count] = read_summary(how->titles[side][i], &unfinished);
			status = runs[count++] ? CLI_OK : CLI_FAILED;
		}
	}
	if (!status) {
		slower = summary_print_difference(stdout, how);
		status = slower < 0 ? cli_failed("out of memory") : cli_finish_output();
	}
	while (count)
		summary_destroy(runs[--count]);
	return status ? status : unfinished ? unfinished : slower ? CLI_DIFFERENT : CLI_OK;
}

/* Two files, or some before and some behind "--". False: neither. */
static bool take_sides(const struct cli_operands *files, struct summary_difference *how)
{
	how->titles[0] = (const char *const *)files->list;
	how->titles[1] = (const char *const *)files->command;
	how->count[0] = files->count;
	while (files->command && files->command[how->count[1]])
		how->count[1]++;
	if (!files->command && files->count == 2) {
		how->titles[1] = how->titles[0] + 1;
		how->count[0] = how->count[1] = 1;
	}
	return how->count[0] && how->count[1] && how->count[0] + how->count[1] <= FILES_MOST;
}

static bool read_only(const char *word, const char **kind)
{
	static const char *const kinds[][2] = {
		{"kernels", "task"}, {"calls", "function"}, {"steps", "region"}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(word, kinds[i][0]))
			*kind = kinds[i][1];
	return *kind;
}

static int run(void *user)
{
	struct request *request = user;
	struct summary_difference *how = &request->how;
	struct summary *runs[FILES_MOST];

	if (request->least && !read_percent(request->least, &how->least))
		return cli_usage("diff: --least %s: give percent, such as 2.5", request->least);
	if (request->fail && !read_percent(request->fail, &how->fail))
		return cli_usage("diff: --fail %s: give percent, such as 5", request->fail);
	if (request->only && !read_only(request->only, &how->only))
		return cli_usage("diff: --only %s: give kernels, calls or steps", request->only);
	if (!take_sides(&request->files, how))
		return cli_usage("diff: give the files of two traces, rtl diff BEFORE AFTER, or of "
				 "several runs of each: rtl diff BEFORE... -- AFTER...");
	if (how->top == CLI_NOT_GIVEN)
		how->top = how->json ? 0 : SUMMARY_TOP;
	return diff(how, runs);
}

const struct cli_command cmd_diff = {
	.name = "diff",
	.operands = "BEFORE... [--] AFTER...",
	.purpose = "Shows what got slower or faster between runs",
	.details = "Reads SQLite databases of rtl or RPD. With several runs on each side, reports "
		   "only\n"
		   "differences beyond the variation between runs.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct request, files, FILES_MOST, "100 files at most"),
	.runs = CLI_RUNS_REST,
	.request =
		&(const struct request){.how = {.top = CLI_NOT_GIVEN, .least = 0.02, .fail = -1}},
	.run = run,
};
