/* SPDX-License-Identifier: MIT */
/* end_ways.h: ways in which a process ends, none of them by exit().
 *
 * abort, kill, _exit, _Exit, quick_exit; vfork_exec, whose child of vfork executes a program that is not there, and
 * ends by _exit, before the process itself does; handler, which is abort with a handler that ends by _exit; spawn, by
 * _exit behind a posix_spawn. Include check.h before. */
#pragma once

#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void on_abort(int signal)
{
	_exit(0);
}

/* What only ends a child of vfork, which has the process's memory. */
static void end_in_vfork(void)
{
	const pid_t child = vfork();
	int status;

	if (!child) {
		execl("/nonexistent/true", "true", (char *)NULL);
		_exit(3);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

static void spawn(void)
{
	char *const argv[] = {(char *)"true", NULL};
	pid_t child;
	int status;

	CHECK(!posix_spawn(&child, "/bin/true", NULL, NULL, argv, environ));
	CHECK(waitpid(child, &status, 0) == child && !status);
}

CHECK_USED static void end_process(const char *way)
{
	if (!strcmp(way, "handler"))
		signal(SIGABRT, on_abort);
	if (!strcmp(way, "abort") || !strcmp(way, "handler"))
		abort();
	if (!strcmp(way, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(way, "vfork_exec"))
		end_in_vfork();
	if (!strcmp(way, "spawn"))
		spawn();
	if (!strcmp(way, "_exit") || !strcmp(way, "vfork_exec") || !strcmp(way, "spawn"))
		_exit(0);
	if (!strcmp(way, "_Exit"))
		_Exit(0);
	if (!strcmp(way, "quick_exit"))
		quick_exit(0);
	fail("unknown way to end: %s", way);
}

/* In the parent, which waits for it. */
CHECK_USED static void check_end(pid_t child, const char *way)
{
	int status = 0;

	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	if (!strcmp(way, "abort"))
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	else if (!strcmp(way, "kill"))
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	else
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}
