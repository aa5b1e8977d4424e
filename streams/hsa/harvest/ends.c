/* SPDX-License-Identifier: MIT */
/*
 * Ends without a word: _exit, _Exit and quick_exit run nothing of ours that is called when a process ends. So where
 * this library is preloaded it stands before these (quick_exit: everywhere), and has the harvester publish first what
 * has finished. Where subscribers run in the process, their outputs are finished, too.
 *
 * Threads: any; also a signal handler, and the child of a vfork or fork, where nothing is done.
 */
#include <rtl/publish.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../common/next.h"
#include "harvest.h"

#define EXPORT __attribute__((visibility("default")))

/* What is behind ours. Found when the library is loaded: a signal handler cannot look for it. */
static struct {
	void (*exit_at_once)(int status);
	void (*exit_of_c)(int status);
} next;

__attribute__((constructor)) static void find_all(void)
{
	static const char *const nowhere_else[] = {NULL};

	*(void **)&next.exit_at_once = next_function("_exit", nowhere_else);
	*(void **)&next.exit_of_c = next_function("_Exit", nowhere_else);
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
