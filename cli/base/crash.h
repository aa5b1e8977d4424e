/* SPDX-License-Identifier: MIT */
/* Last words of an rtl that crashes: subscribers are other people's code, and run in it. The thread that calls
 * them. */
#ifndef RTL_CLI_CRASH_H
#define RTL_CLI_CRASH_H

/** From now on a crash says "rtl: SIGSEGV in FILE: " and this text, which stays the caller's; NULL:
 *  it says nothing. rtl dies of it all the same. That the calling thread ends (pthread_exit) is one. */
void crash_explain(const char *text);

#endif
