/* SPDX-License-Identifier: MIT */
/* Preloaded: ends a process that allocates memory between fork and exec. A process that has threads
 * must not: with another allocator than the C library's it may wait for ever for a lock that one of
 * them held. */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static bool forked;

static void in_child(void)
{
	forked = true;
}

/* First of the handlers that a child runs: before those of libraries that are loaded later. */
__attribute__((constructor(101))) static void begin(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

static void check(void)
{
	static const char line[] = "fork_malloc: memory is allocated between fork and exec\n";

	if (!forked)
		return;
	if (write(STDERR_FILENO, line, sizeof(line) - 1) < 0)
		_exit(99);
	_exit(98);
}

void *malloc(size_t size)
{
	check();
	return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	check();
	return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	check();
	return __libc_realloc(old, size);
}
