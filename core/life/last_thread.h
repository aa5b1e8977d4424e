/* SPDX-License-Identifier: MIT */
/*
 * The end of a program whose threads have all ended, main's by pthread_exit: the bus's thread would
 * keep the process alive.
 */
#ifndef RTL_CORE_LAST_THREAD_H
#define RTL_CORE_LAST_THREAD_H

#include <stdint.h>

/* Now and then looks whether the process should end, and ends it. `own`: how many threads are the bus's. By
 * the one that has the turn, before each nap. */
void last_thread_look(uint32_t own);

#endif
