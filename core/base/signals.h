/* SPDX-License-Identifier: MIT */
/*
 * Keeps the program's signals away from where a handler would find something half done, or would
 * interrupt a system call again and again. Slow paths only: two system calls.
 */
#ifndef RTL_CORE_SIGNALS_H
#define RTL_CORE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Blocks all signals of the calling thread but those that tell of its own faults. */
void signals_block(sigset_t *old);
void signals_restore(const sigset_t *old);

/* Around what writes, on a thread of the program's: that nobody reads any more, or that a file may
 * not grow, is an error to us and not the program's end. */
struct signals_of_writes {
	sigset_t old;
	bool pending[2]; /* before: the program's own */
};

void signals_of_writes_hold(struct signals_of_writes *held);
void signals_of_writes_drop(const struct signals_of_writes *held);

#endif
