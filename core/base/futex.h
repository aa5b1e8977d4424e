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

/* errno is kept. */
static inline long futex_call(uint32_t *word, int operation, uint32_t value, const void *timeout,
			      uint32_t *other, uint32_t third)
{
	const int err = errno;
	const long result = syscall(SYS_futex, word, operation, value, timeout, other, third);

	errno = err;
	return result;
}

/* Sleeps while *word == value, at most timeout_ms. */
static inline void futex_wait(uint32_t *word, uint32_t value, uint32_t timeout_ms)
{
	const struct timespec t = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000};

	futex_call(word, FUTEX_WAIT, value, &t, NULL, 0);
}

static inline void futex_wake(uint32_t *word)
{
	futex_call(word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* ---- for words in a file that others may truncate: the kernel touches them, and reports where we would get
 * a SIGBUS */

/* Sets *word to 0, fully ordered, and wakes the sleeper if it was 1. */
static inline void futex_clear_and_wake(uint32_t *word)
{
	futex_call(word, FUTEX_WAKE_OP, 0, (void *)1, word,
		   FUTEX_OP(FUTEX_OP_SET, 0, FUTEX_OP_CMP_EQ, 1));
}

/* Adds a number of at most 12 bits to *word; wakes nobody. */
static inline void futex_add(uint32_t *word, uint32_t number)
{
	futex_call(word, FUTEX_WAKE_OP, 0, NULL, word,
		   FUTEX_OP(FUTEX_OP_ADD, number, FUTEX_OP_CMP_EQ, 0));
}

/* Whether *word == value; false if it is not there. Compares, and wakes nobody. */
static inline bool futex_is(uint32_t *word, uint32_t value)
{
	return futex_call(word, FUTEX_CMP_REQUEUE, 0, NULL, word, value) == 0;
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
