/* SPDX-License-Identifier: MIT */
#include "threads.h"

#include <stdint.h>

/* The linker's: where the section begins and ends. */
extern const struct fork_lock *const __start_rtl_fork_locks[]
	__attribute__((visibility("hidden"))); // NOLINT
extern const struct fork_lock *const __stop_rtl_fork_locks[]
	__attribute__((visibility("hidden"))); // NOLINT

static void in_child(void)
{
	for (const struct fork_lock *const *lock = __start_rtl_fork_locks;
	     lock < __stop_rtl_fork_locks; lock++) {
		const uintptr_t first = (uintptr_t)(*lock)->first;

		for (size_t i = 0; i < (*lock)->count; i++)
			pthread_mutex_init((pthread_mutex_t *)(first + i * (*lock)->stride), NULL);
	}
}

/* Not when a lock is first needed: that may be in a handler, or in two threads at once. */
__attribute__((constructor)) static void watch_forks(void)
{
	(void)pthread_atfork(NULL, NULL, in_child);
}
