/* SPDX-License-Identifier: MIT */
/* rtl summary: where the time went, from a trace. */

#include "cli.h"
#include "collect.h"
#include "database.h"
#include "embed.h"
#include "info.h"
#include "summary.h"
#include "view.h"

EMBED(summary_csv_sql, RTL_CLI "/read/summary_csv.sql");

struct request {
	struct cli_operands files;
	bool json, csv, full_names, details;
	unsigned top;
	const char *sort, *by, *groups;
};

static const struct cli_option options[] = {
	CLI_FLAG(0, "json", offsetof(struct request, json), "print JSON, for programs"),
	CLI_FLAG(0, "csv", offsetof(struct request, csv),
		 "print CSV: a line for each row of each table"),
	CLI_NUMBER(0, "top", "N", offsetof(struct request, top), "a number of rows, 0 for all",
		   "the first N rows of each table;\n"
		   "0: all (default: 20; with --json and --csv: all)"),
	CLI_VALUE(0, "sort", "KEY", offsetof(struct request, sort),
		  "total (default), count, mean, min, p50, p99, max: the\n"
		  "greatest first; or name"),
	CLI_VALUE(0, "by", "KEY", offsetof(struct request, by),
		  "break tables down by range, stream, thread, process, gpu,\n"
		  "graph or group (of kernels: GEMM, attention, ...)"),
	CLI_VALUE(0, "groups", "FILE", offsetof(struct request, groups),
		  "with --by group: your groups, a line each: PATTERN GROUP\n"
		  "(default: RTL_GROUPS)"),
	CLI_FLAG(0, "full-names", offsetof(struct request, full_names), "do not shorten names"),
	CLI_FLAG(0, "details", offsetof(struct request, details),
		 "add what `rtl info` prints: streams, processes, GPUs, losses"),
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

static int print(const struct request *request, struct summary *summary,
		 const struct summary_style *style)
{
	struct view view;

	if (!request->json && !request->csv) {
		summary_print_text(summary, stdout, style);
		return cli_finish_output();
	}
	view_begin(&view, request->json);
	summary_print_json(summary, view.json.file, style);
	return view_end(&view, summary_csv_sql);
}

static int summarize(const struct request *request, const struct summary_style *style)
{
	struct database *database = database_open(style->title, false);
	struct summary *summary = database ? cli_need(summary_create()) : NULL;
	char error[SUMMARY_ERROR];
	int status = CLI_FAILED;

	if (summary && summary_set_by(summary, request->by, request->groups, error))
		status = cli_usage("summary: %s", error);
	else if (summary && !database_summarize(database, summary)) {
		status = print(request, summary, style);
		const int unfinished = database_say_unfinished(database);
		for (int i = 0; i < 2; i++) {
			char *fact = database_fact(database, i ? "paused" : "interrupted");

			if (fact)
				cli_error("%s%s: %s", style->title, i ? "" : " was recovered",
					  fact);
			free(fact);
		}
		status = status ? status : unfinished;
	}
	summary_destroy(summary);
	database_close(database);
	return status;
}

static int run(void *user)
{
	const struct request *request = user;
	struct summary_style style = {.title = request->files.list[0]};
	int status;

	if (request->json && request->csv)
		return cli_usage("summary: give --json or --csv, not both");
	if (request->details && (request->json || request->csv))
		return cli_usage("summary: --details is text (rtl info --json prints it as JSON)");
	if (request->sort && !read_sort(request->sort, &style.sort))
		return cli_usage("summary: --sort %s: give total, count, mean, min, p50, "
				 "p99, max or name",
				 request->sort);
	style.columns = request->full_names ? UINT_MAX : 0;
	style.top = request->top != CLI_NOT_GIVEN   ? request->top
		    : request->json || request->csv ? 0
						    : SUMMARY_TOP;
	status = summarize(request, &style);
	if (status || !request->details)
		return status;
	putchar('\n');
	return info_database(style.title, false);
}

const struct cli_command cmd_summary = {
	.name = "summary",
	.operands = "FILE",
	.purpose = "Shows where the time went and why the GPU was idle",
	.details = "FILE is an SQLite database that rtl or RPD wrote.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct request, files, 1,
		     "one file at a time (rtl merge makes one of several)"),
	.missing = "give the file of a trace: rtl summary FILE",
	.request = &(const struct request){.top = CLI_NOT_GIVEN},
	.run = run,
};
