/* SPDX-License-Identifier: MIT */
/* rtl selftest: selftest.sh runs a program (cli/check/selftest_program) that says what it does on a GPU and when, alone
 * and under `rtl trace`, and calls the command again: what came of that, and what the traces have, is put in tables,
 * which SQL compares and reports. One thread. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "embed.h"
#include "library.h"
#include "sqlite_open.h"

EMBED(selftest_sh, RTL_CLI "/check/selftest.sh");
EMBED(selftest_tables, RTL_CLI "/check/selftest.sql");
EMBED(selftest_trace, RTL_CLI "/check/selftest_trace.sql");
EMBED(selftest_compare, RTL_CLI "/check/selftest_compare.sql");
EMBED(selftest_text, RTL_CLI "/check/selftest_text.sql");
EMBED(selftest_json, RTL_CLI "/check/selftest_json.sql");

#define PROGRAM  "rtl/selftest" /* beside librtl */
#define COUNTERS "SQ_WAVES,SQ_INSTS_VALU,GRBM_GUI_ACTIVE"
/* Names the records, where the script calls. */
#define RECORDS "RTL_SELFTEST_RECORDS"

struct selftest {
	bool counters, as_json;
	sqlite3 *tables;
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

/* By the findings: CLI_DIFFERENT, CLI_FAILED where something was not run, CLI_OK. */
static int status_of(struct selftest *test)
{
	static const char sql[] = "SELECT CASE WHEN max(level = 'differs') THEN 3 ELSE"
				  " ifnull(max(level = 'not_run'), 0) END FROM finding";
	char *answer;
	int status;

	(void)sqlite_ask(test->tables, sql, NULL, NULL, &answer);
	status = answer ? atoi(answer) : CLI_FAILED;
	free(answer);
	return status;
}

/* What a trace has; where that is not a trace, the run has none. */
static void take_trace(struct selftest *test, const char *trace)
{
	if (access(trace, F_OK))
		return;
	DO(test, "ATTACH %Q AS t", trace);
	sqlite3_exec(test->tables, selftest_trace, NULL, NULL, NULL);
	DO(test, "DETACH t");
}

/* A record, with its words as an array in JSON: SQL takes it. */
static void take(struct selftest *test, const char *line)
{
	DO(test,
	   "INSERT INTO record VALUES (%Q, '[' || replace(json_quote(%Q), ' ', '\",\"') || ']')",
	   line, line);
	if (!strncmp(line, "trace ", 6))
		take_trace(test, line + 6);
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
	return status || test->failed ? CLI_FAILED : status_of(test);
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
		 "also count hardware events and check the known values"),
	CLI_FLAG(0, "json", offsetof(struct selftest, as_json), "print JSON, for programs"),
};

static int run(void *request)
{
	struct selftest *test = request;
	const char *records = getenv(RECORDS);
	FILE *file = records ? fopen(records, "re") : NULL;
	int status;

	if (!file)
		return run_programs(test);
	status = sqlite3_open(":memory:", &test->tables) ? cli_failed("out of memory")
							 : report(test, file);
	sqlite3_close(test->tables);
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
	.request_size = sizeof(struct selftest),
	.run = run,
};
