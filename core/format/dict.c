/* SPDX-License-Identifier: MIT */
#include "dict.h"

#include "log.h"

/* An entry under construction. Its parts are put twice: a first walk, without a place, adds up the size. */
struct entry {
	uint8_t *place;
	size_t size;
};

static void put(struct entry *e, const void *data, size_t size)
{
	if (e->place)
		memcpy(e->place + e->size, data, size);
	e->size += size;
}

static void align(struct entry *e)
{
	static const uint8_t zeros[8];

	put(e, zeros, -e->size & 7);
}

/* A part of fixed size, whose `lengths` this fills in, and n texts behind it. */
static void put_part(struct entry *e, void *fixed, size_t size, uint32_t *lengths,
		     const char *const *texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		lengths[i] = texts[i] ? (uint32_t)strlen(texts[i]) : 0;
	put(e, fixed, size);
	for (size_t i = 0; i < n; i++) {
		put(e, texts[i] ? texts[i] : "", lengths[i]);
		put(e, "", 1);
	}
	align(e);
}

#define PUT(e, fixed, ...)                                                                         \
	put_part(e, &(fixed), sizeof(fixed), (fixed).lengths, (const char *const[]){__VA_ARGS__},  \
		 sizeof((fixed).lengths) / sizeof(*(fixed).lengths))

/* Where an entry of that size can be written; NULL: nowhere. */
static uint8_t *find_room(struct spool *spool, size_t size)
{
	static bool said; /* under the bus's lock */

	if (!spool->has_files)
		return NULL;
	if (size <= UINT32_MAX && spool_grow_dict(spool, spool->control->dict_length + size))
		return spool->dict + spool->control->dict_length;
	if (!said)
		log_line(RTL_LEVEL_WARNING, "spool",
			 "no room for the dictionary in %s: names will be missing", spool->path);
	said = true;
	return NULL;
}

/* Begins a walk over the parts of an entry; false: it is complete, or there is no room for it. */
static bool next_walk(struct spool *spool, struct entry *e)
{
	struct dict_entry *entry = (void *)e->place;
	const size_t size = e->size;

	if (!size)
		return true;
	if (!entry) {
		e->place = find_room(spool, size);
		e->size = 0;
		return e->place;
	}
	entry->size = (uint32_t)size;
	/* release: with the acquire of readers, who read entries up to there */
	__atomic_store_n(&spool->control->dict_length, spool->control->dict_length + size,
			 __ATOMIC_RELEASE);
	return false;
}

void dict_add_process(struct spool *spool, const struct rtl_process *p)
{
	struct dict_process fixed = {.entry.kind = DICT_PROCESS, .rank = (uint32_t)p->rank + 1};

	for (struct entry e = {0}; next_walk(spool, &e);)
		PUT(&e, fixed, p->program, p->command, p->host_name, p->run);
}

static void put_type(struct entry *e, const struct rtl_type_info *t)
{
	struct dict_type fixed = {.type = t->type,
				  .field_count = t->field_count,
				  .payload_size = t->payload_size,
				  .repeated_by = t->repeated_by};

	PUT(e, fixed, t->name, t->description);
	for (uint16_t i = 0; i < t->field_count; i++) {
		const struct rtl_field *f = rtl_type_field(t, i);
		struct dict_field field = {
			.kind = f->kind, .group = f->group, .offset = f->offset, .size = f->size};

		PUT(e, field, f->name, f->unit, f->description);
	}
}

void dict_add_stream(struct spool *spool, const struct rtl_stream_info *info)
{
	struct dict_stream fixed = {.entry.kind = DICT_STREAM,
				    .number = info->number,
				    .version_major = info->version_major,
				    .version_minor = info->version_minor,
				    .type_count = info->type_count};

	for (struct entry e = {0}; next_walk(spool, &e);) {
		PUT(&e, fixed, info->name, info->description);
		for (uint32_t i = 0; i < info->type_count; i++)
			put_type(&e, rtl_stream_type(info, i));
	}
}

void dict_add_string(struct spool *spool, uint64_t id, const char *text)
{
	struct dict_string fixed = {.entry.kind = DICT_STRING, .id = id};

	for (struct entry e = {0}; next_walk(spool, &e);)
		PUT(&e, fixed, text);
}

void dict_add_tracepoint(struct spool *spool, const struct rtl_tracepoint *t)
{
	struct dict_tracepoint fixed = {.entry.kind = DICT_TRACEPOINT,
					.uid = t->uid,
					.module_offset = t->module_offset,
					.hash = t->hash,
					.line = t->line,
					.column = t->column};

	for (struct entry e = {0}; next_walk(spool, &e);)
		PUT(&e, fixed, t->kind, t->name, t->source, t->module);
}

void dict_add_metadata(struct spool *spool, uint64_t uid, const char *key, const char *value,
		       uint32_t kind)
{
	struct dict_metadata fixed = {.entry.kind = DICT_METADATA, .uid = uid, .kind = kind};

	for (struct entry e = {0}; next_walk(spool, &e);)
		PUT(&e, fixed, key, value);
}
