/* SPDX-License-Identifier: MIT */
/* See bridge.h: notifies as events. */
#include "bridge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rtl/events/xpti.h>
#include <rtl/publish.h>
#include <rtl/scope.h>
#include <rtl/stash.h>
#include <rtl/tracepoint.h>

#include "events.h"
#include "thread.h"

#define TEXT_MAX  1024u
#define ITEMS_MAX 64u
#define BYTES_MAX 4096u /* of metadata in an event, and of a call's arguments */

#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* ---- tracepoints */

/* An address in brackets at the end tells objects apart, not places: "queue.wait[0x5581...]". */
static size_t name_length(const char *name)
{
	size_t length = strlen(name);
	const char *bracket = length && name[length - 1] == ']' ? strrchr(name, '[') : NULL;

	return bracket && bracket > name ? (size_t)(bracket - name) : length;
}

static __attribute__((noinline)) uint64_t make_uid(struct key *key)
{
	const char *name = key->name ? key->name->data : key->file->data;
	size_t length = name_length(name);
	char text[TEXT_MAX];
	struct rtl_tracepoint_desc desc = {
		.struct_size = sizeof desc,
		.line = key->payload.line,
		.column = key->payload.column == XPTI_NO_COLUMN ? 0 : key->payload.column,
		.kind = RTL_XPTI_KIND,
		.name = text,
		.source = key->file ? key->file->data : NULL,
	};
	uint64_t uid;

	if (name[length])
		snprintf(text, sizeof text, "%.*s", (int)(length < TEXT_MAX ? length : TEXT_MAX),
			 name);
	else
		desc.name = name;
	if (rtl_tracepoint_register(&desc, &uid))
		return 0;
	__atomic_store_n(&key->uid, uid, __ATOMIC_RELAXED);
	return uid;
}

static inline uint64_t uid_of(const struct slot *slot)
{
	uint64_t uid = slot ? __atomic_load_n(&slot->key->uid, __ATOMIC_RELAXED) : 0;

	return uid || !slot ? uid : make_uid(slot->key);
}

/* ---- what has begun on this thread */

/* Takes out what an end ends. Its scope goes; the result is when it began, 0: not known. */
static uint64_t open_take(struct thread *thread, uint8_t stream, uint16_t type, uint64_t object,
			  uint64_t instance)
{
	uint32_t i = thread->open_count;
	struct thread_open open;

	while (i--) {
		open = thread->open[i];
		if (open.type != type || open.instance != instance || open.object != object ||
		    open.stream != stream)
			continue;
		thread->open_count--;
		memmove(&thread->open[i], &thread->open[i + 1],
			(thread->open_count - i) * sizeof open);
		if (open.scope)
			rtl_scope_pop(open.scope);
		return open.ticks;
	}
	return 0;
}

/* ---- metadata */

/* Named values on their way into an event. */
struct items {
	uint32_t count;
	uint32_t length;                /* of the texts */
	uint32_t flags;                 /* enum rtl_xpti_flags */
	struct rtl_arg list[ITEMS_MAX]; /* places of texts: below */
	char texts[BYTES_MAX + TEXT_MAX];
};

static uint32_t items_bytes(const struct items *items)
{
	return items->count * (uint32_t)sizeof items->list[0] + items->length;
}

static void set_text(struct items *items, struct rtl_arg *arg, const char *text, size_t length)
{
	const uint32_t kept = (uint32_t)(length < TEXT_MAX ? length : TEXT_MAX);

	arg->kind = RTL_KIND_TEXT;
	arg->flags = length > TEXT_MAX ? RTL_ARG_CUT : 0;
	arg->value.text = (struct rtl_text){items->length, kept};
	memcpy(items->texts + items->length, text, kept);
	items->length += kept;
}

/* What bytes of libsycl's mean, as a text. Its length; 0: they are of another kind. */
static size_t show_known(char *text, size_t room, const char *key, const char *data, size_t size)
{
	struct xpti_enqueue e;
	struct xpti_kernel_arg arg;

	if (size == sizeof arg && !strncmp(key, "arg", 3)) {
		memcpy(&arg, data, sizeof arg);
		return (size_t)snprintf(text, room, "kind %d, size %d, index %d, at %p", arg.kind,
					arg.size, arg.index, arg.pointer);
	}
	if (size != sizeof e || strcmp(key, "enqueue_kernel_data") != 0)
		return 0;
	memcpy(&e, data, sizeof e);
	return (size_t)snprintf(text, room,
				"global %" PRIu64 "x%" PRIu64 "x%" PRIu64 ", local %" PRIu64
				"x%" PRIu64 "x%" PRIu64 ", offset %" PRIu64 ",%" PRIu64 ",%" PRIu64
				", arguments %" PRIu64,
				e.global[0], e.global[1], e.global[2], e.local[0], e.local[1],
				e.local[2], e.offset[0], e.offset[1], e.offset[2], e.args);
}

static void set_bytes(struct items *items, struct rtl_arg *arg, const char *key,
		      const struct entry *object)
{
	char made[280]; /* the longest: ten numbers of 20 digits */
	size_t length = show_known(made, sizeof made, key, object->data, object->size), i;
	const bool known = length > 0;

	for (i = 0; !known && i < object->size && i < 32; i++, length += 2)
		snprintf(made + length, 3, "%02x", (unsigned char)object->data[i]);
	set_text(items, arg, made, length);
	if (!known && i < object->size)
		arg->flags = RTL_ARG_CUT;
}

/* False: it is none. */
static bool set_number(struct rtl_arg *arg, const struct entry *object)
{
	static const uint16_t kinds[] = {
		[XPTI_OBJECT_SIGNED] = RTL_KIND_INT,
		[XPTI_OBJECT_UNSIGNED] = RTL_KIND_UINT,
		[XPTI_OBJECT_FLOAT] = RTL_KIND_FLOAT,
		[XPTI_OBJECT_BOOL] = RTL_KIND_BOOL,
	};
	const uint32_t size = object->size, unused = 64 - 8 * (size & 15);
	uint64_t number = 0;
	float narrow;

	if (object->type == XPTI_OBJECT_BINARY || object->type > XPTI_OBJECT_BOOL ||
	    (size != 1 && size != 2 && size != 4 && size != 8) ||
	    (object->type == XPTI_OBJECT_FLOAT && size < 4))
		return false;
	memcpy(&number, object->data, size);
	arg->kind = kinds[object->type];
	arg->value.number = object->type == XPTI_OBJECT_BOOL ? number != 0 : number;
	if (object->type == XPTI_OBJECT_SIGNED)
		arg->value.integer = (int64_t)(number << unused) >> unused;
	if (object->type == XPTI_OBJECT_FLOAT && size == sizeof narrow) {
		memcpy(&narrow, object->data, sizeof narrow);
		arg->value.real = (double)narrow;
	}
	return true;
}

static void add_item(struct items *items, struct entry *key, const struct entry *object)
{
	const uint32_t length = items->length;
	struct rtl_arg *arg = &items->list[items->count];

	if (!key || !object)
		return;
	if (items->count == ITEMS_MAX) {
		items->flags |= RTL_XPTI_CUT;
		return;
	}
	*arg = (struct rtl_arg){.name = entry_rtl(key)};
	if (object->type == XPTI_OBJECT_STRING)
		set_text(items, arg, object->data, strnlen(object->data, object->size));
	else if (!set_number(arg, object))
		set_bytes(items, arg, key->data, object);
	items->count++;
	if (items_bytes(items) > BYTES_MAX) {
		items->flags |= RTL_XPTI_CUT;
		items->length = length;
		items->count--;
	}
}

static void collect(struct items *items, const struct slot *slot)
{
	const struct xpti_map *map = &slot->event.metadata;
	const struct xpti_map_node *node;
	struct {
		uint32_t key;
		int32_t value;
	} pairs[ITEMS_MAX + 1];
	uint32_t count = 0;

	/* librtl, which has locks of its own, is asked for names behind this one */
	pthread_mutex_lock(&framework_lock);
	for (node = map->first; node && count <= ITEMS_MAX; node = node->next, count++) {
		pairs[count].key = node->key;
		pairs[count].value = node->value;
	}
	pthread_mutex_unlock(&framework_lock);
	for (uint32_t i = 0; i < count; i++)
		add_item(items, (struct entry *)(uintptr_t)strings_get(pairs[i].key),
			 objects_get((uint32_t)pairs[i].value));
}

/* Writes them at an offset of the payload; texts come behind all. */
static struct rtl_text write_items(const struct items *items, void *payload, uint32_t offset)
{
	struct rtl_arg *arg = (struct rtl_arg *)(void *)((char *)payload + offset);
	const uint32_t bytes = items->count * (uint32_t)sizeof *arg;

	for (uint32_t i = 0; i < items->count; i++) {
		arg[i] = items->list[i];
		if (arg[i].kind == RTL_KIND_TEXT)
			arg[i].value.text.offset += offset + bytes;
	}
	memcpy((char *)payload + offset + bytes, items->texts, items->length);
	return (struct rtl_text){offset, bytes};
}

/* ---- payloads */

/* A notify on its way into an event. */
struct notify {
	struct stream *stream;
	struct rtl_stream *rtl;
	uint16_t number; /* of its type, as described */
	uint16_t type;   /* XPTI's */
	struct known_type known;
	const struct slot *object, *parent;
	uint64_t uid, parent_uid; /* theirs: nothing may be registered within a record */
	uint64_t instance;
	const void *user;
	const char *text;
	uint32_t length;
	uint32_t flags; /* enum rtl_xpti_flags */
	uint64_t begin_ticks;
};

static inline void take_text(struct notify *n, const char *text)
{
	size_t length = text ? strnlen(text, TEXT_MAX + 1) : 0;

	if (length > TEXT_MAX) {
		n->flags |= RTL_XPTI_CUT;
		length = TEXT_MAX;
	}
	n->text = text;
	n->length = (uint32_t)length;
}

/* Begins an event with a payload of that size, text and rest behind it; fills what all have. */
static inline struct rtl_record *begin(const struct notify *n, uint32_t size, uint32_t rest)
{
	uint32_t text_at = size + rest;
	struct rtl_record *r = rtl_reserve_in_scope(n->rtl, n->number, text_at + n->length);
	struct rtl_xpti *p;

	if (UNLIKELY(!r))
		return NULL;
	p = rtl_record_payload(r);
	r->uid = n->uid;
	if (n->parent_uid)
		r->parent_uid = n->parent_uid;
	r->instance = n->instance;
	*p = (struct rtl_xpti){
		.begin_ns = n->begin_ticks ? rtl_ticks_to_ns(n->begin_ticks) : 0,
		.object = n->object ? n->object->event.unique_id : 0,
		.parent = n->parent ? n->parent->event.unique_id : 0,
		.user = (uintptr_t)n->user,
		.type = n->type,
		.flags = n->flags,
		.text = {text_at, n->length},
	};
	if (n->length)
		memcpy((char *)p + text_at, n->text, n->length);
	return r;
}

static uint64_t end(struct rtl_record *r)
{
	uint64_t ticks = r->ticks;

	rtl_commit(r);
	return ticks;
}

static void record_object(struct notify *n, struct items *items)
{
	bool edge = n->number == RTL_EDGE_CREATE;
	uint32_t size = edge ? sizeof(struct rtl_xpti_edge) : sizeof(struct rtl_xpti_object);
	struct rtl_xpti_object *p;
	struct rtl_xpti_edge *e;
	struct rtl_record *r;

	n->flags |= items->flags;
	r = begin(n, size, items_bytes(items));
	if (!r)
		return;
	if (edge) {
		e = rtl_record_payload(r);
		e->source = n->object ? n->object->event.source_id : 0;
		e->target = n->object ? n->object->event.target_id : 0;
		e->metadata = write_items(items, e, size);
	} else {
		p = rtl_record_payload(r);
		p->event_type = n->object ? n->object->event.event_type : 0;
		p->activity = n->object ? n->object->event.activity_type : 0;
		p->metadata = write_items(items, p, size);
	}
	end(r);
}

/* A node's queue: libsycl has just stashed it, as it would be one value for all visits of a place. */
static void add_queue(struct items *items, const struct thread *thread)
{
	static const char name[] = "queue_id";
	struct entry *key = strings_add(name);
	uint64_t id = key ? entry_rtl(key) : 0;
	uint32_t i;

	for (i = 0; i < items->count && items->list[i].name != id; i++)
		;
	if (!id || i < items->count || i == ITEMS_MAX || strcmp(thread->stash_key, name) != 0)
		return;
	items->list[items->count++] = (struct rtl_arg){
		.name = id, .kind = RTL_KIND_UINT, .value = {.number = thread->stash_value}};
}

static void record_created(struct notify *n)
{
	struct thread *thread = thread_self();
	struct items items;

	if (n->known.flags & KNOWN_TEXT)
		take_text(n, n->user);
	items.count = items.length = items.flags = 0;
	if (n->object) {
		/* relaxed: it is this thread, or one that was told of the object, that looks */
		__atomic_store_n(&((struct slot *)(uintptr_t)n->object)->stream, n->stream->number,
				 __ATOMIC_RELAXED);
		collect(&items, n->object);
	}
	if (thread && thread->stash_is_new && n->number == RTL_NODE_CREATE)
		add_queue(&items, thread);
	if (thread)
		thread->stash_is_new = false;
	record_object(n, &items);
}

static void record_call(struct notify *n)
{
	const struct xpti_call *call = n->user;
	const bool has_ended = call && n->type == RTL_FUNCTION_WITH_ARGS_END;
	/* acquire: with the release in find_printer */
	ur_print_fn *print =
		has_ended ? __atomic_load_n(&n->stream->print, __ATOMIC_ACQUIRE) : NULL;
	char text[BYTES_MAX];
	size_t length = 0;
	struct rtl_xpti_call *p;
	struct rtl_record *r;

	if (call)
		take_text(n, call->name);
	/* of an end, as what the call has written is there only then */
	if (print && call->args && print(call->function, call->args, text, sizeof text, &length)) {
		n->flags |= length > sizeof text ? RTL_XPTI_CUT : 0;
		length = 0;
	}
	length = length ? strnlen(text, sizeof text) : 0;
	r = begin(n, sizeof *p, (uint32_t)length);
	if (!r)
		return;
	p = rtl_record_payload(r);
	p->args = call ? (uintptr_t)call->args : 0;
	p->function = call ? call->function : 0;
	p->result = 0;
	if (has_ended && call->result)
		memcpy(&p->result, call->result, sizeof p->result);
	p->arguments = (struct rtl_text){sizeof *p, (uint32_t)length};
	memcpy(p + 1, text, length);
	end(r);
}

/* `rest`: what an event of that size has behind what all have. Where `element` is a place of it, the text is that, and
 * not the event's own. */
static void record_rest(const struct notify *n, const void *rest, uint32_t size, uint32_t element)
{
	const uint32_t all = (uint32_t)sizeof(struct rtl_xpti);
	struct rtl_record *r = begin(n, size, 0);
	struct rtl_xpti *p;

	if (!r)
		return;
	p = rtl_record_payload(r);
	memcpy(p + 1, rest, size - all);
	if (element) {
		memcpy((char *)p + element, &p->text, sizeof p->text);
		p->text.length = 0;
	}
	end(r);
}

static void record_memory(struct notify *n)
{
	static const struct xpti_memory none;

	/* The same numbers in the same order. */
	record_rest(n, n->user ? n->user : &none, sizeof(struct rtl_xpti_memory), 0);
}

static int32_t optional(const struct xpti_optional *o)
{
	return o->engaged ? (int32_t)o->value : -1;
}

static void record_buffer(struct notify *n)
{
	const struct xpti_buffer *buffer = n->stream->kind == KIND_BUFFER ? n->user : NULL;
	const struct xpti_image *image = n->stream->kind == KIND_IMAGE ? n->user : NULL;
	struct rtl_xpti_buffer p = {
		.format = -1, .addressing = -1, .coordinates = -1, .filtering = -1};

	if (buffer) {
		take_text(n, buffer->element);
		p.handle = buffer->user;
		p.host = buffer->host;
		p.element_size = buffer->element_size;
		p.dimensions = buffer->dimensions;
		memcpy(&p.range_x, buffer->range, sizeof buffer->range);
	} else if (image) {
		p.handle = image->user;
		p.host = image->host;
		p.dimensions = image->dimensions;
		memcpy(&p.range_x, image->range, sizeof image->range);
		p.format = (int32_t)image->format;
		p.addressing = optional(&image->addressing);
		p.coordinates = optional(&image->coordinates);
		p.filtering = optional(&image->filtering);
	}
	record_rest(n, &p.event + 1, sizeof p, offsetof(struct rtl_xpti_buffer, element));
}

static void record_association(struct notify *n)
{
	const struct xpti_association *association = n->user;
	struct rtl_xpti_association p = {0};

	if (association)
		p.handle = association->user;
	/* of what is destroyed nothing but its handle is there */
	if (association && n->type != RTL_OFFLOAD_ALLOC_DESTRUCT)
		p.memory = association->memory;
	record_rest(n, &p.event + 1, sizeof p, 0);
}

static void record_accessor(struct notify *n)
{
	const struct xpti_accessor *accessor = n->stream->kind == KIND_BUFFER ? n->user : NULL;
	const struct xpti_image_accessor *image = n->stream->kind == KIND_IMAGE ? n->user : NULL;
	struct rtl_xpti_accessor p = {.target = -1, .mode = -1};

	if (accessor) {
		p.handle = accessor->object;
		p.accessor = accessor->accessor;
		p.target = (int32_t)accessor->target;
		p.mode = (int32_t)accessor->mode;
	} else if (image) {
		take_text(n, image->element);
		p.handle = image->object;
		p.accessor = image->accessor;
		p.target = optional(&image->target);
		p.mode = optional(&image->mode);
		p.element_size = (uint32_t)image->element_size;
	}
	record_rest(n, &p.event + 1, sizeof p, offsetof(struct rtl_xpti_accessor, element));
}

/* An event without more than all have. Its ticks; 0: it was not recorded. */
static inline uint64_t record_plain(struct notify *n)
{
	struct rtl_record *r;

	if (n->known.flags & KNOWN_TEXT)
		take_text(n, n->user);
	r = begin(n, sizeof(struct rtl_xpti), 0);
	return r ? end(r) : 0;
}

/* Of types with payloads of their own. */
static void (*const recorders[RTL_QUEUE_DESTROY + 1])(struct notify *n) = {
	[RTL_GRAPH_CREATE] = record_created,
	[RTL_NODE_CREATE] = record_created,
	[RTL_EDGE_CREATE] = record_created,
	[RTL_QUEUE_CREATE] = record_created,
	[RTL_QUEUE_DESTROY] = record_created,
	[RTL_METADATA] = record_created,
	[RTL_FUNCTION_WITH_ARGS_BEGIN] = record_call,
	[RTL_FUNCTION_WITH_ARGS_END] = record_call,
	[RTL_MEM_ALLOC_BEGIN] = record_memory,
	[RTL_MEM_ALLOC_END] = record_memory,
	[RTL_MEM_RELEASE_BEGIN] = record_memory,
	[RTL_MEM_RELEASE_END] = record_memory,
	[RTL_OFFLOAD_ALLOC_CONSTRUCT] = record_buffer,
	[RTL_OFFLOAD_ALLOC_DESTRUCT] = record_association,
	[RTL_OFFLOAD_ALLOC_ASSOCIATE] = record_association,
	[RTL_OFFLOAD_ALLOC_RELEASE] = record_association,
	[RTL_OFFLOAD_ALLOC_ACCESSOR] = record_accessor,
};

/* What has begun is kept for its end. */
static __attribute__((noinline)) void note_begin(struct thread *thread, struct thread_open open,
						 const struct slot *object, uint64_t uid)
{
	open.object = object ? object->event.unique_id : 0;
	if (open.type == RTL_TASK_BEGIN && object)
		open.scope = rtl_scope_push(uid, open.object, 0);
	if (UNLIKELY(thread->open_count == THREAD_OPEN_MAX)) {
		memmove(thread->open, thread->open + 1, (THREAD_OPEN_MAX - 1) * sizeof open);
		thread->open_count--;
	}
	thread->open[thread->open_count++] = open;
}

/* An event of a stream that is recorded. Inlined twice, so that what has no payload of its own needs
 * nothing in memory but its record. */
static inline __attribute__((always_inline)) void
record(struct stream *stream, struct rtl_stream *rtl, struct known_type known, uint16_t type,
       const void *parent, const void *object, uint64_t instance, const void *user, bool special)
{
	struct thread *thread;
	struct notify n = {
		.stream = stream,
		.rtl = rtl,
		.number = known.number,
		.type = type,
		.known = known,
		.object = slot_of(object),
		.parent = slot_of(parent),
		.instance = instance,
		.user = user,
	};
	uint64_t ticks = 0;

	n.uid = uid_of(n.object);
	n.parent_uid = uid_of(n.parent);
	if (UNLIKELY((object && !n.object) || (parent && !n.parent)))
		n.flags = RTL_XPTI_NO_OBJECT;
	thread = known.flags & (KNOWN_BEGIN | KNOWN_END) ? thread_self() : NULL;
	if (thread && (known.flags & KNOWN_END))
		n.begin_ticks = open_take(thread, stream->number, type - 1,
					  n.object ? n.object->event.unique_id : 0, instance);
	if (rtl_enabled(rtl, n.number)) {
		if (special)
			recorders[n.number](&n);
		else
			ticks = record_plain(&n);
	}
	if (thread && (known.flags & KNOWN_BEGIN))
		note_begin(thread,
			   (struct thread_open){.instance = instance,
						.ticks = ticks ? ticks : rtl_ticks(),
						.type = type,
						.stream = stream->number},
			   n.object, n.uid);
}

static __attribute__((noinline)) void record_specially(struct stream *stream,
						       struct rtl_stream *rtl,
						       struct known_type known, uint16_t type,
						       const void *parent, const void *object,
						       uint64_t instance, const void *user)
{
	record(stream, rtl, known, type, parent, object, instance, user, true);
}

/* Of a stream, or of that which it stands for: NULL: neither is recorded. */
static inline struct rtl_stream *rtl_of(const struct stream *stream)
{
	struct rtl_stream *rtl = __atomic_load_n(&stream->rtl, __ATOMIC_ACQUIRE);

	if (UNLIKELY(rtl == &rtl_stream_none)) {
		stream = __atomic_load_n(&stream->plain, __ATOMIC_ACQUIRE);
		rtl = stream ? __atomic_load_n(&stream->rtl, __ATOMIC_ACQUIRE) : NULL;
	}
	return rtl;
}

int32_t bridge_notify(struct stream *stream, uint16_t type, const void *parent, const void *object,
		      uint64_t instance, const void *user)
{
	struct rtl_stream *rtl = rtl_of(stream);
	struct known_type known;

	if (UNLIKELY(!rtl))
		return XPTI_SUCCESS;
	known = bridge_type(stream, type);
	/* of a begin, the end needs to know: their numbers follow each other */
	if (!((int)rtl_enabled(rtl, known.number) | (int)rtl_enabled(rtl, known.number | 1)))
		return XPTI_SUCCESS;
	if (known.number <= RTL_QUEUE_DESTROY && recorders[known.number])
		record_specially(stream, rtl, known, type, parent, object, instance, user);
	else
		record(stream, rtl, known, type, parent, object, instance, user, false);
	return XPTI_SUCCESS;
}

/* ---- beside notifies */

void bridge_metadata(struct slot *slot, struct entry *key, int32_t object)
{
	uint8_t number = __atomic_load_n(&slot->stream, __ATOMIC_RELAXED);
	struct rtl_stream *rtl = rtl_of(&streams[number]);
	struct items items;
	struct notify n;

	if (!number || !rtl || !rtl_enabled(rtl, RTL_METADATA))
		return;
	items.count = items.length = items.flags = 0;
	n = (struct notify){.rtl = rtl,
			    .number = RTL_METADATA,
			    .type = RTL_METADATA,
			    .object = slot,
			    .uid = uid_of(slot),
			    .instance = slot->event.instance_id};
	add_item(&items, key, objects_get((uint32_t)object));
	record_object(&n, &items);
}

void bridge_scope(struct thread *thread, struct slot *slot)
{
	if (thread->scope_depth)
		rtl_scope_pop(thread->scope_depth);
	thread->scope_depth = 0;
	if (slot && (framework_now() & STATE_RTL))
		thread->scope_depth = rtl_scope_push(uid_of(slot), slot->event.unique_id, 0);
}

void bridge_stash(const char *key, uint64_t value)
{
	char text[64];

	if (!(framework_now() & STATE_RTL))
		return;
	snprintf(text, sizeof text, "xpti.%.58s", key);
	rtl_stash_set(rtl_stash_key(text), value);
}
