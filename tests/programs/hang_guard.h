/* SPDX-License-Identifier: MIT */
/* hang_guard.h: a test program that includes it, and the children that it forks, end by SIGALRM
 * after HANG_GUARD_S seconds, or as many as the variable TEST_HANG_S says. So a program that hangs,
 * or is meant to, does not outlive for long a test that was killed before it could end it. Not for
 * programs with an alarm or an interval timer of their own: a process has one. */
#pragma once

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* As long as tests may take, so that no slow machine ends by it what would end well. Before the
 * header's inclusion a program may say otherwise. */
#ifndef HANG_GUARD_S
#	define HANG_GUARD_S 600
#endif

static void hang_guard_arm(void)
{
	const char *seconds = getenv("TEST_HANG_S");

	alarm(seconds && *seconds ? (unsigned)atoi(seconds) : HANG_GUARD_S);
}

/* A child of fork has no alarm of its own; a program that is executed keeps it. */
__attribute__((constructor)) static void hang_guard_start(void)
{
	hang_guard_arm();
	pthread_atfork(NULL, NULL, hang_guard_arm);
}
