/* SPDX-License-Identifier: MIT */
/*
 * Keeps the program's signals away from where a handler would find, or by a fork leave to a child,
 * something half done. Slow paths only: two system calls.
 */
#ifndef RTL_CORE_SIGNALS_H
#define RTL_CORE_SIGNALS_H

#include <signal.h>

/* Blocks all signals of the calling thread but those that tell of its own faults. */
void signals_block(sigset_t *old);
void signals_restore(const sigset_t *old);

#endif
