/* SPDX-License-Identifier: MIT */
/*
 * xpti_open.c: what has begun in streams of XPTI and not ended. A begin and its end agree in stream,
 * type, object and instance; they may be of two threads, so that the end is here first. The first
 * OPEN_MAX are kept.
 */
#include "hash.h"
#include "sub.h"

#include <stdlib.h>
#include <string.h>

#define OPEN_MAX 16384u

struct begin {
	struct begin *below; /* of the same, begun before */
	struct rtl_event event;
	uint64_t payload[];
};

struct open {
	struct stream *stream;
	uint64_t object, instance;
	uint32_t process;
	uint16_t end;   /* type */
	uint32_t ended; /* ends whose begins are yet to come */
	struct begin *begins;
};

static bool is_used(const void *entry)
{
	return ((const struct open *)entry)->stream != NULL;
}

static uint64_t hash_of(const void *entry)
{
	const struct open *o = entry;

	return hash_number(o->object ^ o->instance << 20 ^ (uint64_t)o->end << 56 ^
			   (uint64_t)o->process << 40 ^ (uintptr_t)o->stream);
}

static bool is_same(const void *entry, const void *key)
{
	const struct open *a = entry, *b = key;

	return a->instance == b->instance && a->object == b->object && a->end == b->end &&
	       a->stream == b->stream && a->process == b->process;
}

static const struct hash_kind kind = {
	.bytes = sizeof(struct open),
	.initial = 64,
	.is_used = is_used,
	.hash = hash_of,
	.is_same = is_same,
};

static struct open make_key(struct stream *stream, const struct process *process,
			    const struct rtl_event *event, uint16_t end)
{
	const struct rtl_xpti *p = event->payload;

	return (struct open){.stream = stream,
			     .object = p->object,
			     .instance = event->instance,
			     .process = process->number,
			     .end = end};
}

/* Its entry, or a new one; NULL: it cannot be kept. */
static struct open *add(struct sub *sub, const struct open *key)
{
	struct hash *open = &sub->xpti_open;
	struct open *entry = hash_find(open, &kind, hash_of(key), key);

	if (entry || open->count >= OPEN_MAX)
		return entry;
	entry = hash_add(open, &kind, hash_of(key), key);
	if (!entry)
		writer_error(&sub->writer, SQLITE_NOMEM, "what has begun");
	else
		*entry = *key;
	return entry;
}

static void take_out_if_empty(struct sub *sub, struct open *entry)
{
	if (!entry->begins && !entry->ended)
		hash_take_out(&sub->xpti_open, &kind, entry);
}

void xpti_open_begin(struct stream *stream, const struct process *process,
		     const struct rtl_event *event, uint16_t end)
{
	const struct open key = make_key(stream, process, event, end);
	struct open *entry = add(stream->sub, &key);
	struct begin *begin;

	if (!entry)
		return;
	if (entry->ended) {
		entry->ended--;
	} else if ((begin = malloc(sizeof(*begin) + event->payload_size))) {
		*begin = (struct begin){.below = entry->begins};
		memcpy(&begin->event, event,
		       event->struct_size < sizeof(*event) ? event->struct_size : sizeof(*event));
		memcpy(begin->payload, event->payload, event->payload_size);
		begin->event.payload = begin->payload;
		entry->begins = begin;
	} else {
		writer_error(&stream->sub->writer, SQLITE_NOMEM, "what has begun");
	}
	take_out_if_empty(stream->sub, entry);
}

void xpti_open_end(struct stream *stream, const struct process *process,
		   const struct rtl_event *event)
{
	const struct open key = make_key(stream, process, event, event->type);
	struct hash *open = &stream->sub->xpti_open;
	struct open *entry = hash_find(open, &kind, hash_of(&key), &key);
	struct begin *begin = entry ? entry->begins : NULL;

	if (begin) {
		entry->begins = begin->below;
		free(begin);
	} else if (!((const struct rtl_xpti *)event->payload)->begin_ns) {
		/* another thread's, or none that is told of */
		entry = add(stream->sub, &key);
		if (entry)
			entry->ended++;
	}
	if (entry)
		take_out_if_empty(stream->sub, entry);
}

void xpti_open_take(struct sub *sub, struct process *process, uint64_t end_ns)
{
	struct hash *open = &sub->xpti_open;
	struct open *entry;
	struct begin *begin;

	for (size_t i = 0; i < open->capacity; i++)
		while ((entry = hash_at(open, &kind, i)) && is_used(entry) &&
		       entry->process == process->number) {
			while ((begin = entry->begins)) {
				entry->begins = begin->below;
				if (!sub->writer.failed)
					xpti_take_open(entry->stream, process, &begin->event,
						       end_ns);
				free(begin);
			}
			hash_take_out(open, &kind, entry);
		}
}

void xpti_open_fini(struct sub *sub)
{
	struct hash *open = &sub->xpti_open;
	struct open *entry;
	struct begin *begin;

	for (size_t i = 0; i < open->capacity; i++)
		for (entry = hash_at(open, &kind, i); (begin = entry->begins);) {
			entry->begins = begin->below;
			free(begin);
		}
	hash_fini(open);
}
