/* SPDX-License-Identifier: MIT */
/* futex(2), shared between processes: the words live in the spool. */
#ifndef RTL_CORE_FUTEX_H
#define RTL_CORE_FUTEX_H

#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeps while *word == value, at most timeout_ms; errno is kept. */
static inline void futex_wait(uint32_t *word, uint32_t value, uint32_t timeout_ms)
{
	struct timespec t = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000};
	int err = errno;

	syscall(SYS_futex, word, FUTEX_WAIT, value, &t, NULL, 0);
	errno = err;
}

static inline void futex_wake(uint32_t *word)
{
	int err = errno;

	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
	errno = err;
}

#endif
