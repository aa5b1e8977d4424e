/* SPDX-License-Identifier: MIT */
#include "stream_info.h"

#include <stdlib.h>

#include <rtl/publish.h>

static bool name_ok(const char *name, bool dots)
{
	size_t i;

	if (!name || !*name)
		return false;
	for (i = 0; name[i]; i++)
		if (!(name[i] >= 'a' && name[i] <= 'z') && !(name[i] >= '0' && name[i] <= '9') &&
		    name[i] != '_' && !(dots && (name[i] == '.' || name[i] == '-')))
			return false;
	return i < 128;
}

static bool kind_fits(uint16_t kind, uint32_t size)
{
	switch (kind) {
	case RTL_KIND_UINT:
	case RTL_KIND_INT:
		return size == 1 || size == 2 || size == 4 || size == 8;
	case RTL_KIND_FLOAT:
		return size == 4 || size == 8;
	case RTL_KIND_BOOL:
		return size == 1;
	case RTL_KIND_BYTES:
		return size > 0;
	case RTL_KIND_TEXT:
	case RTL_KIND_ARGS:
	case RTL_KIND_VALUES:
		return size == sizeof(struct rtl_text);
	case RTL_KIND_ADDRESS:
	case RTL_KIND_TIME:
	case RTL_KIND_STRING:
	case RTL_KIND_UID:
		return size == 8;
	default: /* of a newer version: readers skip it by its size */
		return kind && size > 0;
	}
}

/* More than any stream has use for; what compares each with each stays quick, on damaged input too. */
#define TYPES_MAX  256u
#define FIELDS_MAX 256u

/* As stream_info_flaw. */
static const char *type_flaw(const struct rtl_type_info *type)
{
	if (type->type == RTL_TYPE_ANY || !type->type || !name_ok(type->name, false))
		return "a type has no number or no name of a-z, 0-9 and _";
	if (type->payload_size > RTL_PAYLOAD_MAX || (type->field_count && !type->fields))
		return "a type's payload is too large, or its fields are missing";
	if (type->field_count > FIELDS_MAX)
		return "a type has more than 256 fields";
	for (uint16_t i = 0; i < type->field_count; i++) {
		const struct rtl_field *f = rtl_type_field(type, i);

		if (f->struct_size < sizeof(*f) || !name_ok(f->name, false))
			return "a field has no name of a-z, 0-9 and _";
		if (!kind_fits(f->kind, f->size) || f->offset > type->payload_size ||
		    f->size > type->payload_size - f->offset)
			return "a field is not of its kind's size, or outside of the payload";
		for (uint16_t k = 0; k < i; k++)
			if (!strcmp(rtl_type_field(type, k)->name, f->name))
				return "two fields have one name";
	}
	return NULL;
}

const char *stream_info_flaw(const struct rtl_stream_info *info)
{
	const char *flaw;

	if (!info || info->struct_size < sizeof(*info) || !name_ok(info->name, true))
		return "no struct_size, or no name of a-z, 0-9, '_', '-' and '.'";
	if (info->type_count && (!info->types || info->types->struct_size < sizeof(*info->types)))
		return "its types are missing";
	if (info->type_count > TYPES_MAX)
		return "it has more than 256 types";
	for (uint32_t i = 0; i < info->type_count; i++) {
		const struct rtl_type_info *type = rtl_stream_type(info, i);

		if ((flaw = type_flaw(type)))
			return flaw;
		for (uint32_t k = 0; k < i; k++)
			if (rtl_stream_type(info, k)->type == type->type ||
			    !strcmp(rtl_stream_type(info, k)->name, type->name))
				return "two types have one number or one name";
	}
	return NULL;
}

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

bool stream_same_layout(const struct rtl_stream_info *a, const struct rtl_stream_info *b)
{
	if (a->version_major != b->version_major || a->version_minor != b->version_minor ||
	    a->type_count != b->type_count)
		return false;
	for (uint32_t i = 0; i < a->type_count; i++) {
		const struct rtl_type_info *s = rtl_stream_type(a, i), *t = rtl_stream_type(b, i);

		if (s->type != t->type || s->payload_size != t->payload_size ||
		    s->field_count != t->field_count)
			return false;
		for (uint16_t k = 0; k < s->field_count; k++) {
			const struct rtl_field *f = rtl_type_field(s, k), *g = rtl_type_field(t, k);

			if (f->kind != g->kind || f->offset != g->offset || f->size != g->size ||
			    !same_text(f->name, g->name))
				return false;
		}
	}
	return true;
}

/* All of a copy stands in one block: a first walk with no block adds up its size. */
struct block {
	char *base;
	size_t used;
};

static void *take(struct block *b, const void *data, size_t size)
{
	void *at = b->base ? b->base + b->used : NULL;

	if (at && data)
		memcpy(at, data, size);
	b->used += (size + 7) & ~(size_t)7;
	return at;
}

static const char *take_text(struct block *b, const char *text)
{
	return take(b, text ? text : "", text ? strlen(text) + 1 : 1);
}

static void copy_fields(struct block *b, const struct rtl_type_info *from, struct rtl_type_info *to)
{
	struct rtl_field *fields = take(b, NULL, from->field_count * sizeof(*fields));

	for (uint16_t i = 0; i < from->field_count; i++) {
		struct rtl_field f = *rtl_type_field(from, i);

		f.struct_size = sizeof(f);
		f.name = take_text(b, f.name);
		f.unit = take_text(b, f.unit);
		f.description = take_text(b, f.description);
		if (fields)
			fields[i] = f;
	}
	to->fields = fields;
}

static void copy_types(struct block *b, const struct rtl_stream_info *from,
		       struct rtl_stream_info *to)
{
	struct rtl_type_info *types = take(b, NULL, from->type_count * sizeof(*types));

	for (uint32_t i = 0; i < from->type_count; i++) {
		struct rtl_type_info t = *rtl_stream_type(from, i);

		t.struct_size = sizeof(t);
		t.name = take_text(b, t.name);
		t.description = take_text(b, t.description);
		copy_fields(b, rtl_stream_type(from, i), &t);
		if (types)
			types[i] = t;
	}
	to->types = types;
}

static struct rtl_stream_info *copy_into(struct block *b, const struct rtl_stream_info *from)
{
	struct rtl_stream_info *to = take(b, NULL, sizeof(*to)), copy = *from;

	copy.struct_size = sizeof(copy);
	copy.name = take_text(b, from->name);
	copy.description = take_text(b, from->description);
	copy_types(b, from, &copy);
	if (to)
		*to = copy;
	return to;
}

struct rtl_stream_info *stream_info_copy(const struct rtl_stream_info *info)
{
	struct block b = {NULL, 0};

	copy_into(&b, info);
	b.base = malloc(b.used);
	b.used = 0;
	return b.base ? copy_into(&b, info) : NULL;
}

bool stream_type_describes(const struct rtl_stream_info *info, uint16_t type)
{
	return type == RTL_METADATA || type == RTL_QUEUE_CREATE || type == RTL_QUEUE_DESTROY ||
	       type == RTL_STREAM_END || !strcmp(info->name, "rtl.diagnostics");
}

void stream_want(struct rtl_stream *stream, const struct rtl_stream_info *info,
		 const struct stream_wants *wants, uint8_t mask)
{
	/* relaxed: see struct rtl_stream. Nothing is cleared that is set again: a publisher that
	 * looks in between would lose an event that nobody counts. */
	for (uint32_t i = 0; i < info->type_count; i++) {
		uint8_t slot = info->types[i].type & 0xff;

		__atomic_fetch_or(&stream->wanted[slot], wants->bits[slot] & mask,
				  __ATOMIC_RELAXED);
		__atomic_fetch_and(&stream->wanted[slot], (uint8_t)(wants->bits[slot] | ~mask),
				   __ATOMIC_RELAXED);
	}
}

void stream_want_all(struct rtl_stream *stream, const struct rtl_stream_info *info)
{
	struct stream_wants all;

	memset(all.bits, SPOOL_WANT_RECORD, sizeof(all.bits));
	stream_want(stream, info, &all, SPOOL_WANT_RECORD);
}
