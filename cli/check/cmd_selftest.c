/* SPDX-License-Identifier: MIT */
/*
 * rtl selftest: runs a program (cli/selftest_program) that says what it does on a GPU and when, alone and under `rtl
 * trace`. What it says, and what the traces have, is put in tables; SQL compares and reports. RTL_CLI is this
 * folder, by the build. One thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rtl/types.h>

#include "cli.h"
#include "embed.h"
#include "library.h"

EMBED(selftest_machine, RTL_CLI "/check/selftest_machine.sh");
EMBED(selftest_tables, RTL_CLI "/check/selftest.sql");
EMBED(selftest_trace, RTL_CLI "/check/selftest_trace.sql");
EMBED(selftest_compare, RTL_CLI "/check/selftest_compare.sql");
EMBED(selftest_text, RTL_CLI "/check/selftest_text.sql");
EMBED(selftest_json, RTL_CLI "/check/selftest_json.sql");
extern const char selftest_machine[], selftest_tables[], selftest_trace[], selftest_compare[],
	selftest_text[], selftest_json[];

#define PROGRAM       "rtl/selftest" /* beside librtl */
#define COUNTERS      "SQ_WAVES,SQ_INSTS_VALU,GRBM_GUI_ACTIVE"
#define OVERHEAD_RUNS 5
#define TRACE_WORDS   8 /* in front of the program, where it is traced */

struct selftest {
	bool counters, as_json;
	char folder[PATH_MAX]; /* for traces, removed at the end; "": none */
	char *program;
	sqlite3 *tables;
	char rounds[16]; /* that make a kernel long enough */
	int run;         /* the last one's id */
	bool failed;     /* SQL has; that has been said */
};

extern char **environ;

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	interrupted = number;
}

/* ---- tables ---- */

static void fail(struct selftest *test)
{
	if (!test->failed)
		cli_error("selftest: %s", sqlite3_errmsg(test->tables));
	test->failed = true;
}

/* Runs statements, which sqlite3_mprintf has made, and prints their rows. */
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

/* The number that a query answers with; 0: none. */
static int ask(struct selftest *test, const char *sql)
{
	sqlite3_stmt *statement;
	int number = 0;

	if (sqlite3_prepare_v2(test->tables, sql, -1, &statement, NULL))
		fail(test);
	else if (sqlite3_step(statement) == SQLITE_ROW)
		number = sqlite3_column_int(statement, 0);
	sqlite3_finalize(statement);
	return number;
}

static void read_lines(struct selftest *test, FILE *file,
		       void (*fn)(struct selftest *test, const char *line))
{
	char *line = NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		fn(test, line);
	}
	free(line);
}

static void read_fact(struct selftest *test, const char *line)
{
	const int name = (int)strcspn(line, " ");

	DO(test, "INSERT INTO fact VALUES (%.*Q, %Q)", name, line, line + name + 1);
}

/* A line of the program's. */
static void read_said(struct selftest *test, const char *line)
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

/* What rtl said, and not what a runtime did. */
static void read_error(struct selftest *test, const char *line)
{
	if (!strncmp(line, "rtl", 3))
		DO(test, "UPDATE run SET why = coalesce(why, %Q) WHERE id = %d", line, test->run);
}

/* ---- a run ---- */

_Noreturn static void be_child(const struct selftest *test, char *const *words)
{
	static const struct {
		const char *file;
		int flags;
	} files[] = {{"/dev/null", O_RDONLY},
		     {"out", O_WRONLY | O_CREAT | O_TRUNC},
		     {"err", O_WRONLY | O_CREAT | O_TRUNC}};
	int folder = open(test->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int i = 0; i < 3; i++)
		if (dup2(openat(folder, files[i].file, files[i].flags | O_CLOEXEC, 0600), i) < 0)
			_exit(126);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	execv(words[0], words);
	_exit(127);
}

static void wait_for(struct selftest *test, pid_t child)
{
	int status = 0;

	if (child < 0) {
		DO(test, "UPDATE run SET ending = 'no process' WHERE id = %d", test->run);
		return;
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		if (interrupted)
			kill(child, SIGTERM);
	DO(test, "UPDATE run SET ending = '%s %d' WHERE id = %d",
	   WIFSIGNALED(status) ? "signal" : "status",
	   WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), test->run);
}

static void read_file(struct selftest *test, const char *name,
		      void (*fn)(struct selftest *test, const char *line))
{
	char path[PATH_MAX + 8];

	snprintf(path, sizeof(path), "%s/%s", test->folder, name);
	FILE *file = fopen(path, "re");
	read_lines(test, file, fn);
	if (file)
		fclose(file);
}

/* What a trace has; where that is no trace, the run has none. */
static void read_trace(struct selftest *test, const char *trace)
{
	if (access(trace, F_OK))
		return;
	DO(test, "ATTACH %Q AS t", trace);
	sqlite3_exec(test->tables, selftest_trace, NULL, NULL, NULL);
	DO(test, "DETACH t");
}

/* Runs the program: with the run `alone` in front, traced; and if that is `compared`, reads its trace.
 * `counters`: NULL, or those to count. Whether it came to its end. */
static bool run_program(struct selftest *test, const char *workload, const char *mode, int alone,
			const char *counters, bool compared)
{
	char trace[PATH_MAX + 16], kernels[PATH_MAX + 16], *self = realpath("/proc/self/exe", NULL);
	const char *words[] = {self, "trace",       "-q",     "--mode", mode,         "-o", trace,
			       "--", test->program, workload, kernels,  test->rounds, NULL};
	char *const *traced = (char *const *)words;
	pid_t child;

	if (interrupted || test->failed)
		return free(self), false;
	snprintf(trace, sizeof(trace), "%s/trace.db", test->folder);
	snprintf(kernels, sizeof(kernels), "%s/kernels", test->folder);
	unlink(trace);
	DO(test, "INSERT INTO run VALUES (%d, %Q, %Q, nullif(%d, 0), NULL, NULL, 0, %d, 0)",
	   ++test->run, workload, mode, alone, compared);
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\rrtl: self test: %-10s %-10s", workload, mode ? mode : "alone");
	child = fork();
	if (!child && counters)
		setenv("RTL_COUNTERS", counters, 1);
	if (!child)
		be_child(test, mode ? traced : traced + TRACE_WORDS);
	wait_for(test, child);
	read_file(test, "out", read_said);
	read_file(test, "err", read_error);
	if (compared)
		read_trace(test, trace);
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%40s\r", "");
	free(self);
	return !interrupted && ask(test, "SELECT ended FROM run ORDER BY id DESC LIMIT 1");
}

static void run_all(struct selftest *test)
{
	static const char *const workloads[] = {"kernels", "copies", "threads", "graph", "killed"};

	if (!run_program(test, "about", NULL, 0, NULL, false))
		return;
	run_program(test, "calibrate", NULL, 0, NULL, false);
	const int rounds = ask(test, "SELECT name FROM line WHERE kind = 'rounds'");
	snprintf(test->rounds, sizeof(test->rounds), "%d", rounds ? rounds : 1);
	for (size_t i = 0; i < sizeof(workloads) / sizeof(*workloads); i++)
		if (run_program(test, workloads[i], NULL, 0, NULL, false))
			run_program(test, workloads[i], "hip", test->run, NULL, true);
	if (test->counters && run_program(test, "waves", NULL, 0, NULL, false))
		run_program(test, "waves", "standard", test->run, COUNTERS, true);
	/* Interleaved: what else the machine does meets all. */
	for (int i = 0; i < OVERHEAD_RUNS && run_program(test, "loop", NULL, 0, NULL, false); i++) {
		const int alone = test->run;

		run_program(test, "loop", "standard", alone, NULL, !i);
		run_program(test, "loop", "hip", alone, NULL, !i);
	}
}

/* ---- the place ---- */

/* Nothing of rtl's in "alone", and no setting that changes what is recorded. */
static int clean_environment(void)
{
	static const char *const loaders[] = {"LD_PRELOAD", "HSA_TOOLS_LIB"};
	char *name;

	for (size_t i = 0; i < sizeof(loaders) / sizeof(*loaders); i++)
		if (strstr(cli_text(getenv(loaders[i])), LIBRARY_ROCM))
			return cli_failed("selftest: %s names %s here, so nothing can run without "
					  "rtl; use a shell in which `rtl env` was not evaluated",
					  loaders[i], LIBRARY_ROCM);
	for (char **at = environ; *at;) {
		if (strncmp(*at, "RTL_", 4) != 0 || !strncmp(*at, "RTL_SPOOL=", 10) ||
		    !strncmp(*at, "RTL_PLUGIN_PATH=", 16)) {
			at++;
			continue;
		}
		name = strndup(*at, strcspn(*at, "="));
		if (!name || unsetenv(name))
			return cli_failed("out of memory");
		free(name); /* what stood behind it has moved here */
	}
	return CLI_OK;
}

static int begin(struct selftest *test)
{
	const struct sigaction action = {.sa_handler = on_signal};
	const char *tmp = getenv("TMPDIR");
	int status = clean_environment();

	if (status)
		return status;
	test->program = library_beside_rtl(PROGRAM);
	if (!test->program || sqlite3_open(":memory:", &test->tables))
		return cli_failed("out of memory");
	if (access(test->program, X_OK))
		return cli_failed("selftest: its program cannot be run: %s: %s; install the rtl "
				  "that was built with ROCm",
				  test->program, strerror(errno));
	/* before there is a folder, which is to be removed */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	snprintf(test->folder, sizeof(test->folder), "%s/rtl-selftest-XXXXXX",
		 tmp && *tmp == '/' ? tmp : "/tmp");
	if (!mkdtemp(test->folder)) {
		status = cli_failed("selftest: cannot make a folder: %s: %s; name another with "
				    "TMPDIR",
				    test->folder, strerror(errno));
		*test->folder = '\0';
	}
	return status;
}

static int test_all(struct selftest *test)
{
	FILE *machine = popen(selftest_machine, "re");

	print(test, selftest_tables);
	DO(test, "INSERT INTO fact VALUES ('rtl', %Q)", rtl_version());
	read_lines(test, machine, read_fact);
	if (machine)
		pclose(machine);
	run_all(test);
	if (interrupted)
		return cli_failed("selftest: interrupted");
	print(test, selftest_compare);
	if (test->failed)
		return CLI_FAILED;
	print(test, test->as_json ? selftest_json : selftest_text);
	const int status = cli_finish_output();
	return status || test->failed                                       ? CLI_FAILED
	       : ask(test, "SELECT 1 FROM finding WHERE level = 'differs'") ? CLI_DIFFERENT
	       : ask(test, "SELECT 1 FROM finding WHERE level = 'not_run'") ? CLI_FAILED
									    : CLI_OK;
}

static void end(struct selftest *test)
{
	char pattern[PATH_MAX + 4];
	glob_t files = {0};

	snprintf(pattern, sizeof(pattern), "%s/*", test->folder);
	if (*test->folder && !glob(pattern, 0, NULL, &files))
		for (size_t i = 0; i < files.gl_pathc; i++)
			unlink(files.gl_pathv[i]);
	globfree(&files);
	if (*test->folder)
		rmdir(test->folder);
	sqlite3_close(test->tables);
	free(test->program);
}

static const struct cli_option options[] = {
	CLI_FLAG(0, "counters", offsetof(struct selftest, counters),
		 "count hardware events, too, and compare what is known of them"),
	CLI_FLAG(0, "json", offsetof(struct selftest, as_json), "print JSON, for programs"),
};

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct selftest test = {.rounds = "1"};
	int status = cli_read(command, argc, argv, &test);

	if (status >= 0)
		return status;
	status = begin(&test);
	if (!status)
		status = test_all(&test);
	end(&test);
	return status;
}

const struct cli_command cmd_selftest = {
	.name = "selftest",
	.operands = "",
	.purpose = "Tests rtl on the GPU here, and prints a report to send in",
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
