/* SPDX-License-Identifier: MIT */
/* See streams.h. */
#include "streams.h"

#include <stdlib.h>
#include <string.h>

#include <rtl/publish.h>

#include "bridge.h"
#include "thread.h"

#define RECENT 64u

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

struct stream streams[STREAMS];
struct type_callbacks *stream_types[STREAMS][256];
/* By stream and low byte of a type. 1: surely nobody wants it, neither a callback nor librtl; 0: to be
 * looked at. Relaxed: it orders nothing; written under the lock. */
static uint8_t quiet[STREAMS * 256];
static uint32_t stream_count;  /* under the lock */
static uint8_t recent[RECENT]; /* number found last for a name at that address; relaxed */

/* ---- registration */

/* Under the lock. 0: it is not there. */
static uint8_t find(const char *name)
{
	uint32_t i;

	for (i = 1; i <= stream_count; i++)
		if (!strcmp(streams[i].name, name))
			return (uint8_t)i;
	return 0;
}

static uint8_t add(const char *name)
{
	char *copy = stream_count + 1 < XPTI_INVALID_STREAM ? strdup(name) : NULL;
	struct stream *stream;

	if (!copy)
		return 0;
	stream = &streams[++stream_count];
	stream->number = (uint8_t)stream_count;
	stream->rtl = &rtl_stream_none;
	bridge_name(stream, copy);
	/* release: with the acquire of who looks at streams by number */
	__atomic_store_n(&stream->name, copy, __ATOMIC_RELEASE);
	return stream->number;
}

static uint8_t register_by_content(const char *name)
{
	uint8_t number;

	framework_lock();
	number = find(name);
	if (!number)
		number = add(name);
	framework_unlock();
	if (!number)
		return XPTI_INVALID_STREAM;
	/* also where another thread is at it: this one's events are recorded from here on */
	if (__atomic_load_n(&streams[number].rtl, __ATOMIC_ACQUIRE) == &rtl_stream_none) {
		bridge_stream(&streams[number]);
		streams_update(&streams[number]);
	}
	return number;
}

uint8_t xptiRegisterStream(const char *name)
{
	uint8_t *hint, number;

	if (!name || !*name)
		return XPTI_INVALID_STREAM;
	framework_now();
	hint = &recent[(uintptr_t)name * 0x9e3779b97f4a7c15u >> 58];
	number = __atomic_load_n(hint, __ATOMIC_ACQUIRE);
	if (number && !strcmp(streams[number].name, name))
		return number;
	number = register_by_content(name);
	if (number != XPTI_INVALID_STREAM)
		/* release: with the acquire above; the name is there */
		__atomic_store_n(hint, number, __ATOMIC_RELEASE);
	return number;
}

/* ---- callbacks */

static struct type_callbacks *find_type(const struct stream *stream, uint16_t type)
{
	struct type_callbacks *t =
		__atomic_load_n(&stream_types[stream - streams][type & 0xff], __ATOMIC_ACQUIRE);

	while (t && t->type != type)
		t = __atomic_load_n(&t->next, __ATOMIC_ACQUIRE);
	return t;
}

const struct callbacks *callbacks_of(const struct stream *stream, uint16_t type)
{
	const struct type_callbacks *t = find_type(stream, type);

	return t ? __atomic_load_n(&t->callbacks, __ATOMIC_ACQUIRE) : NULL;
}

static bool any_on(const struct callbacks *callbacks)
{
	uint32_t i, n = callbacks ? __atomic_load_n(&callbacks->count, __ATOMIC_ACQUIRE) : 0;

	for (i = 0; i < n; i++)
		if (__atomic_load_n(&callbacks->list[i].on, __ATOMIC_RELAXED))
			return true;
	return false;
}

/* Under the lock. A stream that is recorded is never quiet: what librtl wants changes at any time. */
static void update_quiet(struct stream *stream)
{
	const uint8_t state = __atomic_load_n(&framework_state, __ATOMIC_RELAXED);
	const bool look = (state & STATE_NOT_YET) || !stream->name ||
			  ((state & STATE_RTL) &&
			   __atomic_load_n(&stream->rtl, __ATOMIC_RELAXED) != &rtl_stream_none);
	uint32_t i;

	for (i = 0; i < 256; i++)
		__atomic_store_n(&quiet[(stream - streams) * 256 + i],
				 !look && !((state & STATE_PLUGINS) && stream->wanted[i]),
				 __ATOMIC_RELAXED);
}

void streams_update(struct stream *stream)
{
	framework_lock();
	update_quiet(stream);
	framework_unlock();
}

void streams_update_all(void)
{
	uint32_t i;

	framework_lock();
	for (i = 1; i <= stream_count; i++)
		update_quiet(&streams[i]);
	framework_unlock();
}

/* Under the lock. */
static void update_wanted(struct stream *stream)
{
	uint8_t any = 0;
	uint32_t i;

	for (i = 255; i; i--) {
		const struct type_callbacks *t = stream_types[stream - streams][i];
		uint8_t wanted = 0;

		for (; t; t = t->next)
			wanted |= any_on(t->callbacks);
		__atomic_store_n(&stream->wanted[i], wanted, __ATOMIC_RELAXED);
		any |= wanted;
	}
	for (const struct type_callbacks *t = stream_types[stream - streams][0]; t; t = t->next)
		any |= any_on(t->callbacks);
	__atomic_store_n(&stream->wanted[0], any, __ATOMIC_RELAXED);
	update_quiet(stream);
}

/* Under the lock. NULL: no memory. */
static struct type_callbacks *add_type(struct stream *stream, uint16_t type)
{
	struct type_callbacks **first = &stream_types[stream - streams][type & 0xff];
	struct type_callbacks *t = find_type(stream, type);

	if (t || !(t = calloc(1, sizeof *t)))
		return t;
	t->type = type;
	t->next = *first;
	/* release: with the acquire in find_type */
	__atomic_store_n(first, t, __ATOMIC_RELEASE);
	return t;
}

/* Room for one more; under the lock. NULL: no memory. */
static struct callbacks *make_room(struct type_callbacks *t)
{
	struct callbacks *now = t->callbacks, *larger;
	uint32_t room = now ? 2 * now->room : 4;

	if (now && now->count < now->room)
		return now;
	larger = calloc(1, sizeof *larger + room * sizeof larger->list[0]);
	if (!larger)
		return NULL;
	if (now)
		memcpy(larger, now, sizeof *now + now->count * sizeof now->list[0]);
	larger->room = room;
	larger->older = now;
	/* release: with the acquire in callbacks_of. The old one stays: see streams.h. */
	__atomic_store_n(&t->callbacks, larger, __ATOMIC_RELEASE);
	return larger;
}

static int32_t add_callback(struct stream *stream, uint16_t type, xpti_callback callback)
{
	struct type_callbacks *t = add_type(stream, type);
	struct callbacks *c = t ? t->callbacks : NULL;
	uint32_t i;

	for (i = 0; c && i < c->count; i++) {
		if (c->list[i].function != callback)
			continue;
		if (c->list[i].on)
			return XPTI_DUPLICATE;
		__atomic_store_n(&c->list[i].on, true, __ATOMIC_RELEASE);
		return XPTI_UNDELETE;
	}
	c = t ? make_room(t) : NULL;
	if (!c)
		return XPTI_FAIL;
	c->list[c->count].function = callback;
	c->list[c->count].on = true;
	/* release: with the acquire of who walks the list */
	__atomic_store_n(&c->count, c->count + 1, __ATOMIC_RELEASE);
	stream->had_callbacks = true;
	return XPTI_SUCCESS;
}

int32_t xptiRegisterCallback(uint8_t stream, uint16_t type, xpti_callback callback)
{
	int32_t result;

	if (!callback)
		return XPTI_INVALIDARG;
	framework_now();
	framework_lock();
	result = add_callback(&streams[stream], type, callback);
	update_wanted(&streams[stream]);
	framework_unlock();
	return result;
}

static void wait_for_callbacks(void)
{
	if (!threads_wait())
		rtl_log(RTL_LEVEL_WARNING, "xpti",
			"a callback has run for 2 s; it is not waited for any longer, though "
			"it was unregistered");
}

int32_t xptiUnregisterCallback(uint8_t stream, uint16_t type, xpti_callback callback)
{
	const struct type_callbacks *t;
	int32_t result = XPTI_NOTFOUND;
	struct callbacks *c;
	uint32_t i;

	if (!callback)
		return XPTI_INVALIDARG;
	framework_now();
	framework_lock();
	t = find_type(&streams[stream], type);
	c = t ? t->callbacks : NULL;
	for (i = 0; c && i < c->count; i++) {
		if (c->list[i].function != callback)
			continue;
		result = c->list[i].on ? XPTI_SUCCESS : XPTI_DUPLICATE;
		/* before the loads of threads_wait; with the load in call */
		__atomic_store_n(&c->list[i].on, false, __ATOMIC_SEQ_CST);
	}
	update_wanted(&streams[stream]);
	framework_unlock();
	if (result == XPTI_SUCCESS)
		wait_for_callbacks();
	return result;
}

bool callbacks_end(struct stream *stream)
{
	bool had;
	uint32_t i, k;

	framework_lock();
	had = stream->had_callbacks;
	for (i = 0; had && i < 256; i++)
		for (struct type_callbacks *t = stream_types[stream - streams][i]; t; t = t->next)
			for (k = 0; t->callbacks && k < t->callbacks->count; k++)
				__atomic_store_n(&t->callbacks->list[k].on, false,
						 __ATOMIC_SEQ_CST);
	update_wanted(stream);
	framework_unlock();
	if (had)
		wait_for_callbacks();
	return had;
}

void callbacks_reset(void)
{
	uint32_t i, k;

	for (i = 0; i < STREAMS; i++) {
		for (k = 0; k < 256; k++)
			for (struct type_callbacks *t = stream_types[i][k]; t; t = t->next)
				if (t->callbacks)
					__atomic_store_n(&t->callbacks->count, 0, __ATOMIC_RELEASE);
		streams[i].had_callbacks = false;
		memset(streams[i].wanted, 0, sizeof streams[i].wanted);
		update_quiet(&streams[i]);
	}
}

/* ---- notifies */

static __attribute__((noinline)) bool check_callbacks(const struct stream *stream, uint16_t type)
{
	uint8_t state = framework_now();

	if ((state & STATE_PLUGINS) &&
	    __atomic_load_n(&stream->wanted[type & 0xff], __ATOMIC_RELAXED) &&
	    (!type || any_on(callbacks_of(stream, type))))
		return true;
	return (state & STATE_RTL) && bridge_wants(stream, type);
}

/* No calls but at their end: they need no stack. */
static __attribute__((noinline)) bool check_slowly(uint16_t number, uint16_t type)
{
	const struct stream *stream = &streams[number & 0xff];
	uint8_t state = __atomic_load_n(&framework_state, __ATOMIC_RELAXED);

	if (UNLIKELY(state & STATE_NOT_YET) ||
	    ((state & STATE_PLUGINS) &&
	     __atomic_load_n(&stream->wanted[type & 0xff], __ATOMIC_RELAXED)))
		return check_callbacks(stream, type);
	return (state & STATE_RTL) && bridge_wants(stream, type);
}

bool xptiCheckTraceEnabled(uint16_t stream, uint16_t type)
{
	const uint16_t place = (uint16_t)(stream << 8 | (type & 0xff));

	return UNLIKELY(!__atomic_load_n(&quiet[place], __ATOMIC_RELAXED)) &&
	       check_slowly(stream, type);
}

/* Whether events of this type need no object. */
static inline bool may_lack_object(uint16_t type)
{
	switch (type) {
	case XPTI_FUNCTION_BEGIN:
	case XPTI_FUNCTION_END:
	case XPTI_FUNCTION_WITH_ARGS_BEGIN:
	case XPTI_FUNCTION_WITH_ARGS_END:
	case XPTI_DIAGNOSTICS:
		return true;
	default:
		return type >= XPTI_MEM_ALLOC_BEGIN && type <= XPTI_OFFLOAD_ACCESSOR;
	}
}

/* Also where a callback throws. */
static inline void leave(struct thread **thread)
{
	if (*thread)
		thread_leave(*thread);
}

static void call(const struct stream *stream, uint16_t type, struct xpti_event *parent,
		 struct xpti_event *object, uint64_t instance, const void *user)
{
	__attribute__((cleanup(leave))) struct thread *thread = thread_self();
	const struct callbacks *c;
	uint32_t i, n;

	if (thread)
		thread_enter(thread);
	c = callbacks_of(stream, type);
	n = c ? __atomic_load_n(&c->count, __ATOMIC_ACQUIRE) : 0;
	for (i = 0; i < n; i++)
		if (LIKELY(__atomic_load_n(&c->list[i].on, __ATOMIC_SEQ_CST)))
			c->list[i].function(type, parent, object, instance, user);
}

static inline void call_if_wanted(const struct stream *stream, uint16_t type,
				  struct xpti_event *parent, struct xpti_event *object,
				  uint64_t instance, const void *user)
{
	if (__atomic_load_n(&stream->wanted[type & 0xff], __ATOMIC_RELAXED))
		call(stream, type, parent, object, instance, user);
}

/* What the debug stream gets because rtl asked for it, the plain one does not get. */
static __attribute__((noinline)) void call_plain(const struct stream *debug, uint16_t type,
						 struct xpti_event *parent,
						 struct xpti_event *object, uint64_t instance,
						 const void *user)
{
	const struct stream *plain = __atomic_load_n(&debug->plain, __ATOMIC_RELAXED);

	if (plain && framework_wants_debug())
		call_if_wanted(plain, type, parent, object, instance, user);
}

int32_t xptiNotifySubscribers(uint8_t stream, uint16_t type, struct xpti_event *parent,
			      struct xpti_event *object, uint64_t instance, const void *user)
{
	struct stream *s = &streams[stream];
	uint8_t state = framework_now();

	if (!(state & (STATE_PLUGINS | STATE_RTL)))
		return XPTI_FALSE;
	if (UNLIKELY(!object) && (!user || !may_lack_object(type)))
		return XPTI_INVALIDARG;
	if (state == STATE_RTL)
		return bridge_notify(s, type, parent, object, instance, user);
	if (state & STATE_RTL)
		bridge_notify(s, type, parent, object, instance, user);
	call_if_wanted(s, type, parent, object, instance, user);
	if (UNLIKELY(s->debug))
		call_plain(s, type, parent, object, instance, user);
	return XPTI_SUCCESS;
}
