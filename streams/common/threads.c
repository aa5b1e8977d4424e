/* SPDX-License-Identifier: MIT */
#include "threads.h"

#include <stddef.h>

/* The linker's: where the section begins and ends. */
extern pthread_mutex_t *const __start_rtl_fork_locks[]
	__attribute__((visibility("hidden"))); // NOLINT
extern pthread_mutex_t *const __stop_rtl_fork_locks[]
	__attribute__((visibility("hidden"))); // NOLINT

static void in_child(void)
{
	for (pthread_mutex_t *const *lock = __start_rtl_fork_locks; lock < __stop_rtl_fork_locks;
	     lock++)
		pthread_mutex_init(*lock, NULL);
}

/* Not when a lock is first needed: that may be in a handler, or in two threads at once. */
__attribute__((constructor)) static void watch_forks(void)
{
	(void)pthread_atfork(NULL, NULL, in_child);
}
