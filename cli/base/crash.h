/* SPDX-License-Identifier: MIT */
/* Last words of an rtl that crashes: subscribers are other people's code, and run in it. One
 * thread at a time, one of those that call them. */
#ifndef RTL_CLI_CRASH_H
#define RTL_CLI_CRASH_H

#include <stdbool.h>
#include <stddef.h>

/** From now on a crash says "rtl: SIGSEGV in FILE: " and this text, which stays the caller's; NULL:
 *  it says nothing. rtl dies of it all the same. */
void crash_explain(const char *text);

/** Room for what the handler needs. */
#define CRASH_STACK (64u << 10)

/** Gives the calling thread a stack for that line, as its own may be what was used up; `bytes` must stay
 *  as long as it runs. crash_explain does so for its caller. */
void crash_set_stack(char *bytes, size_t size);

/** Whether the end of the calling thread is a crash: a subscriber has called pthread_exit. crash_explain says so of
 *  its caller. */
void crash_expect_thread(bool goes_on);

#endif
