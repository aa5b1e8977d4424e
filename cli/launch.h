/* SPDX-License-Identifier: MIT */
/*
 * What `rtl trace` and `rtl record` have in common: finding the command, running it beside a
 * collector, and what to say if that cannot be done. One thread.
 */
#ifndef RTL_CLI_LAUNCH_H
#define RTL_CLI_LAUNCH_H

#include <stddef.h>

#include "collect.h"

/** An id that no other run has. */
void launch_make_id(char *id, size_t size);
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
int launch_collected(struct collect *collect, const struct session *session, char **command,
		     const char *what, int *status);

#endif
