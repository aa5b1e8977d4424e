/* SPDX-License-Identifier: MIT */
/* Waiting on a word for threads of this process: futex(2). Threads: any, also a signal handler. */
#ifndef STREAMS_HSA_FUTEX_H
#define STREAMS_HSA_FUTEX_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline void futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
	const struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000),
					 .tv_nsec = (long)(timeout_ns % 1000000000)};

	(void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &timeout, NULL, 0);
}

static inline void futex_wake(_Atomic uint32_t *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

#endif
