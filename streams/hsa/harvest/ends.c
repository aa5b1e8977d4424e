/* SPDX-License-Identifier: MIT */
/*
 * Ends without a word: _exit, _Exit, quick_exit and the exec functions run nothing of ours that is called when a
 * process ends. So where this library is preloaded it stands before these (quick_exit: everywhere), and has the
 * harvester publish first what has finished. Where subscribers run in the process, their outputs are finished, too;
 * but not before an exec, whose program goes on as before if it fails.
 *
 * Threads: any; also a signal handler, and the child of a vfork or fork, where nothing is done.
 */
#include <alloca.h>
#include <errno.h>
#include <rtl/publish.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../common/next.h"
#include "harvest.h"

#define EXPORT __attribute__((visibility("default")))

/* What becomes another program: (name, (parameters), (their names)). */
#define EXECS(F)                                                                                   \
	F(execve, (const char *path, char *const *argv, char *const *envp), (path, argv, envp))    \
	F(execv, (const char *path, char *const *argv), (path, argv))                              \
	F(execvp, (const char *file, char *const *argv), (file, argv))                             \
	F(execvpe, (const char *file, char *const *argv, char *const *envp), (file, argv, envp))   \
	F(fexecve, (int fd, char *const *argv, char *const *envp), (fd, argv, envp))               \
	F(execveat, (int fd, const char *path, char *const *argv, char *const *envp, int flags),   \
	  (fd, path, argv, envp, flags))

/* What is behind ours. Found when the library is loaded: a signal handler cannot look for it. */
#define MEMBER(name, parameters, names) int(*name) parameters;
static struct {
	void (*exit_at_once)(int status);
	void (*exit_of_c)(int status);
	EXECS(MEMBER)
} next;

static void find(const char *symbol, void *place)
{
	static const char *const nowhere_else[] = {NULL};

	*(void **)place = next_function(symbol, nowhere_else);
}

#define FIND(name, parameters, names) find(#name, &next.name);
__attribute__((constructor)) static void find_all(void)
{
	find("_exit", &next.exit_at_once);
	find("_Exit", &next.exit_of_c);
	EXECS(FIND)
}

/* What has finished is published; and where subscribers run in the process, their outputs are
 * finished. */
static void end_process(void)
{
	harvest_leaving();
	rtl_process_ends();
}

void ends_init(void)
{
	(void)at_quick_exit(end_process);
}

/* ---- exit ---- */

__attribute__((noreturn)) static void leave(void (*how)(int), int status)
{
	end_process();
	if (how)
		how(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

EXPORT void _exit(int status)
{
	leave(next.exit_at_once, status);
}

EXPORT void _Exit(int status)
{
	leave(next.exit_of_c, status);
}

/* ---- exec ---- */

/* A constructor of another library may be faster than ours; an old C library lacks execveat. */
static bool may_execute(const void *how)
{
	harvest_leaving();
	if (!how)
		errno = ENOSYS;
	return how;
}

#define EXEC(name, parameters, names)                                                              \
	EXPORT int name parameters                                                                 \
	{                                                                                          \
		return may_execute((void *)next.name) ? next.name names : -1;                      \
	}
EXECS(EXEC)

/* How many there are from `first` on, without the NULL at their end. */
static size_t count(const char *first, va_list *rest)
{
	size_t n = 0;

	for (const char *argument = first; argument; argument = va_arg(*rest, const char *))
		n++;
	return n;
}

/* Into argv, with the NULL, so that what comes behind that is next. */
static void collect(char **argv, const char *first, va_list *rest)
{
	const char *argument = first;

	while ((*argv++ = (char *)(size_t)argument))
		argument = va_arg(*rest, const char *);
}

/* The arguments of an execl function as those of an execv function, on the caller's stack. */
#define COLLECT(argv, first, rest)                                                                 \
	va_start(rest, first);                                                                     \
	argv = alloca((count(first, &(rest)) + 1) * sizeof(*(argv)));                              \
	va_end(rest);                                                                              \
	va_start(rest, first);                                                                     \
	collect(argv, first, &(rest))

EXPORT int execl(const char *path, const char *first, ...)
{
	char **argv;
	va_list rest;

	COLLECT(argv, first, rest);
	va_end(rest);
	return execv(path, argv);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
	char **argv;
	va_list rest;

	COLLECT(argv, first, rest);
	va_end(rest);
	return execvp(file, argv);
}

EXPORT int execle(const char *path, const char *first, ...)
{
	char **argv;
	char *const *envp;
	va_list rest;

	COLLECT(argv, first, rest);
	envp = va_arg(rest, char *const *);
	va_end(rest);
	return execve(path, argv, envp);
}
