/* SPDX-License-Identifier: MIT */
/* What a publishing thread has: its place in a ring, and its scratch for inline delivery.
 *
 * Threads: a writer's own, but inline.c reads `inline_depth` and `inline_exits` from others. The kernel wipes writers'
 * pages in a child made by fork: all are zero there, so the next event takes the slow path, which sees it.
 *
 * `busy` and thread_locked tell a signal handler that it has interrupted rtl on this thread. */
#pragma once

#include "compiler.h"
#include "ring.h"

#define SCRATCH_BYTES (72u << 10) /* eight of the largest records */

/* Where the scratch begins to be used: 0 is none. */
#define SCRATCH_FIRST 64u

struct writer {
	uint8_t *cursor; /* where the next record goes */
	uint8_t *
		limit; /* end of the piece that may be filled without looking; at a multiple of 8 */
	struct ring_header *ring; /* NULL: none yet */
	uint64_t origin;  /* a position in the ring's life less the address that stands for it */
	uint8_t *scratch; /* records on their way to inline callbacks, a stack */
	uint32_t scratch_top; /* SCRATCH_FIRST: it is empty; 0: there is none yet */
	uint32_t busy;
	uint32_t inline_depth;
	uint32_t inline_exits; /* counts returns to depth 0 */
	uint32_t open_next; /* of the ring's places for what is open, the first that may be free */
	uint32_t tid;
	/* An event looks no further than the line that ends here. */
	uint64_t tail;     /* the ring's tail when last looked at */
	uint64_t retry_ns; /* no ring could be had: not before then */
	uint64_t grow_ns;  /* likewise, no further one */
	uint32_t in_use;
};
_Static_assert(offsetof(struct writer, tail) == 64, "a line of the cache");

/* Where in the ring's life such a cursor is. */
static inline uint64_t writer_position_at(const struct writer *writer, const uint8_t *cursor)
{
	return (uint64_t)(uintptr_t)cursor + writer->origin;
}

static inline uint64_t writer_position(const struct writer *writer)
{
	return writer_position_at(writer, writer->cursor);
}

/* The writer of threads that have none: never written to, and always busy, so that nobody does. */
extern struct writer writer_none HIDDEN;
/* How far the calling thread's lies from writer_none. glibc may leave 0 in a thread that begins while librtl is
 * loaded. */
extern __thread uintptr_t writer_from_none __attribute__((tls_model("initial-exec"))) HIDDEN;

/* The calling thread's; never NULL. */
static inline struct writer *writer_self(void)
{
	return (struct writer *)((uintptr_t)&writer_none + writer_from_none);
}

/* Gives the calling thread a writer without a ring. NULL: out of memory. */
struct writer *writer_attach(void);
/* Gives it a ring; false: none can be had. */
bool writer_take_ring(struct writer *writer);
/* Makes room for `need` bytes at the cursor. False: there is none, and it may not wait. */
bool writer_make_room(struct writer *writer, size_t need, bool may_wait);
/* Calls fn with each writer that exists, perhaps also with those that attach meanwhile. No lock. */
void writer_each(void (*fn)(void *user, struct writer *writer), void *user);
/* In a child after fork, under the bus's lock: forget the parent's. */
void writer_forget_all(void);
