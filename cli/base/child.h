/* SPDX-License-Identifier: MIT */
/* Runs the traced command as if rtl were not there: same terminal, same process group, same standard files, same signal
 * mask and dispositions.
 *
 * A signal from the terminal, or one sent to the whole process group, reaches the command without rtl's help. One sent
 * to rtl alone is passed on, and so is SIGHUP if rtl leads a session whose terminal has gone. A second child, the
 * witness, tells which of both it was: it is in the group, blocks all signals and counts those that it gets. rtl ends
 * when the command has ended and its own work is done.
 *
 * While there is work, a thread of its own takes care of signals, so that none waits for a piece of work. Call this
 * from one thread; there may be no other children. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** A variable of the command. */
struct session_variable {
	char *name;
	char *value;
};

/** First of all: where a file may not become as large as it would (RLIMIT_FSIZE), or nobody reads a pipe any more, rtl
 * is to see an error, and the command the signal that it would have got. */
void child_init(void);

/** What rtl does while the command runs. */
struct child_work {
	void *user;
	/** Called again and again as long as the command runs; returns soon after wake. */
	void (*work)(void *user);
	/** Any thread. */
	void (*wake)(void *user);
	/** The command has ended, with that status (waitpid): does the rest. A first SIGINT, SIGTERM, SIGHUP or SIGQUIT is
	 *  waited out, with the line `hold_on`; the second ends rtl at once, with `last_words`. */
	void (*finish)(void *user, int status);
	/** Whether the first may do so: the user sees that it will. Any thread. */
	bool (*is_stoppable)(void *user);
	/** A signal that is not passed on where it was sent to rtl alone: `snapshot` is called, on a thread
	 *  of child_run's. 0: none. */
	int snapshot_signal;
	void (*snapshot)(void *user);
	const char *hold_on;
	const char *last_words;
	/** The command's standard output goes where its standard error goes. */
	bool output_to_stderr;
	/** It has ended only when all that it has started has, or by a signal to rtl that would end it. The
	 *  caller is who gets orphans (PR_SET_CHILD_SUBREAPER). */
	bool waits_for_all;
};

/** Runs a command until it ends.
 * @param variables  to set for it
 * @param work  NULL: none
 * @param[out] status  as waitpid gives it
 * @return 0, or the errno with which the command could not be started; then none of the work has been done */
int child_run(char **argv, const struct session_variable *variables, size_t count,
	      const struct child_work *work, int *status);

/** Before child_run: the command has so many seconds. Then `expired` is called, on the thread that takes care of
 * signals, and the command gets SIGTERM; some time later the same with SIGKILL. pid 0: it has ended, and its children
 * are waited for. */
void child_limit(unsigned seconds, void (*expired)(void *user, pid_t pid, int number), void *user);
/** Whether that time was over before the command had ended. */
bool child_timed_out(void);

/** Ends this process as the command ended: with its exit status, or by the same signal (without a core of our own). If
 * its time was over, with status 124, as timeout(1). */
_Noreturn void child_end_like(int status);

/** Ends by SIGPIPE, as commands do, if nobody reads standard output any more and rtl was not started
 *  with that signal ignored. For verbs that print, when they have nothing else to do. */
void child_end_if_unread(void);

/* crash.c: last words of an rtl that crashes: subscribers are other people's code, and run in it. The threads that
 * call them. */

/** From now on a crash says "rtl: SIGSEGV in FILE: " and this text, which stays the caller's; NULL:
 *  it says nothing. rtl dies of it all the same. That the calling thread ends (pthread_exit) is one. */
void crash_explain(const char *text);
/** At the begin and the end of another thread that calls them, one at a time: its crashes and its end say so, too. */
void crash_explain_thread(bool begins);
