/* SPDX-License-Identifier: MIT */
#include "signals.h"

#include <stddef.h>

void signals_block(sigset_t *old)
{
	static const int own_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
	sigset_t all;
	size_t i;

	sigfillset(&all);
	for (i = 0; i < sizeof own_faults / sizeof *own_faults; i++)
		sigdelset(&all, own_faults[i]);
	pthread_sigmask(SIG_SETMASK, &all, old);
}

void signals_restore(const sigset_t *old)
{
	pthread_sigmask(SIG_SETMASK, old, NULL);
}
