/* SPDX-License-Identifier: MIT */
#include "thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

__thread struct thread *thread_own __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;

void framework_lock(void)
{
	pthread_mutex_lock(&lock);
}

void framework_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static void thread_ends(void *thread)
{
	thread_own = NULL;
	free(thread);
}

/* Before anybody can call us, and take a lock. */
__attribute__((constructor)) static void begin(void)
{
	pthread_key_create(&key, thread_ends);
	pthread_atfork(framework_lock, framework_unlock, framework_unlock);
}

__attribute__((noinline, cold)) struct thread *thread_make(void)
{
	int err = errno;
	struct thread *thread = calloc(1, sizeof *thread);

	if (thread && pthread_setspecific(key, thread)) {
		free(thread);
		thread = NULL;
	}
	thread_own = thread;
	errno = err;
	return thread;
}
