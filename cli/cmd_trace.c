/* SPDX-License-Identifier: MIT */
/* rtl trace: runs a command with everything set up, then says what came of it. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "cli.h"
#include "collect.h"
#include "database.h"
#include "launch.h"
#include "session.h"
#include "summary.h"

#define TOP_ROWS       10
#define SIBLINGS_SHOWN 8

enum {
	OPTION_OUTPUT,
	OPTION_MODE,
	OPTION_SUBSCRIBERS,
	OPTION_SPOOL,
	OPTION_PAUSED,
	OPTION_IN_PROCESS,
	OPTION_STRICT,
	OPTION_QUIET,
};

static const struct cli_option options[] = {
	{'o', "output", "FILE",
	 "file of the first subscriber that writes one\n"
	 "(default: rtl-COMMAND-PID.db)"},
	{'m', "mode", "MODE", "what is collected: " SESSION_MODES},
	{'s', "subscribers", "LIST",
	 "subscribers instead of libsqlite_sub.so; colon-separated\n"
	 "NAME or NAME?key=value&key=value"},
	{0, "spool", "DIR",
	 "folder in which the processes' events wait for rtl\n"
	 "(default: RTL_SPOOL, or memory)"},
	{0, "paused", NULL, "record nothing until `rtl start`"},
	{0, "in-process", NULL,
	 "the subscribers run in the command itself, as with\n"
	 "RTL_SUBSCRIBERS, and not in rtl"},
	{0, "strict", NULL, "the command does not start if it cannot be traced as asked"},
	{'q', "quiet", NULL, "no summary at the end, and no word unless something is wrong"},
};

struct trace {
	struct session session;
	char id[64]; /* of the session */
	char **command;
	const char *spool;
	bool paused, in_process, strict, quiet;
	struct collect collect; /* unless in_process */
};

/* ---- before ---- */

static char *default_output(const char *command)
{
	const char *slash = strrchr(command, '/');
	char *name;

	return asprintf(&name, "rtl-%s-%d.db", slash ? slash + 1 : command, getpid()) < 0 ? NULL
											  : name;
}

/* An old trace may be written over, nothing else. */
static int check_replaced(const char *path)
{
	struct database *old;

	if (!path || access(path, F_OK))
		return CLI_OK;
	old = database_open(path, true);
	if (!old)
		return cli_failed("output %s exists and is no trace, so it is not written over; "
				  "move it away, or choose another file with -o",
				  path);
	database_close(old);
	return CLI_OK;
}

static int prepare(struct trace *trace)
{
	struct session *session = &trace->session;
	int status = session_prepare_mode(session);

	if (!status)
		status = session_prepare_subscribers(session);
	if (!status)
		status = check_replaced(session->database);
	if (!status)
		status = session_prepare_runtime(session);
	if (!status)
		status = session_set(session, "RTL_SESSION", trace->id);
	if (!status && trace->strict)
		status = session_set(session, "RTL_STRICT", "1");
	if (!status && trace->in_process)
		status = session_set(session, "RTL_SUBSCRIBERS", session->list);
	return status;
}

/* ---- after ---- */

/* Whether a database was written by this run. */
static bool is_ours(struct database *database, const struct trace *trace)
{
	char *session = database_fact(database, "session");
	bool ours = session && !strcmp(session, trace->id);

	free(session);
	return ours;
}

/* Why the command's trace has an end that is not that of the command. */
static void explain_incomplete(const char *path, int status)
{
	if (WIFSIGNALED(status))
		cli_error("%s is not complete: SIG%s ended the command before all was written",
			  path,
			  sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?");
	else
		cli_error("%s is not complete: the command's process still runs, or ended by _exit "
			  "or was killed before all was written",
			  path);
}

static void print_summary(struct database *database, const char *path)
{
	const struct summary_style style = {.title = "", .top = TOP_ROWS};
	struct summary *summary = summary_create();

	if (summary && !database_summarize(database, summary))
		summary_print_text(summary, stderr, &style);
	summary_destroy(summary);
	fputc('\n', stderr);
	cli_error("trace: %s", path);
}

static void report_nothing(const char *path, int64_t operations)
{
	if (operations < 0)
		cli_error("nothing was recorded: the command never initialised the HSA runtime, so "
			  "it did not use a GPU, or its runtime does not honour HSA_TOOLS_LIB");
	else
		cli_error("no GPU operation was recorded: the command initialised the HSA runtime, "
			  "but no kernel that it dispatched has ended; trace: %s",
			  path);
}

/* A trace in which there is nothing: the collector made it before the command ran. */
static void remove_empty(const struct trace *trace)
{
	const char *path = trace->session.database;
	struct database *database = path && !access(path, F_OK) ? database_open(path, true) : NULL;

	if (database && is_ours(database, trace))
		unlink(path);
	database_close(database);
}

static void report_database(const struct trace *trace, int status)
{
	const char *path = trace->session.database;
	struct database *database = access(path, F_OK) ? NULL : database_open(path, false);

	if (!database || !is_ours(database, trace)) {
		report_nothing(path, -1);
		goto out;
	}
	int64_t operations = database_operations(database);
	char *writer = database_fact(database, "writer");
	int64_t lost = database_lost(database);

	/* what was lost is said even where nothing else came of it */
	if ((operations > 0 && !trace->quiet) || lost > 0)
		print_summary(database, path);
	if (writer)
		explain_incomplete(path, status);
	else if (!operations && lost <= 0)
		report_nothing(path, 0);
	free(writer);
out:
	database_close(database);
}

/* Whether a file name is that of the output with `-PID` or `-PID-N` before its suffix. */
static bool is_sibling(const char *name, const char *output)
{
	const char *dot = strrchr(output, '.');
	size_t stem = dot && dot != output ? (size_t)(dot - output) : strlen(output);
	size_t digits;

	if (strncmp(name, output, stem) != 0 || name[stem] != '-')
		return false;
	digits = strspn(name + stem, "-0123456789");
	return digits > 1 && !strcmp(name + stem + digits, output + stem);
}

/* Whether a file in the folder of the output is a trace of this run. */
static bool is_other_trace(const char *folder, const char *name, const struct trace *trace)
{
	char *path;
	bool ours;

	if (asprintf(&path, "%s%s", folder, name) < 0)
		return false;
	struct database *database = database_open(path, true);
	ours = database && is_ours(database, trace);
	database_close(database);
	free(path);
	return ours;
}

/* Other processes of the command have written files of their own beside the output. */
static void report_siblings(const struct trace *trace)
{
	const char *path = trace->session.database, *output = strrchr(path, '/') + 1;
	char *folder = strndup(path, (size_t)(output - path));
	struct dirent **entries;
	int count = folder ? scandir(folder, &entries, NULL, alphasort) : -1, found = 0;

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		if (is_sibling(name, output) && is_other_trace(folder, name, trace) &&
		    ++found <= SIBLINGS_SHOWN)
			cli_error("trace of another process: %s%s", folder, name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	if (found > SIBLINGS_SHOWN)
		cli_error("and of %d more, beside them", found - SIBLINGS_SHOWN);
	free(folder);
}

/* ---- the command ---- */

/* The subscribers are in the command's processes, and each has an output of its own. */
static int run_in_process(struct trace *trace)
{
	struct session *session = &trace->session;
	int status, error;

	error = child_run(trace->command, session->variables, session->variable_count, NULL,
			  &status);
	if (error)
		return launch_refuse(trace->command[0], error);
	if (session->database) {
		report_database(trace, status);
		report_siblings(trace);
	}
	child_end_like(status);
}

static void report(struct trace *trace, int status)
{
	const char *database = trace->session.database;

	if (database && trace->collect.met) {
		report_database(trace, status);
	} else if (database) {
		remove_empty(trace);
		report_nothing(database, -1);
	}
	if (trace->collect.left)
		cli_error("%u process%s of the command still run%s; what %s from now on is not "
			  "recorded",
			  trace->collect.left, trace->collect.left > 1 ? "es" : "",
			  trace->collect.left > 1 ? "" : "s",
			  trace->collect.left > 1 ? "they do" : "it does");
}

/* The subscribers are here. */
static int run_collected(struct trace *trace)
{
	int status, error = launch_find(trace->command[0]);

	if (error)
		return launch_refuse(trace->command[0], error);
	error = collect_start(&trace->collect, &trace->session, trace->id, trace->command[0],
			      trace->spool, trace->paused);
	if (error)
		return error;
	error = launch_collected(&trace->collect, &trace->session, trace->command, "trace",
				 &status);
	if (error) {
		remove_empty(trace);
		return launch_refuse(trace->command[0], error);
	}
	report(trace, status);
	child_end_like(status);
}

static int trace_command(struct trace *trace)
{
	int error = prepare(trace);

	if (error)
		return error;
	return trace->in_process ? run_in_process(trace) : run_collected(trace);
}

/* Reads the options; a negative value: go on. */
static int read_arguments(struct trace *trace, struct cli_args *args)
{
	int option;

	while ((option = cli_next(args)) != CLI_END) {
		switch (option) {
		case CLI_HELP:
			return CLI_OK;
		case CLI_BAD:
			return CLI_USAGE;
		case CLI_OPERAND:
			/* What follows belongs to the command. */
			trace->command = &args->argv[args->next - 1];
			if (!*trace->command[0])
				return cli_usage("trace: the name of the command is empty");
			return -1;
		case OPTION_OUTPUT:
			trace->session.output = args->value;
			break;
		case OPTION_MODE:
			trace->session.mode = args->value;
			break;
		case OPTION_SUBSCRIBERS:
			trace->session.subscribers = args->value;
			break;
		case OPTION_SPOOL:
			trace->spool = args->value;
			break;
		case OPTION_PAUSED:
			trace->paused = true;
			break;
		case OPTION_IN_PROCESS:
			trace->in_process = true;
			break;
		case OPTION_STRICT:
			trace->strict = true;
			break;
		case OPTION_QUIET:
			trace->quiet = true;
			break;
		}
	}
	return cli_usage("trace: give a command to run: rtl trace [OPTION]... COMMAND...");
}

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct cli_args args = CLI_ARGS(command, argc, argv);
	struct trace trace = {0};
	char *output;
	int status = read_arguments(&trace, &args);

	if (status >= 0)
		return status;
	launch_make_id(trace.id, sizeof(trace.id));
	output = default_output(trace.command[0]);
	trace.session.default_output = output;
	status = output ? trace_command(&trace) : cli_failed("out of memory");
	session_fini(&trace.session);
	free(output);
	return status;
}

const struct cli_command cmd_trace = {
	.name = "trace",
	.operands = "[--] COMMAND [ARGUMENT]...",
	.purpose = "Runs a command and records what it does on the GPU",
	.details = "The command's exit status is passed on, and signals reach it.\n"
		   "Status 126, 127: it cannot be run, there is none; 1, 2: it was not started.",
	.options = options,
	.option_count = sizeof(options) / sizeof(*options),
	.run = run,
};
