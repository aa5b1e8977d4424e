/* SPDX-License-Identifier: MIT */
/*
 * rtl selftest: selftest.sh runs a program (cli/check/selftest_program) that says what it does on a GPU and when,
 * alone and under `rtl trace`, and calls the command again: what came of that, and what the traces have, is put in
 * tables, which SQL compares and reports. One thread.
 */
#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rtl/types.h>

#include "cli.h"
#include "embed.h"
#include "library.h"

EMBED(selftest_sh, RTL_CLI "/check/selftest.sh");
EMBED(selftest_tables, RTL_CLI "/check/selftest.sql");
EMBED(selftest_trace, RTL_CLI "/check/selftest_trace.sql");
EMBED(selftest_compare, RTL_CLI "/check/selftest_compare.sql");
EMBED(selftest_text, RTL_CLI "/check/selftest_text.sql");
EMBED(selftest_json, RTL_CLI "/check/selftest_json.sql");
extern const char selftest_sh[], selftest_tables[], selftest_trace[], selftest_compare[],
	selftest_text[], selftest_json[];

#define PROGRAM  "rtl/selftest" /* beside librtl */
#define COUNTERS "SQ_WAVES,SQ_INSTS_VALU,GRBM_GUI_ACTIVE"
/* Names the records, where the script calls. */
#define RECORDS "RTL_SELFTEST_RECORDS"

struct selftest {
	bool counters, as_json;
	sqlite3 *tables;
	int run;     /* the last one's id */
	bool failed; /* SQL has; that has been said */
};

static void fail(struct selftest *test)
{
	if (!test->failed)
		cli_error("selftest: %s", sqlite3_errmsg(test->tables));
	test->failed = true;
}

/* Runs statements, and prints their rows. */
static void print(struct selftest *test, const char *sql)
{
	sqlite3_stmt *statement;

	while (sql && *sql) {
		if (sqlite3_prepare_v2(test->tables, sql, -1, &statement, &sql))
			break;
		while (sqlite3_step(statement) == SQLITE_ROW)
			cli_line("%s", cli_text((const char *)sqlite3_column_text(statement, 0)));
		if (sqlite3_finalize(statement))
			break;
	}
	if (!sql || *sql)
		fail(test);
}

#define DO(test, ...)                                                                              \
	do {                                                                                       \
		char *sql_ = sqlite3_mprintf(__VA_ARGS__);                                         \
		if (!sql_ || sqlite3_exec((test)->tables, sql_, NULL, NULL, NULL))                 \
			fail(test);                                                                \
		sqlite3_free(sql_);                                                                \
	} while (0)

static bool is_there(struct selftest *test, const char *level)
{
	sqlite3_stmt *statement;
	bool there = false;

	if (sqlite3_prepare_v2(test->tables, "SELECT 1 FROM finding WHERE level = ?", -1,
			       &statement, NULL) ||
	    sqlite3_bind_text(statement, 1, level, -1, SQLITE_STATIC))
		fail(test);
	else
		there = sqlite3_step(statement) == SQLITE_ROW;
	sqlite3_finalize(statement);
	return there;
}

/* A line of the program's. */
static void take_said(struct selftest *test, const char *line)
{
	char kind[32] = "", name[128] = "", x[32] = "", y[32] = "";
	const char *text = strchr(line, ' ');

	sscanf(line, "%31s %127s %31s %31s", kind, name, x, y);
	if (!strcmp(kind, "end"))
		DO(test, "UPDATE run SET ended = 1 WHERE id = %d", test->run);
	else if (!strcmp(kind, "failed") && text)
		DO(test, "UPDATE run SET why = %Q WHERE id = %d", text + 1, test->run);
	else
		DO(test,
		   "INSERT INTO line VALUES (%d, 0, %Q, %Q, nullif(%Q, ''), nullif(%Q, ''), %Q, "
		   "NULL)",
		   test->run, kind, name, x, y, text ? text + 1 : NULL);
}

/* What a trace has; where that is no trace, the run has none. */
static void take_trace(struct selftest *test, const char *trace)
{
	if (access(trace, F_OK))
		return;
	DO(test, "ATTACH %Q AS t", trace);
	sqlite3_exec(test->tables, selftest_trace, NULL, NULL, NULL);
	DO(test, "DETACH t");
}

static void take_run(struct selftest *test, const char *line)
{
	char workload[32] = "", mode[32] = "";
	int alone = 0, compared = 0;

	sscanf(line, "%d %31s %31s %d %d", &test->run, workload, mode, &alone, &compared);
	DO(test,
	   "INSERT INTO run VALUES (%d, %Q, nullif(%Q, 'alone'), nullif(%d, 0), NULL, NULL, 0, %d, "
	   "0)",
	   test->run, workload, mode, alone, compared);
}

static void take(struct selftest *test, char *line)
{
	char *rest = line;
	const char *kind = strsep(&rest, " ");
	const int name = rest ? (int)strcspn(rest, " ") : 0;

	if (!rest)
		return;
	if (!strcmp(kind, "fact"))
		DO(test, "INSERT INTO fact VALUES (%.*Q, %Q)", name, rest, rest + name + 1);
	else if (!strcmp(kind, "run"))
		take_run(test, rest);
	else if (!strcmp(kind, "said"))
		take_said(test, rest);
	else if (!strcmp(kind, "error"))
		DO(test, "UPDATE run SET why = coalesce(why, %Q) WHERE id = %d", rest, test->run);
	else if (!strcmp(kind, "ending"))
		DO(test, "UPDATE run SET ending = %Q WHERE id = %d", rest, test->run);
	else
		take_trace(test, rest);
}

static int report(struct selftest *test, FILE *records)
{
	char *line = NULL;
	size_t size = 0;
	int status;

	print(test, selftest_tables);
	DO(test, "INSERT INTO fact VALUES ('rtl', %Q)", rtl_version());
	while (getline(&line, &size, records) > 0) {
		line[strcspn(line, "\n")] = '\0';
		take(test, line);
	}
	free(line);
	print(test, selftest_compare);
	if (test->failed)
		return CLI_FAILED;
	print(test, test->as_json ? selftest_json : selftest_text);
	status = cli_finish_output();
	return status || test->failed      ? CLI_FAILED
	       : is_there(test, "differs") ? CLI_DIFFERENT
	       : is_there(test, "not_run") ? CLI_FAILED
					   : CLI_OK;
}

static int run_programs(const struct selftest *test)
{
	char *program = library_beside_rtl(PROGRAM), self[PATH_MAX];

	cli_need(realpath("/proc/self/exe", self));
	if (access(program, X_OK))
		return cli_failed("selftest: its program cannot be run: %s: %s; install the rtl "
				  "that was built with ROCm",
				  program, strerror(errno));
	setenv("program", program, 1);
	setenv("self", self, 1);
	setenv("counters", test->counters ? COUNTERS : "", 1);
	execl("/bin/sh", "sh", "-c", selftest_sh, "rtl", test->as_json ? "--json" : NULL, NULL);
	return cli_failed("cannot run /bin/sh: %s", strerror(errno));
}

static const struct cli_option options[] = {
	CLI_FLAG(0, "counters", offsetof(struct selftest, counters),
		 "count hardware events, too, and compare what is known of them"),
	CLI_FLAG(0, "json", offsetof(struct selftest, as_json), "print JSON, for programs"),
};

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct selftest test = {0};
	const char *records = getenv(RECORDS);
	FILE *file = records ? fopen(records, "re") : NULL;
	int status = cli_read(command, argc, argv, &test);

	if (status < 0 && !file)
		status = run_programs(&test);
	else if (status < 0)
		status = sqlite3_open(":memory:", &test.tables) ? cli_failed("out of memory")
								: report(&test, file);
	sqlite3_close(test.tables);
	if (file)
		fclose(file);
	return status;
}

const struct cli_command cmd_selftest = {
	.name = "selftest",
	.operands = "",
	.purpose = "Tests rtl on the GPU here and prints a report to send in",
	.details =
		"Runs small programs alone and traced, and compares what is recorded with their "
		"own\n"
		"counts of calls and launches, and with the times of hipEvents; measures what "
		"tracing\n"
		"costs. Takes half a minute. The report names no host, user or file.\n"
		"Exit status 0: all agrees; 3: something differs; 1: something could not be run.",
	CLI_OPTIONS(options),
	.run = run,
};
