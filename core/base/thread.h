/* SPDX-License-Identifier: MIT */
/* What a thread is in the middle of, which signals it takes, and how much stack it has. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

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

/* Around what writes, on a thread of the program's: that nobody reads any more, or that a file may
 * not grow, is an error to us and not the program's end. */
struct signals_of_writes {
	sigset_t old;
	bool pending[2]; /* before: the program's own */
};

void signals_of_writes_hold(struct signals_of_writes *held);
void signals_of_writes_drop(const struct signals_of_writes *held);

/* ---- stack: room for what may need more than a program's thread has, on that thread: a subscriber that
 * is loaded opens a database, while the thread that was the first to call rtl may have 16 KiB.
 *
 * Threads: any. The function must come back, and the thread must not be cancelled meanwhile. */

/* Calls the function, on a stack of our own where little is left of the thread's, or it is not
 * known how much. Without memory for one on the thread's. */
void large_stack_call(void (*function)(void *argument), void *argument);
