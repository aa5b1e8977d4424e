/* SPDX-License-Identifier: MIT */
#include "pairing.h"

#include <rtl/publish.h>

const struct pairing_kind pairing_kinds[PAIRING_KINDS] = {
	{RTL_REGION_BEGIN, "region", "region"},
	{RTL_TASK_BEGIN, "task", "task"},
	{RTL_BARRIER_BEGIN, "barrier", "barrier"},
	{RTL_LOCK_BEGIN, "lock", "lock"},
	{RTL_TRANSFER_BEGIN, "transfer", "transfer"},
	{RTL_THREAD_BEGIN, "thread", NULL},
	{RTL_WAIT_BEGIN, "wait", "wait"},
	{RTL_FUNCTION_BEGIN, "function", "call"},
	{RTL_FUNCTION_WITH_ARGS_BEGIN, "function", "call"},
	{RTL_MEM_ALLOC_BEGIN, "allocation", NULL},
	{RTL_MEM_RELEASE_BEGIN, "release", NULL},
};

const struct rtl_field *pairing_field(const struct rtl_type_info *type, uint16_t kind,
				      uint32_t size, const char *name)
{
	for (uint32_t i = 0; type && i < type->field_count; i++) {
		const struct rtl_field *field = rtl_type_field(type, i);

		if (field->kind == kind && (!size || field->size == size) &&
		    (!name || strcmp(field->name, name) == 0))
			return field;
	}
	return NULL;
}

bool pairing_has_times(const struct rtl_type_info *type)
{
	return pairing_field(type, RTL_KIND_TIME, 8, "begin_ns") &&
	       pairing_field(type, RTL_KIND_TIME, 8, "end_ns");
}

static uint64_t hash_of(const void *entry)
{
	const struct pairing_begin *begin = entry;

	/* without the owner, whose place is another in each run: so is not the order in the table */
	return hash_number(begin->instance ^ (uint64_t)begin->process << 48);
}

static bool is_same(const void *entry, const void *key)
{
	const struct pairing_begin *a = entry, *b = key;

	return a->instance == b->instance && a->owner == b->owner && a->process == b->process;
}

static const struct hash_kind kind = {
	.bytes = sizeof(struct pairing_begin),
	.initial = 256,
	.is_used = hash_has_pointer,
	.hash = hash_of,
	.is_same = is_same,
};

void pairing_fini(struct pairing *pairing)
{
	hash_fini(&pairing->hash);
}

bool pairing_put(struct pairing *pairing, const struct pairing_begin *begin)
{
	struct pairing_begin *place;

	if (pairing->hash.count >= PAIRING_MAX)
		return false;
	place = hash_add(&pairing->hash, &kind, hash_of(begin), begin);
	if (!place || place->owner)
		return false;
	*place = *begin;
	return true;
}

bool pairing_take(struct pairing *pairing, struct pairing_begin *begin)
{
	struct pairing_begin *place = hash_find(&pairing->hash, &kind, hash_of(begin), begin);

	if (!place)
		return false;
	*begin = *place;
	hash_take_out(&pairing->hash, &kind, place);
	return true;
}

const struct pairing_begin *pairing_at(const struct pairing *pairing, size_t n)
{
	const struct pairing_begin *begin = hash_at(&pairing->hash, &kind, n);

	return begin->owner ? begin : NULL;
}

size_t pairing_waiting(const struct pairing *pairing, const void *owner)
{
	size_t count = 0;

	for (size_t i = 0; i < pairing->hash.capacity; i++) {
		const struct pairing_begin *begin = hash_at(&pairing->hash, &kind, i);

		count += begin->owner == owner;
	}
	return count;
}
