/* SPDX-License-Identifier: MIT */
/* rtl trace: runs a command with everything set up, then says what came of it. */

#include "database.h"
#include "ending.h"
#include "launch.h"

struct trace {
	struct launch launch; /* first: see LAUNCH_OPTIONS */
	bool in_process, strict;
};

static const struct cli_option options[] = {
	LAUNCH_OPTIONS("FILE", "file to write, by its suffix: .db .rpd .csv .json .json.gz\n"
			       ".pftrace; may be given several times; in it %p %e %h %r\n"
			       "%q{NAME} stand for pid, program, host, rank, a variable;\n"
			       "with -s the file of the first subscriber that writes one\n"
			       "(default: rtl-COMMAND-PID.db)"),
	CLI_VALUE('s', "subscribers", "LIST", LAUNCH_INTO(session.subscribers),
		  "subscribers instead of libsqlite_sub.so; colon-separated\n"
		  "NAME or NAME?key=value&key=value"),
	CLI_VALUE(0, "limit", "SIZE", LAUNCH_SELECT(limit),
		  "with --last: the most to keep (default: 512M)"),
	CLI_FLAG(0, "in-process", offsetof(struct trace, in_process),
		 "run the subscribers in the command's process, as\n"
		 "RTL_SUBSCRIBERS does, not in rtl"),
	CLI_FLAG(0, "strict", offsetof(struct trace, strict),
		 "do not start the command if it cannot be traced as asked"),
};

static int prepare(struct trace *trace)
{
	struct session *session = &trace->launch.session;
	int status = launch_prepare(&trace->launch, trace->in_process, false);

	/* else the subscriber finds out, who can tell a trace that another rtl is just making */
	if (!status && session->database && (trace->in_process || trace->launch.selection.last))
		status = database_check_replaceable(session->database);
	if (!status && trace->strict && session->no_rocm)
		status = cli_failed("the command cannot be traced as asked: %s", session->no_rocm);
	if (trace->strict)
		session_set(session, "RTL_STRICT", "1");
	if (!status && trace->in_process)
		session_set(session, "RTL_SUBSCRIBERS", session->list);
	return status;
}

/* Subscribers run in the command's processes; each process has its own output. */
static int run_in_process(struct launch *launch)
{
	struct session *session = &launch->session;
	int status, error = 0;

	unsetenv("RTL_COLLECTOR"); /* of an rtl around this one: it comes before subscribers */
	unsetenv("RTL_CONTROL");
	if (launch->paused)
		error = collect_start(launch, (struct rtl_collector_options){
						      .kind = RTL_COLLECT,
						      .subscribers = "",
						      .own = &collect_nothing,
					      });
	if (error)
		return error;
	error = child_run(launch->command, session->variables, session->variable_count, NULL,
			  &status);
	if (launch->paused)
		collect_finish(&launch->collect);
	if (error)
		return launch_refuse(launch->command[0], error);
	trace_report_in_process(launch, status);
	child_end_like(status);
}

/* The subscribers are here. */
static int run_collected(struct launch *launch)
{
	struct rtl_collector_options how = {.kind = RTL_COLLECT,
					    .subscribers = launch->session.list};
	int status, error;

	if (launch->selection.last)
		how = (struct rtl_collector_options){.kind = RTL_RECORD,
						     .limit_bytes = launch->selection.limit_bytes};
	error = launch_run(launch, how, "trace", &status);
	if (error && launch->collected && launch->selection.last)
		rtl_collector_snapshot_remove(launch->collect.recording);
	else if (error && launch->collected)
		trace_remove_empty(launch);
	if (error)
		return error;
	if (launch->selection.last) {
		if (!launch_deliver_kept(launch))
			trace_report_collected(launch, status);
		child_end_like(status);
	}
	if (launch->collect.kept)
		cli_error("`rtl recover %s` stores the rest once the error above is fixed",
			  launch->collect.kept);
	free(launch->collect.kept);
	trace_report_collected(launch, status);
	child_end_like(status);
}

static int run(void *request)
{
	struct trace *trace = request;
	struct launch *launch = &trace->launch;
	char *output;
	int status = launch_begin(launch, "trace");

	if (status)
		return status;
	output = launch_default_output(launch, ".db");
	launch->session.outputs.makes_tables = !trace->in_process;
	launch->session.summarizes = !launch->quiet && !trace->in_process;
	launch->session.default_output = output;
	status = prepare(trace);
	if (!status)
		status = trace->in_process ? run_in_process(launch) : run_collected(launch);
	launch_fini(launch);
	free(output);
	return status;
}

const struct cli_command cmd_trace = {
	.purpose = "Runs a command, records what it does on the GPU, shows where the time went",
	CLI_OPTIONS(options),
	LAUNCH_COMMAND(struct trace, "trace"),
	.run = run,
};
