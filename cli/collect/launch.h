/* SPDX-License-Identifier: MIT */
/* What commands that run another command have in common: their options, finding it, running it beside a collector, and
 * what to say if that cannot be done. One thread. */
#pragma once

#include "cli.h"
#include "collect.h"

struct launch {
	struct session session;
	struct collect collect;
	struct selection selection;
	char id[64]; /* of the session */
	struct cli_operands operands;
	char **command;
	const char *spool;
	bool paused, quiet, wait_children;
	unsigned timeout_s;
	bool collected; /* the command ran beside a collector of ours */
};

/** The options that `rtl trace` and `rtl record` share; what they fill begins with a struct launch. */
#define LAUNCH_INTO(member)   offsetof(struct launch, member)
#define LAUNCH_SELECT(member) LAUNCH_INTO(selection.member)
#define LAUNCH_OPTIONS(output_value, output_help)                                                  \
	CLI_TAKES('o', "output", output_value, LAUNCH_INTO(session.outputs), outputs_add,          \
		  output_help),                                                                    \
                                                                                                   \
		CLI_VALUE('m', "mode", "MODE", LAUNCH_INTO(session.mode),                          \
			  "what to record: " SESSION_MODES),                                       \
		SESSION_SOURCE_OPTION(LAUNCH_INTO(session)),                                       \
		CLI_VALUE(0, "spool", "DIR", LAUNCH_INTO(spool),                                   \
			  "folder for the buffers between the program and rtl\n"                   \
			  "(default: RTL_SPOOL, or memory)"),                                      \
		CLI_FLAG(0, "paused", LAUNCH_INTO(paused), "record nothing until `rtl start`"),    \
		CLI_FLAG(0, "wait-children", LAUNCH_INTO(wait_children),                           \
			 "also wait until all processes that the command started end"),            \
		CLI_NUMBER(0, "timeout", "SECONDS", LAUNCH_INTO(timeout_s), "a number of seconds", \
			   "end the command after SECONDS, and print what it was doing"),          \
		CLI_FLAG('q', "quiet", LAUNCH_INTO(quiet), "print errors only"),                   \
		SELECTION_OPTIONS(LAUNCH_SELECT), SESSION_COUNTER_OPTIONS(LAUNCH_INTO(session)),   \
		CLI_FLAG(0, "xpti", LAUNCH_INTO(session.xpti),                                     \
			 "also record what SYCL runtimes report by XPTI (mode full\n"              \
			 "does)")

/** Members of their struct cli_command; type: of what is filled. */
#define LAUNCH_COMMAND(type, verb)                                                                 \
	.name = verb, .operands = "[--] COMMAND [ARGUMENT]...",                                    \
	.details = "Exits with the command's status and passes signals on to it.\n"                \
		   "Status 124: --timeout ended it; 126: it cannot be run; 127: it was not "       \
		   "found;\n"                                                                      \
		   "1, 2: it was not started.",                                                    \
	.operands_at = LAUNCH_INTO(operands), .runs = CLI_RUNS_OPERANDS,                           \
	.missing = "give a command to run: rtl " verb " [OPTION]... COMMAND...",                   \
	.request_size = sizeof(type), .request = &(const type)                                     \
	{                                                                                          \
		.launch.selection.repeat = CLI_NOT_GIVEN                                           \
	}

/** After the options have been read: makes the session's id. CLI_OK, or an exit status after a line. */
int launch_begin(struct launch *launch, const char *verb);

/** All that a run needs before it starts; `records`: it has no subscribers. An exit status; it has said why. */
int launch_prepare(struct launch *launch, bool in_process, bool records);
void launch_fini(struct launch *launch);

/** Gives it an id that no other run has. */
void launch_make_id(struct launch *launch);

/** "rtl-COMMAND-PID" and a suffix; to be freed. */
char *launch_default_output(const struct launch *launch, const char *suffix);

/** Whether a command can be run, as execvp finds it: 0 or errno. Before anything is made for it.
 *  @param[out] file which one that is, PATH_MAX bytes; or NULL */
int launch_find(const char *name, char *file);
/** Says why a command cannot be run; the exit status that shells use for that. */
int launch_refuse(const char *command, int error);
/** Finds the command, starts a collector, runs the command beside it (`collected`), and finishes the collector.
 * @param what        is completed at the end, for the user: "trace"
 * @param[out] status as waitpid gives it
 * @return an exit status; it has said why */
int launch_run(struct launch *launch, struct rtl_collector_options options, const char *what,
	       int *status);

/** Sends what the flight recorder kept to the subscribers. An exit status; it has said why. */
int launch_deliver_kept(struct launch *launch);

/** How it ended, as property "ended" has it; to be freed. */
char *launch_ended(const struct launch *launch, int status);

/** One line, if it did not end with status 0. */
void launch_report_ended(const struct launch *launch, int status);

/** What is said of processes that still run when the command has ended, if there are any, and of a flight recorder that
 * could not keep as much as it was asked to. */
void launch_report_left(const struct launch *launch);
/** One line if there are no interceptors for ROCm, so that work on the GPU was not seen. */
void launch_report_no_rocm(const struct launch *launch);
