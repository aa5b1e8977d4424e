/* SPDX-License-Identifier: MIT */
#include "signals.h"

#include <errno.h>
#include <stddef.h>
#include <time.h>

/* What the kernel sends the thread whose write fails. */
static const int of_writes[] = {SIGPIPE, SIGXFSZ};

#define OF_WRITES (sizeof(of_writes) / sizeof(*of_writes))

void signals_block(sigset_t *old)
{
	static const int own_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
	sigset_t all;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof(own_faults) / sizeof(*own_faults); i++)
		sigdelset(&all, own_faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, old);
}

void signals_restore(const sigset_t *old)
{
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

void signals_of_writes_hold(struct signals_of_writes *held)
{
	sigset_t block, pending;

	sigemptyset(&block);
	sigemptyset(&pending);
	for (size_t i = 0; i < OF_WRITES; i++)
		sigaddset(&block, of_writes[i]);
	pthread_sigmask(SIG_BLOCK, &block, &held->old);
	sigpending(&pending);
	for (size_t i = 0; i < OF_WRITES; i++)
		held->pending[i] = sigismember(&pending, of_writes[i]) == 1;
}

void signals_of_writes_drop(const struct signals_of_writes *held)
{
	static const struct timespec now = {0, 0};
	int err = errno;
	sigset_t ours;

	sigemptyset(&ours);
	for (size_t i = 0; i < OF_WRITES; i++)
		if (!held->pending[i])
			sigaddset(&ours, of_writes[i]);
	while (sigtimedwait(&ours, NULL, &now) > 0 || errno == EINTR)
		;
	pthread_sigmask(SIG_SETMASK, &held->old, NULL);
	errno = err;
}
