/* SPDX-License-Identifier: MIT */
/*
 * A process that drains itself and is ended by SIGINT, SIGTERM, SIGHUP or SIGQUIT leaves complete
 * outputs. Only where the program has not decided about the signal itself: a handler of ours stands
 * in for the default action, waits until the consumer has finished the subscribers, and then lets
 * the signal do what it does. A second signal, or some seconds without an end, do so at once.
 *
 * Threads: the handler runs on any; the consumer asks termination_signal and says when it is done.
 */
#ifndef RTL_CORE_TERMINATION_H
#define RTL_CORE_TERMINATION_H

#include <stdbool.h>

/* Takes the signals whose action is the default one. Once in a process, not after a fork. */
void termination_init(void);
/* Whether one has come; the consumer's. */
bool termination_requested(void);
/* The outputs are complete. */
void termination_done(void);

#endif
