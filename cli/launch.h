/* SPDX-License-Identifier: MIT */
/*
 * What commands that run another command have in common: their options, finding it, running it
 * beside a collector, and what to say if that cannot be done. One thread.
 */
#ifndef RTL_CLI_LAUNCH_H
#define RTL_CLI_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

#include "cli.h"
#include "collect.h"
#include "session.h"

struct launch {
	struct session session;
	struct collect collect;
	char id[64]; /* of the session */
	char **command;
	const char *output, *spool;
	bool paused, quiet;
	bool collected; /* the command ran beside a collector of ours */
};

/** The options that `rtl trace` and `rtl record` share stand first in their lists. */
enum launch_option {
	LAUNCH_OUTPUT,
	LAUNCH_MODE,
	LAUNCH_SPOOL,
	LAUNCH_PAUSED,
	LAUNCH_QUIET,
	LAUNCH_XPTI,
	LAUNCH_OPTIONS, /**< the first of the command's own */
};

#define LAUNCH_OPTION_OUTPUT(value, help) [LAUNCH_OUTPUT] = {'o', "output", value, help}
#define LAUNCH_OPTIONS_COMMON                                                                      \
	[LAUNCH_MODE] = {'m', "mode", "MODE", "what is collected: " SESSION_MODES},                \
	[LAUNCH_SPOOL] = {0, "spool", "DIR",                                                       \
			  "folder in which the processes' events wait for rtl\n"                   \
			  "(default: RTL_SPOOL, or memory)"},                                      \
	[LAUNCH_PAUSED] = {0, "paused", NULL, "record nothing until `rtl start`"},                 \
	[LAUNCH_QUIET] = {'q', "quiet", NULL,                                                      \
			  "no summary at the end, and no word unless something is wrong"},         \
	[LAUNCH_XPTI] = {0, "xpti", NULL,                                                          \
			 "also what SYCL's runtimes tell by XPTI; mode full does so,\n"            \
			 "too"}

/** What those commands have to say about their exit status. */
#define LAUNCH_DETAILS                                                                             \
	"The command's exit status is passed on, and signals reach it.\n"                          \
	"Status 126, 127: it cannot be run, there is none; 1, 2: it was not started."

/**
 * Reads options up to the command to run, and makes the session's id.
 * @param take  one of the command's own options; CLI_OK, or the exit status after a line
 * @return negative: go on; else the exit status
 */
int launch_read(struct launch *launch, struct cli_args *args,
		int (*take)(struct launch *launch, int option, const char *value));

/** Gives it an id that no other run has. */
void launch_make_id(struct launch *launch);

/** "rtl-COMMAND-PID" and a suffix; to be freed; NULL: out of memory. */
char *launch_default_output(const struct launch *launch, const char *suffix);

/** Whether a command can be run, as execvp finds it: 0 or errno. Before anything is made for it. */
int launch_find(const char *name);
/** Says why a command cannot be run; the exit status that shells use for that. */
int launch_refuse(const char *command, int error);
/**
 * Runs the command beside a collector that has been started, and finishes that.
 * @param what  is completed at the end, for the user: "trace"
 * @param[out] status  as waitpid gives it
 * @return 0, or the errno with which the command could not be started
 */
int launch_collected(struct launch *launch, const char *what, int *status);

/** What is said of processes that still run when the command has ended, if there are any. */
void launch_report_left(const struct launch *launch);
/** One line if there are no collectors for ROCm, so that work on the GPU was not seen. */
void launch_report_no_rocm(const struct launch *launch);

#endif
