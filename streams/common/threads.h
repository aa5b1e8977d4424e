/* SPDX-License-Identifier: MIT */
/*
 * Locks of the interceptors, and forks: a lock that another thread holds at a fork would stay locked in the child. So
 * each is made anew there. What they guard is in order at every moment: an entry is complete before it is linked, with
 * release, and what is made once is made again if it is not finished. A fork never waits for one of them.
 *
 * Threads: the child's only one. Locks that are members of something on the heap do not go here.
 */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>

/* Beside a lock's definition, in the file: `id` is a name for it there. The section has pointers,
 * as compilers may leave space between larger things. */
#define FORK_LOCK(id, lock)                                                                        \
	static pthread_mutex_t *const fork_lock_of_##id                                            \
		__attribute__((used, section("rtl_fork_locks"))) = &(lock)

/* Defines a lock of a file. */
#define STATIC_LOCK(name)                                                                          \
	static pthread_mutex_t name = PTHREAD_MUTEX_INITIALIZER;                                   \
	FORK_LOCK(name, name)

static inline pthread_mutex_t *lock_take(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	return lock;
}

static inline void lock_release(pthread_mutex_t *const *lock)
{
	pthread_mutex_unlock(*lock);
}

/* Takes a lock and holds it until the end of the block. */
#define HOLD_LOCK(lock)                                                                            \
	__attribute__((cleanup(lock_release), unused)) pthread_mutex_t *const held = lock_take(lock)

/* What a clock shows. */
static inline uint64_t clock_read_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* For waits with a timeout. */
static inline struct timespec time_from_now(uint64_t ns)
{
	ns += clock_read_ns(CLOCK_REALTIME);
	return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

/* ---- a thread of an interceptor's own, until the end of the process */

/* Starts one, detached, with all signals blocked: handlers of the application run on its own threads. 0, or
 * why there is none (errno's numbers). */
static inline int own_thread_start(void *(*run)(void *), void *data)
{
	sigset_t all, old;
	pthread_attr_t attributes;
	pthread_t thread;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	error = pthread_create(&thread, &attributes, run, data);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}
