/* SPDX-License-Identifier: MIT */
/*
 * Room for what may need more stack than a program's thread has, on that thread: a subscriber that
 * is loaded opens a database, while the thread that was the first to call rtl may have 16 KiB.
 *
 * Threads: any. The function must come back, and the thread must not be cancelled meanwhile.
 */
#ifndef RTL_CORE_LARGE_STACK_H
#define RTL_CORE_LARGE_STACK_H

/* Calls the function, on a stack of our own where little is left of the thread's, or it is not
 * known how much. Without memory for one on the thread's. */
void large_stack_call(void (*function)(void *argument), void *argument);

#endif
