/* SPDX-License-Identifier: MIT */
#include "inline.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bus.h"
#include "discard.h"
#include "process.h"
#include "stream.h"
#include "ticks.h"
#include "writer.h"

#define DEPTH_MAX 8u

struct inline_callback {
	uint16_t type; /* or RTL_TYPE_ANY */
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

/* Puts another list in the place of a stream's. Publishers may still be in the old one: it is
 * kept until inline_wait has seen all of them leave. Under the host's data lock. */
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

	(void)unused;
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

	if (writer_self->in_use && writer_self->inline_depth)
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
	return writer_self->inline_depth && __atomic_load_n(&waiting, __ATOMIC_RELAXED);
}

void inline_leave(void)
{
	if (writer_self->in_use)
		__atomic_store_n(&writer_self->inline_depth, 0, __ATOMIC_RELEASE);
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
	if (n)
		memcpy(list->callbacks, old->callbacks, n * sizeof(*list->callbacks));
	list->callbacks[n] = (struct inline_callback){type, fn, user, owner};
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
	if (!n) {
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
	};
	frame->least = type->payload_size;
}

void *inline_reserve(struct rtl_stream *stream, const struct rtl_type_info *type, size_t size,
		     uint8_t want)
{
	struct writer *writer = writer_attach();
	uint8_t *scratch = writer ? scratch_of(writer) : NULL;
	struct inline_frame *frame;
	uint32_t below;

	if (!scratch) {
		discard_count(stream, SPOOL_DISCARD_NO_RING);
		return NULL;
	}
	below = writer->scratch_top;
	if (writer->inline_depth >= DEPTH_MAX || SCRATCH_BYTES - below < sizeof(*frame) + size) {
		discard_count(stream, SPOOL_DISCARD_DEPTH);
		return NULL;
	}
	writer->scratch_top = below + (uint32_t)(sizeof(*frame) + size);
	__asm__ volatile("" ::: "memory"); /* a signal handler puts its records above */
	frame = (struct inline_frame *)(void *)(scratch + below);
	prepare(frame, stream, type, writer->tid);
	frame->below = below;
	frame->want = want;
	frame->key = want & SPOOL_WANT_RECORD ? 0 : inline_key(stream, type->type);
	return frame + 1;
}

static inline void deliver(const struct inline_list *list, const struct rtl_record *record)
{
	struct rtl_event *event = &inline_frame_of(record)->event;
	const struct rtl_event *events[1] = {event};
	const struct inline_callback *callback = list->callbacks, *end = callback + list->count;

	event->payload_size = record->size - (uint32_t)sizeof(*record);
	event->time_ns = ticks_to_ns(record->ticks);
	event->uid = record->uid;
	event->parent_uid = record->parent_uid;
	event->instance = record->instance;
	event->correlation = record->correlation;
	event->payload = record + 1;
	for (; callback < end; callback++)
		if (callback->type == event->type || callback->type == RTL_TYPE_ANY)
			callback->fn(callback->user, events, 1);
}

void inline_commit(struct writer *writer, const struct rtl_record *record)
{
	const struct inline_list *list;
	uint32_t depth = writer->inline_depth;
	int *program_errno = &errno, err = *program_errno;

	/* relaxed, and only the compiler is held back: inline_wait's membarrier does the rest */
	__atomic_store_n(&writer->inline_depth, depth + 1, __ATOMIC_RELAXED);
	__asm__ volatile("" ::: "memory");
	/* acquire: with the release in replace */
	list = __atomic_load_n(&lists[record->stream], __ATOMIC_ACQUIRE);
	if (list)
		deliver(list, record);
	*program_errno = err;
	if (__builtin_expect(writer != writer_self, 0))
		return; /* a callback has forked: in the child nobody is inside */
	/* release: with the acquire in wait_for */
	if (!depth)
		__atomic_store_n(&writer->inline_exits, writer->inline_exits + 1, __ATOMIC_RELEASE);
	__atomic_store_n(&writer->inline_depth, depth, __ATOMIC_RELEASE);
	if (!(inline_frame_of(record)->want & SPOOL_WANT_RECORD))
		writer->scratch_top = inline_frame_of(record)->below;
}

void inline_release(const struct rtl_record *record)
{
	if (writer_self->in_use && writer_self->scratch) /* not so in a child */
		writer_self->scratch_top = inline_frame_of(record)->below;
}
