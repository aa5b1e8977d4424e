/* SPDX-License-Identifier: MIT */
/* thread_start.h: a thread of rtl's own, in rtl itself or in a program: the program's signals are none of its business.
 * Threads: any. */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/** Starts one, with all signals blocked but those that tell of errors of its own, which the host may
 *  explain. False: it cannot be had. */
static inline bool thread_start(pthread_t *thread, void *(*run)(void *), void *user)
{
	sigset_t all, old;
	bool runs;

	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGFPE);
	sigdelset(&all, SIGILL);
	sigdelset(&all, SIGABRT);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	runs = !pthread_create(thread, NULL, run, user);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return runs;
}
