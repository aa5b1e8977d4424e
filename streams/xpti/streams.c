/* SPDX-License-Identifier: MIT */
#include "streams.h"

#include <stdlib.h>
#include <string.h>

#include <rtl/publish.h>

#include "bridge.h"
#include "thread.h"

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

struct stream streams[STREAMS];
struct callback *stream_callbacks[STREAMS][256];
static uint32_t stream_count; /* under the lock */

/* ---- registration */

uint8_t stream_find(const char *name)
{
	const char *there;
	uint8_t i;

	for (i = 1; (there = __atomic_load_n(&streams[i].name, __ATOMIC_ACQUIRE)); i++)
		if (!strcmp(there, name))
			return i;
	return 0;
}

/* The number of the stream, added if it is new; 0: there is no room. */
static uint8_t add(const char *name)
{
	HOLD_LOCK(&framework_lock);
	const uint8_t there = stream_find(name);
	char *copy = !there && stream_count + 1 < XPTI_INVALID_STREAM ? strdup(name) : NULL;
	struct stream *stream;

	if (!copy)
		return there;
	stream = &streams[++stream_count];
	stream->number = (uint8_t)stream_count;
	stream->rtl = &rtl_stream_none;
	bridge_name(stream, copy);
	/* release: with the acquire of who looks at streams by number */
	__atomic_store_n(&stream->name, copy, __ATOMIC_RELEASE);
	return stream->number;
}

uint8_t xptiRegisterStream(const char *name)
{
	uint8_t number;

	if (!name || !*name)
		return XPTI_INVALID_STREAM;
	framework_now();
	number = stream_find(name);
	if (!number)
		number = add(name);
	if (!number)
		return XPTI_INVALID_STREAM;
	/* also where another thread is at it: this one's events are recorded from here on */
	if (__atomic_load_n(&streams[number].rtl, __ATOMIC_ACQUIRE) == &rtl_stream_none)
		bridge_stream(&streams[number]);
	return number;
}

/* ---- callbacks */

static struct callback *first_of(const struct stream *stream, uint32_t type)
{
	return __atomic_load_n(&stream_callbacks[stream - streams][type & 0xff], __ATOMIC_ACQUIRE);
}

static struct callback *next_of(const struct callback *c)
{
	return __atomic_load_n(&c->next, __ATOMIC_ACQUIRE);
}

/* Whether a callback is on, for a type (mask 0xffff), or for all with its low byte (0xff). */
static bool any_on(const struct stream *stream, uint32_t type, uint32_t mask)
{
	const struct callback *c = first_of(stream, type);

	while (c && ((c->type & mask) != type || !__atomic_load_n(&c->on, __ATOMIC_RELAXED)))
		c = next_of(c);
	return c != NULL;
}

/* Under the lock. */
static void update_wanted(struct stream *stream)
{
	bool on, any = false;
	uint32_t i;

	for (i = 256; i--;) {
		on = any_on(stream, i, 0xff);
		any |= on;
		__atomic_store_n(&stream->wanted[i], i ? on : any, __ATOMIC_RELAXED);
	}
}

/* Under the lock: where it is, or would be. */
static struct callback **place_of(const struct stream *stream, uint16_t type,
				  xpti_callback function)
{
	struct callback **at = &stream_callbacks[stream - streams][type & 0xff];

	while (*at && ((*at)->type != type || (*at)->function != function))
		at = &(*at)->next;
	return at;
}

int32_t xptiRegisterCallback(uint8_t stream, uint16_t type, xpti_callback callback)
{
	int32_t result = XPTI_SUCCESS;
	struct callback **at, *c;

	if (!callback)
		return XPTI_INVALIDARG;
	framework_now();
	HOLD_LOCK(&framework_lock);
	at = place_of(&streams[stream], type, callback);
	c = *at;
	if (c) {
		result = c->on ? XPTI_DUPLICATE : XPTI_UNDELETE;
		__atomic_store_n(&c->on, true, __ATOMIC_RELEASE);
	} else {
		c = malloc(sizeof *c);
		if (!c)
			return XPTI_FAIL;
		*c = (struct callback){.function = callback, .type = type, .on = true};
		/* release: with the acquire of who walks the list */
		__atomic_store_n(at, c, __ATOMIC_RELEASE);
	}
	update_wanted(&streams[stream]);
	return result;
}

int32_t xptiUnregisterCallback(uint8_t stream, uint16_t type, xpti_callback callback)
{
	int32_t result;
	struct callback *c;

	if (!callback)
		return XPTI_INVALIDARG;
	framework_now();
	HOLD_LOCK(&framework_lock);
	c = *place_of(&streams[stream], type, callback);
	if (!c)
		return XPTI_NOTFOUND;
	result = c->on ? XPTI_SUCCESS : XPTI_DUPLICATE;
	__atomic_store_n(&c->on, false, __ATOMIC_RELAXED);
	update_wanted(&streams[stream]);
	return result;
}

bool callbacks_end(struct stream *stream, bool forget)
{
	bool had = false;

	for (uint32_t i = 0; i < 256; i++)
		for (struct callback *c = first_of(stream, i); c; c = c->next) {
			had |= c->function != NULL;
			c->function = forget ? NULL : c->function;
			__atomic_store_n(&c->on, false, __ATOMIC_RELAXED);
		}
	update_wanted(stream);
	return had;
}

/* ---- notifies */

bool xptiCheckTraceEnabled(uint16_t number, uint16_t type)
{
	const struct stream *stream = &streams[number & 0xff];
	uint8_t state = framework_now();

	if ((state & STATE_PLUGINS) &&
	    __atomic_load_n(&stream->wanted[type & 0xff], __ATOMIC_RELAXED) &&
	    (!type || any_on(stream, type, 0xffff)))
		return true;
	return (state & STATE_RTL) && bridge_wants(stream, type);
}

/* Whether events of this type need no object. */
static inline bool may_lack_object(uint16_t type)
{
	return type == RTL_FUNCTION_BEGIN || type == RTL_FUNCTION_END ||
	       type == RTL_FUNCTION_WITH_ARGS_BEGIN || type == RTL_FUNCTION_WITH_ARGS_END ||
	       type == RTL_DIAGNOSTICS ||
	       (type >= RTL_MEM_ALLOC_BEGIN && type <= RTL_OFFLOAD_ALLOC_ACCESSOR);
}

/* A callback may throw. */
static void call(const struct stream *stream, uint16_t type, struct xpti_event *parent,
		 struct xpti_event *object, uint64_t instance, const void *user)
{
	const struct callback *c;

	if (!__atomic_load_n(&stream->wanted[type & 0xff], __ATOMIC_RELAXED))
		return;
	for (c = first_of(stream, type); c; c = next_of(c))
		if (LIKELY(c->type == type && __atomic_load_n(&c->on, __ATOMIC_RELAXED)))
			c->function(type, parent, object, instance, user);
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
	call(s, type, parent, object, instance, user);
	/* What the debug stream gets because rtl asked for it, the plain one does not get. */
	s = UNLIKELY(s->debug) && framework_wants_debug()
		    ? __atomic_load_n(&s->plain, __ATOMIC_RELAXED)
		    : NULL;
	if (s)
		call(s, type, parent, object, instance, user);
	return XPTI_SUCCESS;
}
