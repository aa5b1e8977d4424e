/* SPDX-License-Identifier: MIT */
#include "inline.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "bus.h"
#include "clock.h"
#include "parts.h"

#define DEPTH_MAX 8u

struct inline_callback {
	uint16_t type; /* or RTL_TYPE_ANY */
	bool last;     /* of its list, which has one at least */
	rtl_events_fn fn;
	void *user;
	const void *owner;
};

struct inline_list {
	struct inline_list *older; /* in `retired` */
	uint32_t count;
	struct inline_callback callbacks[];
};

static struct inline_list *lists[SPOOL_STREAMS_MAX]; /* release by replace, acquire by deliver */
static struct inline_list *retired;                  /* under bus.lock */
static uint32_t waiting;                             /* threads in inline_wait */

static long membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0);
}

/* Asks for our use of it; RTL_ENOTSUP where there is none. */
static int barrier_ready(void)
{
	static int state; /* under the host's data lock: 0 = not asked yet */

	if (!state)
		state = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) ? RTL_ENOTSUP : 1;
	return state < 0 ? state : 0;
}

/* Replaces a stream's list. The old one is kept until inline_wait has seen all publishers leave it. Under the
 * host's data lock. */
static void replace(uint32_t stream, struct inline_list *list)
{
	struct inline_list *old = lists[stream];

	/* release: with the acquire in inline_commit */
	__atomic_store_n(&lists[stream], list, __ATOMIC_RELEASE);
	if (!old)
		return;
	bus_lock();
	old->older = retired;
	retired = old;
	bus_unlock();
}

/* Waits until the writer has left the callbacks that it was in. */
static void wait_for(void *unused, struct writer *writer)
{
	uint32_t exits;

	/* acquire, all three: with the releases at the end of inline_commit, what the callback did
	 * is done; membarrier has ordered the writer's store of its depth before our load */
	if (!__atomic_load_n(&writer->inline_depth, __ATOMIC_ACQUIRE))
		return;
	exits = __atomic_load_n(&writer->inline_exits, __ATOMIC_ACQUIRE);
	while (__atomic_load_n(&writer->inline_depth, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&writer->inline_exits, __ATOMIC_ACQUIRE) == exits)
		usleep(50);
}

void inline_wait(void)
{
	struct inline_list *old, *older;

	if (writer_self()->in_use && writer_self()->inline_depth)
		return;
	bus_lock();
	old = retired;
	retired = NULL;
	bus_unlock();
	__atomic_fetch_add(&waiting, 1, __ATOMIC_SEQ_CST);
	membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	writer_each(wait_for, NULL);
	__atomic_fetch_sub(&waiting, 1, __ATOMIC_SEQ_CST);
	for (; old; old = older) {
		older = old->older;
		free(old);
	}
}

bool inline_awaited(void)
{
	return writer_self()->inline_depth && __atomic_load_n(&waiting, __ATOMIC_RELAXED);
}

void inline_leave(void)
{
	if (writer_self()->in_use)
		__atomic_store_n(&writer_self()->inline_depth, 0, __ATOMIC_RELEASE);
}

int inline_add(uint32_t stream, uint16_t type, rtl_events_fn fn, void *user, const void *owner)
{
	struct inline_list *old = lists[stream], *list;
	uint32_t n = old ? old->count : 0;

	if (barrier_ready())
		return RTL_ENOTSUP;
	list = malloc(sizeof(*list) + (n + 1) * sizeof(*list->callbacks));
	if (!list)
		return RTL_ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		list->callbacks[i] = old->callbacks[i];
		list->callbacks[i].last = false;
	}
	list->callbacks[n] = (struct inline_callback){type, true, fn, user, owner};
	list->count = n + 1;
	replace(stream, list);
	return 0;
}

void inline_remove(uint32_t stream, const void *owner)
{
	struct inline_list *old = lists[stream], *list;
	uint32_t n = 0;

	if (!old)
		return;
	list = malloc(sizeof(*list) + old->count * sizeof(*list->callbacks));
	if (!list) { /* rather without any callback than with one that is gone */
		replace(stream, NULL);
		return;
	}
	for (uint32_t i = 0; i < old->count; i++)
		if (old->callbacks[i].owner != owner)
			list->callbacks[n++] = old->callbacks[i];
	list->count = n;
	if (n) {
		list->callbacks[n - 1].last = true;
	} else {
		free(list);
		list = NULL;
	}
	replace(stream, list);
}

static void forget(struct inline_list *list)
{
	static struct inline_list *forgotten; /* reachable: they are no leaks */

	if (!list)
		return;
	list->older = forgotten;
	forgotten = list;
}

void inline_forget(void)
{
	struct inline_list *list;

	/* they may be in use still: a callback may have forked */
	for (uint32_t i = 0; i < SPOOL_STREAMS_MAX; i++)
		forget(lists[i]);
	memset(lists, 0, sizeof(lists));
	while ((list = retired)) {
		retired = list->older;
		forget(list);
	}
	waiting = 0;
}

/* The writer's scratch; NULL: no memory. */
static uint8_t *scratch_of(struct writer *writer)
{
	void *p;

	if (writer->scratch)
		return writer->scratch;
	p = mmap(NULL, SCRATCH_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	writer->scratch = p;
	writer->scratch_top = SCRATCH_FIRST;
	return p;
}

/* What is the same for all events of the type on this thread. */
static void prepare(struct inline_frame *frame, const struct rtl_stream *stream,
		    const struct rtl_type_info *type, uint32_t tid)
{
	frame->event = (struct rtl_event){
		.struct_size = sizeof(frame->event),
		.type = type->type,
		.stream = stream_info(stream->number),
		.type_info = type,
		.process = process_self(),
		.tid = tid,
		.payload = rtl_record_payload(inline_record_of(frame)),
	};
	frame->events[0] = &frame->event;
	frame->list = &lists[stream->number];
	frame->program_errno = &errno;
	frame->least = type->payload_size;
}

void *inline_reserve(struct rtl_stream *stream, const struct rtl_type_info *type,
		     uint32_t payload_size, size_t size, uint8_t want)
{
	struct writer *writer = writer_attach();
	uint8_t *scratch = writer ? scratch_of(writer) : NULL;
	struct inline_frame *frame;
	uint32_t below;

	if (!scratch) {
		discard_count(stream, SPOOL_DISCARD_NO_RING);
		return NULL;
	}
	below = (writer->scratch_top + 7) & ~7u;
	if (writer->inline_depth >= DEPTH_MAX || SCRATCH_BYTES - below < sizeof(*frame) + size) {
		discard_count(stream, SPOOL_DISCARD_DEPTH);
		return NULL;
	}
	writer->scratch_top = below + (uint32_t)(sizeof(*frame) + size);
	__asm__ volatile("" ::: "memory"); /* a signal handler puts its records above */
	frame = (struct inline_frame *)(void *)(scratch + below);
	prepare(frame, stream, type, writer->tid);
	frame->event.payload_size = payload_size;
	frame->below = below;
	frame->want = want;
	frame->stream = want & SPOOL_WANT_RECORD || clock_calls ? NULL : stream;
	return inline_record_of(frame);
}

static inline void deliver(const struct inline_list *list, const struct rtl_record *record)
{
	const struct inline_callback *callback = list->callbacks;
	struct rtl_event *event = &inline_frame_of(record)->event;

	event->time_ns = ticks_to_ns(record->ticks);
	event->uid = record->uid;
	event->parent_uid = record->parent_uid;
	event->instance = record->instance;
	event->correlation = record->correlation;
	for (;; callback++) {
		const struct rtl_record *again = record;

		/* so that the compiler keeps nothing that it computes of it in one more register */
		__asm__ volatile("" : "+r"(again));
		if (LIKELY(callback->type == RTL_TYPE_ANY || callback->type == again->type))
			callback->fn(callback->user, inline_frame_of(again)->events, 1);
		if (LIKELY(callback->last))
			return;
	}
}

/* An inner callback returns. False: a callback has forked, and in this child nobody is inside. */
static __attribute__((noinline, cold)) bool leave_otherwise(struct writer *writer)
{
	if (!writer->inline_depth)
		return false;
	/* release: with the acquire in wait_for */
	__atomic_store_n(&writer->inline_depth, writer->inline_depth - 1, __ATOMIC_RELEASE);
	return true;
}

/* False: the place is not the writer's any more (see above). */
static inline __attribute__((always_inline)) bool commit(const struct rtl_record *record,
							 struct writer *writer)
{
	struct inline_frame *frame = inline_frame_of(record);
	const struct inline_list *list;

	frame->saved_errno = *frame->program_errno;
	/* only the compiler is held back: inline_wait's membarrier does the rest */
	own_count32(&writer->inline_depth);
	/* acquire: with the release in replace */
	list = __atomic_load_n(frame->list, __ATOMIC_ACQUIRE);
	if (LIKELY(list != NULL))
		deliver(list, record);
	*frame->program_errno = frame->saved_errno; /* the scratch is not wiped in a child */
	if (!LIKELY(writer->inline_depth == 1))
		return leave_otherwise(writer);
	/* release, both: with the acquires in wait_for */
	own_count32(&writer->inline_exits);
	__atomic_store_n(&writer->inline_depth, 0, __ATOMIC_RELEASE);
	return true;
}

void inline_commit(const struct rtl_record *record, struct writer *writer)
{
	if (commit(record, writer))
		writer->scratch_top = inline_frame_of(record)->below;
}

void inline_commit_keeping(const struct rtl_record *record, struct writer *writer)
{
	(void)commit(record, writer);
}

void inline_release(const struct rtl_record *record)
{
	if (writer_self()->in_use && writer_self()->scratch) /* not so in a child */
		writer_self()->scratch_top = inline_frame_of(record)->below;
}
