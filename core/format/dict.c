/* SPDX-License-Identifier: MIT */
#include "dict.h"

#include <string.h>

#include "log.h"

/* An entry under construction: a first walk without a place adds up the size. */
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

static void put_text(struct entry *e, const char *text, uint32_t length)
{
	put(e, text ? text : "", length);
	put(e, "", 1);
}

/* The part of an entry of fixed size, and texts, whose lengths are in it. */
#define PUT(e, fixed, ...)                                                                         \
	do {                                                                                       \
		const char *const texts_[] = {__VA_ARGS__};                                        \
		put(e, &(fixed), sizeof(fixed));                                                   \
		for (size_t i_ = 0; i_ < sizeof(texts_) / sizeof(*texts_); i_++)                   \
			put_text(e, texts_[i_], (fixed).lengths[i_]);                              \
	} while (0)

static void align(struct entry *e)
{
	static const uint8_t zeros[8];

	put(e, zeros, -e->size & 7);
}

static uint32_t length_of(const char *text)
{
	return text ? (uint32_t)strlen(text) : 0;
}

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

/* Calls write twice: to learn the size, and to fill the place. */
#define ADD(spool, write, thing)                                                                   \
	do {                                                                                       \
		struct entry e_ = {NULL, 0};                                                       \
		write(&e_, thing, 0);                                                              \
		align(&e_);                                                                        \
		size_t size_ = e_.size;                                                            \
		e_.place = find_room(spool, size_);                                                \
		e_.size = 0;                                                                       \
		if (e_.place) {                                                                    \
			write(&e_, thing, (uint32_t)size_);                                        \
			align(&e_);                                                                \
			/* release: with the acquire of readers, who read entries up to there */   \
			__atomic_store_n(&(spool)->control->dict_length,                           \
					 (spool)->control->dict_length + size_, __ATOMIC_RELEASE); \
		}                                                                                  \
	} while (0)

static void write_process(struct entry *e, const struct rtl_process *p, uint32_t size)
{
	const struct dict_process fixed = {.entry = {size, DICT_PROCESS},
					   .lengths = {length_of(p->program), length_of(p->command),
						       length_of(p->host_name), length_of(p->run)},
					   .rank = (uint32_t)p->rank + 1};

	PUT(e, fixed, p->program, p->command, p->host_name, p->run);
}

void dict_add_process(struct spool *spool, const struct rtl_process *process)
{
	ADD(spool, write_process, process);
}

static void write_field(struct entry *e, const struct rtl_field *f)
{
	const struct dict_field fixed = {
		.kind = f->kind,
		.group = f->group,
		.offset = f->offset,
		.size = f->size,
		.lengths = {length_of(f->name), length_of(f->unit), length_of(f->description)}};

	PUT(e, fixed, f->name, f->unit, f->description);
	align(e);
}

static void write_type(struct entry *e, const struct rtl_type_info *t)
{
	const struct dict_type fixed = {.type = t->type,
					.field_count = t->field_count,
					.payload_size = t->payload_size,
					.repeated_by = t->repeated_by,
					.lengths = {length_of(t->name), length_of(t->description)}};

	PUT(e, fixed, t->name, t->description);
	align(e);
	for (uint16_t i = 0; i < t->field_count; i++)
		write_field(e, rtl_type_field(t, i));
}

static void write_stream(struct entry *e, const struct rtl_stream_info *info, uint32_t size)
{
	const struct dict_stream fixed = {
		.entry = {size, DICT_STREAM},
		.number = info->number,
		.version_major = info->version_major,
		.version_minor = info->version_minor,
		.type_count = info->type_count,
		.lengths = {length_of(info->name), length_of(info->description)}};

	PUT(e, fixed, info->name, info->description);
	align(e);
	for (uint32_t i = 0; i < info->type_count; i++)
		write_type(e, rtl_stream_type(info, i));
}

void dict_add_stream(struct spool *spool, const struct rtl_stream_info *info)
{
	ADD(spool, write_stream, info);
}

struct string {
	uint64_t id;
	const char *text;
	size_t length;
};

static void write_string(struct entry *e, const struct string *s, uint32_t size)
{
	const struct dict_string fixed = {
		.entry = {size, DICT_STRING}, .id = s->id, .lengths = {(uint32_t)s->length}};

	PUT(e, fixed, s->text);
}

void dict_add_string(struct spool *spool, uint64_t id, const char *text, size_t length)
{
	const struct string s = {id, text, length};

	ADD(spool, write_string, &s);
}

static void write_tracepoint(struct entry *e, const struct rtl_tracepoint *t, uint32_t size)
{
	const struct dict_tracepoint fixed = {.entry = {size, DICT_TRACEPOINT},
					      .uid = t->uid,
					      .module_offset = t->module_offset,
					      .hash = t->hash,
					      .line = t->line,
					      .column = t->column,
					      .lengths = {length_of(t->kind), length_of(t->name),
							  length_of(t->source),
							  length_of(t->module)}};

	PUT(e, fixed, t->kind, t->name, t->source, t->module);
}

void dict_add_tracepoint(struct spool *spool, const struct rtl_tracepoint *tracepoint)
{
	ADD(spool, write_tracepoint, tracepoint);
}

struct pair {
	uint64_t uid;
	const char *key, *value;
	uint32_t kind;
};

static void write_metadata(struct entry *e, const struct pair *p, uint32_t size)
{
	const struct dict_metadata fixed = {.entry = {size, DICT_METADATA},
					    .uid = p->uid,
					    .lengths = {length_of(p->key), length_of(p->value)},
					    .kind = p->kind};

	PUT(e, fixed, p->key, p->value);
}

void dict_add_metadata(struct spool *spool, uint64_t uid, const char *key, const char *value,
		       uint32_t kind)
{
	const struct pair p = {uid, key, value, kind};

	ADD(spool, write_metadata, &p);
}
