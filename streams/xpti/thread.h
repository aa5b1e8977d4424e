/* SPDX-License-Identifier: MIT */
/*
 * What each thread keeps for the framework, and the lock that all of its rare paths share.
 *
 * A thread's struct is its own but for `sequence`, which is odd while the thread is inside of
 * callbacks: whoever takes a callback out waits until it has changed (threads_wait). A callback may
 * throw, so the end of that is marked by a cleanup of the frame.
 *
 * The lock is held for microseconds, and never around a call out of this library but malloc, mmap
 * and functions of librtl that take no subscriber's part. A fork waits for it, and for the locks of
 * metadata, which are taken behind it.
 */
#ifndef STREAMS_XPTI_THREAD_H
#define STREAMS_XPTI_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREAD_OPEN_MAX 32u

struct slot;

/* Something that has begun on this thread: its end is to say when. */
struct thread_open {
	uint64_t instance;
	uint64_t object;
	uint64_t ticks;
	uint32_t scope; /* depth of the scope that it opened; 0: none */
	uint16_t type;
	uint8_t stream;
};

struct thread {
	uint64_t sequence; /* written by its thread, see thread_enter; read by threads_wait */
	uint32_t depth;    /* of notifies on this thread */
	bool in_use;       /* under the lock */
	bool has_stash;
	bool stash_is_new; /* nothing was created since */
	const char *stash_key;
	uint64_t stash_value;
	uint64_t universal_id;
	const void *walk;     /* a map that the thread goes through by its interface */
	uint32_t walk_key;    /* how far */
	struct slot *scope;   /* tracepoint scope; NULL: none */
	uint32_t scope_depth; /* of the scope of librtl that mirrors it; 0: none */
	struct slot *free;    /* slots for this thread's events */
	uint32_t free_count;
	uint32_t open_count; /* more than THREAD_OPEN_MAX: the oldest are overwritten */
	struct thread_open open[THREAD_OPEN_MAX];
	struct thread *next; /* of all that ever were; under the lock, release */
};

#pragma GCC visibility push(hidden)
extern __thread struct thread *thread_own __attribute__((tls_model("initial-exec")));
extern bool thread_needs_fence; /* this kernel has no membarrier(2) */
#pragma GCC visibility pop

struct thread *thread_make(void);

/* The calling thread's; NULL: no memory. */
static inline struct thread *thread_self(void)
{
	return __builtin_expect(thread_own != NULL, 1) ? thread_own : thread_make();
}

void framework_lock(void);
void framework_unlock(void);

/* Marks the thread as inside of callbacks. */
static inline void thread_enter(struct thread *thread)
{
	if (thread->depth++)
		return;
	/* Before the loads of the callbacks' `on`. Relaxed where the membarrier of threads_wait sees to
	 * that; else seq_cst, as these loads, and the store and the loads of who waits. */
	if (__builtin_expect(thread_needs_fence, 0))
		__atomic_exchange_n(&thread->sequence, thread->sequence + 1, __ATOMIC_SEQ_CST);
	else
		__atomic_store_n(&thread->sequence, thread->sequence + 1, __ATOMIC_RELAXED);
	__asm__ volatile("" ::: "memory");
}

static inline void thread_leave(struct thread *thread)
{
	/* release: with the acquire in threads_wait; what the callback did comes before */
	if (!--thread->depth)
		__atomic_store_n(&thread->sequence, thread->sequence + 1, __ATOMIC_RELEASE);
}

/* Waits until no other thread is in a callback that it had entered before. Not under the lock.
 * From inside a callback it does not wait. False: given up after a time. */
bool threads_wait(void);

#endif
