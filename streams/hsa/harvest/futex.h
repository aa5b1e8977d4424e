/* SPDX-License-Identifier: MIT */
/* Waiting on a word for threads of this process: futex(2). Threads: any, also a signal handler. */
#pragma once

#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline void futex_wait(uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
	const struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000),
					 .tv_nsec = (long)(timeout_ns % 1000000000)};

	(void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, &timeout, NULL, 0);
}

static inline void futex_wake(uint32_t *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* Wakes those that sleep until a count changes. Release: they acquire it. */
static inline void futex_notify(uint32_t *count)
{
	__atomic_fetch_add(count, 1, __ATOMIC_RELEASE);
	futex_wake(count);
}

/* A word that says who has something, 0: nobody, and how many sleep until it is 0. To give it up
 * costs no fence, which would wait for all stores before it. So a thread that has just come may be
 * overlooked. It looks again after FUTEX_NAP_NS. */
struct futex_owner {
	uint32_t owner;    /* acquire by who takes it, release by who gives it up */
	uint32_t sleepers; /* relaxed: see above */
};

#define FUTEX_NAP_NS 1000000u
/* How often to look before sleeping. */
#define FUTEX_SPINS 50

static inline bool futex_take(struct futex_owner *futex, uint32_t owner)
{
	uint32_t none = 0;

	/* Acquire: pairs with futex_give_up, all that the last one did is seen. */
	return !__atomic_load_n(&futex->owner, __ATOMIC_RELAXED) &&
	       __atomic_compare_exchange_n(&futex->owner, &none, owner, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/* The same, and looks for its end for some time. */
static inline bool futex_take_spinning(struct futex_owner *futex, uint32_t owner)
{
	for (int i = 0; i < FUTEX_SPINS; i++) {
		if (futex_take(futex, owner))
			return true;
#ifdef __x86_64__
		__builtin_ia32_pause();
#endif
	}
	return false;
}

/* Sleeps until nobody has it, or somebody else; not for long. */
static inline void futex_nap(struct futex_owner *futex)
{
	uint32_t owner;

	__atomic_fetch_add(&futex->sleepers, 1, __ATOMIC_RELAXED);
	owner = __atomic_load_n(&futex->owner, __ATOMIC_RELAXED);
	if (owner)
		futex_wait(&futex->owner, owner, FUTEX_NAP_NS);
	__atomic_fetch_sub(&futex->sleepers, 1, __ATOMIC_RELAXED);
}

static inline void futex_give_up(struct futex_owner *futex)
{
	/* Release: pairs with futex_take. */
	__atomic_store_n(&futex->owner, 0, __ATOMIC_RELEASE);
	if (__builtin_expect(__atomic_load_n(&futex->sleepers, __ATOMIC_RELAXED) != 0, 0))
		futex_wake(&futex->owner);
}
