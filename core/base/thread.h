/* SPDX-License-Identifier: MIT */
/* What a thread is in the middle of, which signals it takes, and how much stack it has. */
#pragma once

#include <signal.h>
#include <stdbool.h>

#include "compiler.h"

/* > 0 while this thread is where a signal handler must not publish. */
extern __thread uint32_t thread_locked __attribute__((tls_model("initial-exec"))) HIDDEN;
/* > 0 while this thread holds what the consumer needs: it must not wait for room. */
extern __thread uint32_t thread_no_wait __attribute__((tls_model("initial-exec"))) HIDDEN;

/* ---- signals: keeps the program's away from where a handler would find something half done, or would
 * interrupt a system call again and again. Slow paths only: two system calls. */

/* Blocks all signals of the calling thread but those that tell of its own faults. */
void signals_block(sigset_t *old);
void signals_restore(const sigset_t *old);

/* Around writes on a program's thread: a closed pipe or a file size limit is an error, not the program's end. */
struct signals_of_writes {
	sigset_t old;
	bool pending[2]; /* before: the program's own */
};

void signals_of_writes_hold(struct signals_of_writes *held);
void signals_of_writes_drop(const struct signals_of_writes *held);

/* ---- stack: room for what needs more than a program's thread may have: a subscriber opens a database, on a
 * thread with perhaps 16 KiB. Any thread; the function must return, and the thread not be cancelled. */

/* Calls the function on a stack of our own, if the thread's is short or unknown and there is memory. */
void large_stack_call(void (*function)(void *argument), void *argument);
