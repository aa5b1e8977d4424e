/* SPDX-License-Identifier: MIT */
/* See thread.h. */
#include "thread.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "events.h"

/* A callback that runs longer than that is not waited for. */
#define WAIT_NS 2000000000u

__thread struct thread *thread_own __attribute__((tls_model("initial-exec")));
bool thread_needs_fence;

static struct thread *threads; /* release by thread_make, acquire by threads_wait */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

void framework_lock(void)
{
	pthread_mutex_lock(&lock);
}

void framework_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static void thread_ends(void *user)
{
	struct thread *thread = user;

	thread_own = NULL;
	framework_lock();
	slots_give_back(thread);
	thread->in_use = false;
	framework_unlock();
}

static void before_fork(void)
{
	framework_lock();
	metadata_lock_all();
}

static void after_fork(void)
{
	metadata_unlock_all();
	framework_unlock();
}

/* In a child of fork the others are gone. */
static void child_begins(void)
{
	struct thread *thread;

	for (thread = threads; thread; thread = thread->next) {
		if (thread == thread_own)
			continue;
		thread->sequence += thread->sequence & 1;
		thread->depth = 0;
		if (thread->in_use)
			slots_give_back(thread);
		thread->in_use = false;
	}
	after_fork();
}

static void begin(void)
{
	thread_needs_fence =
		syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0;
	pthread_key_create(&key, thread_ends);
	pthread_atfork(before_fork, after_fork, child_begins);
}

/* One that a thread has left, or a new one; under the lock. */
static struct thread *take(void)
{
	struct thread *thread;

	for (thread = threads; thread; thread = thread->next)
		if (!thread->in_use)
			break;
	if (!thread) {
		thread = aligned_alloc(64, (sizeof *thread + 63) & ~(size_t)63);
		if (!thread)
			return NULL;
		*thread = (struct thread){.next = threads};
		/* release: with the acquire in threads_wait */
		__atomic_store_n(&threads, thread, __ATOMIC_RELEASE);
	} else {
		thread->has_stash = thread->stash_is_new = false;
		thread->universal_id = 0;
		thread->scope = NULL;
		thread->scope_depth = 0;
		thread->open_count = 0;
	}
	thread->in_use = true;
	return thread;
}

__attribute__((noinline, cold)) struct thread *thread_make(void)
{
	struct thread *thread;
	int err = errno;

	pthread_once(&once, begin);
	framework_lock();
	thread = take();
	framework_unlock();
	if (thread && pthread_setspecific(key, thread) == 0)
		thread_own = thread;
	errno = err;
	return thread;
}

static uint64_t clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

bool threads_wait(void)
{
	const struct thread *self = thread_self(), *thread;
	uint64_t until = clock_now() + WAIT_NS;

	if (!self || self->depth)
		return true;
	/* Every running thread has seen the change, or is seen to be inside. */
	if (!thread_needs_fence)
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	thread = __atomic_load_n(&threads, __ATOMIC_ACQUIRE);
	for (; thread; thread = thread->next) {
		/* seq_cst: with the exchange in thread_enter */
		uint64_t seen = __atomic_load_n(&thread->sequence, __ATOMIC_SEQ_CST);

		while ((seen & 1) && thread != self &&
		       __atomic_load_n(&thread->sequence, __ATOMIC_ACQUIRE) == seen) {
			if (clock_now() > until)
				return false;
			sched_yield();
		}
	}
	return true;
}
