/* SPDX-License-Identifier: MIT */
/*
 * The end of a program whose threads have all ended, main's by pthread_exit: the bus's thread would
 * keep the process alive.
 */
#ifndef RTL_CORE_LAST_THREAD_H
#define RTL_CORE_LAST_THREAD_H

/* Now and then looks whether the process should end, and ends it. By the
 * bus's thread, before each nap. */
void last_thread_look(void);

#endif
