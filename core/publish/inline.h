/* SPDX-License-Identifier: MIT */
/* Inline delivery: callbacks on the publishing thread.
 *
 * Each stream has a list of callbacks that is replaced as a whole; publishers read it without a lock. A publisher marks
 * in its writer that it is inside (plain store); who has replaced a list runs membarrier(2) on all threads and
 * then waits for the writers that were inside. So publishers need no fences. */
#pragma once

#include <rtl/subscriber.h>

#include "writer.h"

/* Adds a callback to a stream, under the host's data lock. RTL_ENOTSUP: no membarrier in the kernel. */
int inline_add(uint32_t stream, uint16_t type, rtl_events_fn fn, void *user, const void *owner);
/* Removes that owner's callback, under the host's data lock. A call may still be running. */
void inline_remove(uint32_t stream, const void *owner);
/* Waits until no removed callback runs on another thread; inside an inline callback it does not wait. */
void inline_wait(void);
/* Whether somebody waits for this thread to leave an inline callback: then it must not wait itself. */
bool inline_awaited(void);
/* The calling thread is about to end the process: it never returns to the callbacks it is in. */
void inline_leave(void);
/* In a child after fork: nobody is inside. */
void inline_forget(void);

struct inline_list;

/* Before each record on the scratch. From the reserve on, it and the record hold what all events of the type on this
 * thread share. */
struct inline_frame {
	struct rtl_event event;
	const struct rtl_event *events[1]; /* that one, as callbacks get it */
	const struct rtl_stream
		*stream; /* NULL: prepare the next anew (ring wanted, or clocks are calls) */
	struct inline_list *const *list; /* the stream's */
	int *program_errno;
	int saved_errno;
	uint32_t least; /* size of the type's payload */
	uint32_t below; /* scratch_top before it */
	uint8_t want;
};

static inline struct inline_frame *inline_frame_of(const struct rtl_record *record)
{
	return (struct inline_frame *)(uintptr_t)record - 1;
}

static inline struct rtl_record *inline_record_of(struct inline_frame *frame)
{
	return (struct rtl_record *)(void *)(frame + 1);
}

/* With another payload than the last record's. */
static inline bool inline_resize(struct inline_frame *frame, uint32_t payload_size)
{
	if (payload_size < frame->least || payload_size > RTL_PAYLOAD_MAX)
		return false;
	frame->event.payload_size = payload_size;
	inline_record_of(frame)->size = (uint32_t)sizeof(struct rtl_record) + payload_size;
	return true;
}

/* A record on the scratch without preparation: it is empty, and the last record was of the same type and for
 * inline callbacks alone. Else NULL. */
static inline struct rtl_record *inline_reserve_again(struct writer *writer,
						      const struct rtl_stream *stream,
						      uint16_t type, uint32_t payload_size)
{
	struct inline_frame *frame =
		(struct inline_frame *)(void *)(writer->scratch + SCRATCH_FIRST);

	if (__builtin_expect(writer->scratch_top != SCRATCH_FIRST, 0))
		return NULL;
	/* Room for the largest: a larger one is refused below; a signal handler sees no difference. */
	writer->scratch_top = SCRATCH_FIRST + (uint32_t)sizeof(*frame) +
			      (uint32_t)sizeof(struct rtl_record) + RTL_PAYLOAD_MAX;
	/* from here on a signal handler puts its records above; one before may have changed this */
	__asm__ volatile("" ::: "memory");
	if (__builtin_expect(frame->stream == stream && frame->event.type == type &&
				     (frame->event.payload_size == payload_size ||
				      inline_resize(frame, payload_size)),
			     1))
		return inline_record_of(frame);
	writer->scratch_top = SCRATCH_FIRST;
	return NULL;
}

/* A place on the calling thread's scratch, which is made if there is none; NULL: counted. */
void *inline_reserve(struct rtl_stream *stream, const struct rtl_type_info *type,
		     uint32_t payload_size, size_t size, uint8_t want);
/* Calls the callbacks, keeps errno, and gives the place back. */
void inline_commit(const struct rtl_record *record, struct writer *writer);
/* Where the ring wants the record, too: the same, but inline_release gives the place back. */
void inline_commit_keeping(const struct rtl_record *record, struct writer *writer);
void inline_release(const struct rtl_record *record);
