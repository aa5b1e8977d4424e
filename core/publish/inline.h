/* SPDX-License-Identifier: MIT */
/*
 * Inline delivery: callbacks on the publishing thread.
 *
 * Each stream has a list of callbacks that is replaced as a whole; publishers read it without a
 * lock. A publisher marks in its writer that it is inside (plain store); a thread that has replaced
 * a list runs membarrier(2) on all threads of the process and then waits for the writers that were
 * inside. That asymmetry keeps the publishers' side free of fences.
 */
#ifndef RTL_CORE_INLINE_H
#define RTL_CORE_INLINE_H

#include <rtl/publish.h>
#include <rtl/subscriber.h>

#include "spool.h"
#include "writer.h"

/* Adds a callback to a stream, under the host's data lock. RTL_ENOTSUP: the kernel has no
 * membarrier. */
int inline_add(uint32_t stream, uint16_t type, rtl_events_fn fn, void *user, const void *owner);
/* Removes that owner's callback, under the host's data lock. It is not called again, but may still
 * run. */
void inline_remove(uint32_t stream, const void *owner);
/* Waits until no callback that was removed before still runs on another thread. Inside an inline
 * callback it does not wait. */
void inline_wait(void);
/* Whether somebody waits for this thread to leave an inline callback: then it must not wait itself. */
bool inline_awaited(void);
/* The calling thread is about to end the process: it never returns to the callbacks it is in. */
void inline_leave(void);
/* In a child after fork: nobody is inside. */
void inline_forget(void);

/* Stands before each record on the scratch. From the reserve on it holds those members of the event
 * that are the same for all of the type. */
struct inline_frame {
	struct rtl_event event;
	uint32_t key;   /* inline_key of its stream and type */
	uint32_t least; /* size of the type's payload */
	uint32_t below; /* scratch_top before it */
	uint8_t want;
};

static inline struct inline_frame *inline_frame_of(const struct rtl_record *record)
{
	return (struct inline_frame *)(uintptr_t)record - 1;
}

static inline uint32_t inline_key(const struct rtl_stream *stream, uint16_t type)
{
	return (stream->number + 1) << 16 | type;
}

/* A place on the writer's scratch that needs no preparation: nothing else is there, and the last
 * record was of the same type and for inline callbacks alone. NULL: that is not so. */
static inline void *inline_reserve_again(struct writer *writer, uint32_t key, uint32_t payload_size,
					 size_t size)
{
	struct inline_frame *frame = (struct inline_frame *)(void *)writer->scratch;

	if (__builtin_expect(writer->scratch_top || !frame || payload_size > RTL_PAYLOAD_MAX, 0))
		return NULL;
	writer->scratch_top = (uint32_t)(sizeof(*frame) + size);
	/* from here on a signal handler puts its records above; one before may have changed this */
	__asm__ volatile("" ::: "memory");
	if (__builtin_expect(frame->key == key && payload_size >= frame->least, 1))
		return frame + 1;
	writer->scratch_top = 0;
	return NULL;
}

/* A place on the calling thread's scratch, which is made if there is none; NULL: counted. */
void *inline_reserve(struct rtl_stream *stream, const struct rtl_type_info *type, size_t size,
		     uint8_t want);
/* Calls the callbacks and keeps errno. Gives the place back, unless the ring wants the record too:
 * then inline_release does. */
void inline_commit(struct writer *writer, const struct rtl_record *record);
void inline_release(const struct rtl_record *record);

#endif
