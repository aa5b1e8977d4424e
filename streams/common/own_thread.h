/* SPDX-License-Identifier: MIT */
/*
 * own_thread.h: a thread of an interceptor's own, until the end of the process.
 *
 * Threads: any. No locks.
 */
#ifndef STREAMS_COMMON_OWN_THREAD_H
#define STREAMS_COMMON_OWN_THREAD_H

#include <pthread.h>
#include <signal.h>

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

#endif
