/* SPDX-License-Identifier: MIT */
/* futex(2), shared between processes: the words live in the spool. And deadlines for other waits. */
#pragma once

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
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

/*
 * For words in a file that others may cut off: the kernel touches them, and says so, where we would
 * get a SIGBUS.
 */

/* Sets *word to 0, fully ordered, and wakes the sleeper if it was 1. */
static inline void futex_clear_and_wake(uint32_t *word)
{
	int err = errno;

	syscall(SYS_futex, word, FUTEX_WAKE_OP, 0, (void *)1, word,
		FUTEX_OP(FUTEX_OP_SET, 0, FUTEX_OP_CMP_EQ, 1));
	errno = err;
}

/* Adds to *word. */
static inline void futex_add(uint32_t *word, uint32_t number)
{
	int err = errno;

	/* wakes nobody; 12 bits are there for the number */
	syscall(SYS_futex, word, FUTEX_WAKE_OP, 0, (void *)0, word,
		FUTEX_OP(FUTEX_OP_ADD, number, FUTEX_OP_CMP_EQ, 0));
	errno = err;
}

/* Whether *word == value; false if it is not there. */
static inline bool futex_is(uint32_t *word, uint32_t value)
{
	int err = errno;
	/* wakes nobody, but looks */
	bool is = syscall(SYS_futex, word, FUTEX_CMP_REQUEUE, 0, (void *)0, word, value) == 0;

	errno = err;
	return is;
}

static inline struct timespec deadline_in(clockid_t clock, uint32_t timeout_ms)
{
	struct timespec until;

	clock_gettime(clock, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	return until;
}
