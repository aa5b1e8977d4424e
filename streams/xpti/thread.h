/* SPDX-License-Identifier: MIT */
/* What each thread keeps for the framework, and the lock of all its rare paths: see README.md. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/threads.h"

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
	bool has_stash;
	bool stash_is_new; /* nothing was created since */
	const char *stash_key;
	uint64_t stash_value;
	uint64_t universal_id;
	const void *walk;     /* a map that the thread goes through by its interface */
	uint32_t walk_key;    /* how far */
	struct slot *scope;   /* tracepoint scope; NULL: none */
	uint32_t scope_depth; /* of the scope of librtl that mirrors it; 0: none */
	uint32_t open_count;  /* more than THREAD_OPEN_MAX: the oldest are overwritten */
	struct thread_open open[THREAD_OPEN_MAX];
};

#pragma GCC visibility push(hidden)
extern __thread struct thread *thread_own __attribute__((tls_model("initial-exec")));
extern pthread_mutex_t framework_lock;
#pragma GCC visibility pop

struct thread *thread_make(void);

/* The calling thread's; NULL: no memory. */
static inline struct thread *thread_self(void)
{
	return __builtin_expect(thread_own != NULL, 1) ? thread_own : thread_make();
}
