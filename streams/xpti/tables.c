/* SPDX-License-Identifier: MIT */
/* See tables.h. Buckets of lists, and arrays of pieces for the way from a number to its node. */
#include "tables.h"

#include <stdlib.h>
#include <string.h>

#include <rtl/tracepoint.h>

#include "thread.h"

uint64_t table_hash(const void *data, size_t size)
{
	const unsigned char *p = data;
	uint64_t state = 0, word;

	for (; size >= 8; size -= 8, p += 8) {
		memcpy(&word, p, 8);
		state = (state ^ word) * 0x9e3779b97f4a7c15u;
		state ^= state >> 32;
	}
	word = size;
	memcpy(&word, p, size);
	state = (state ^ word ^ (uint64_t)size << 56) * 0x9e3779b97f4a7c15u;
	return state ^ state >> 29;
}

static struct node *find(const struct table *table, uint64_t hash, const void *what)
{
	struct node *const *at = &table->buckets[hash % TABLE_BUCKETS], *node;

	while ((node = __atomic_load_n(at, __ATOMIC_ACQUIRE))) {
		if (node->hash == hash && table->same(node, what))
			return node;
		at = &node->next;
	}
	return NULL;
}

/* Release: with the acquire in find and table_get. */
static struct node *add(struct table *table, uint64_t hash, const void *what)
{
	HOLD_LOCK(&framework_lock);
	struct node *const there = find(table, hash, what);
	struct node **bucket = &table->buckets[hash % TABLE_BUCKETS], **piece, *made;
	const uint32_t number = table->count;

	if (there || number == TABLE_PIECE * TABLE_PIECES)
		return there;
	piece = table->pieces[number / TABLE_PIECE];
	if (!piece) {
		piece = calloc(TABLE_PIECE, sizeof *piece);
		__atomic_store_n(&table->pieces[number / TABLE_PIECE], piece, __ATOMIC_RELEASE);
	}
	made = piece ? table->make(what, number) : NULL;
	if (!made)
		return NULL;
	*made = (struct node){.next = *bucket, .hash = hash, .id = number};
	/* before others find it */
	__atomic_store_n(&piece[number % TABLE_PIECE], made, __ATOMIC_RELEASE);
	__atomic_store_n(&table->count, number + 1, __ATOMIC_RELAXED);
	__atomic_store_n(bucket, made, __ATOMIC_RELEASE);
	return made;
}

struct node *table_add(struct table *table, uint64_t hash, const void *what)
{
	struct node *node = find(table, hash, what);

	return node ? node : add(table, hash, what);
}

struct node *table_get(const struct table *table, uint64_t id)
{
	struct node **piece;

	if (id >= TABLE_PIECE * TABLE_PIECES ||
	    id >= __atomic_load_n(&table->count, __ATOMIC_RELAXED))
		return NULL;
	piece = __atomic_load_n(&table->pieces[id / TABLE_PIECE], __ATOMIC_ACQUIRE);
	return piece ? __atomic_load_n(&piece[id % TABLE_PIECE], __ATOMIC_ACQUIRE) : NULL;
}

/* ---- strings and objects */

struct bytes {
	const void *data;
	size_t size;
	uint8_t type;
};

static bool same_bytes(const struct node *node, const void *what)
{
	const struct entry *entry = (const struct entry *)node;
	const struct bytes *bytes = what;

	return entry->size == bytes->size && !memcmp(entry->data, bytes->data, bytes->size);
}

static struct node *make_entry(const void *what, uint32_t id)
{
	const struct bytes *bytes = what;
	struct entry *entry =
		bytes->size < UINT32_MAX ? calloc(1, sizeof *entry + bytes->size + 1) : NULL;

	if (!entry)
		return NULL;
	entry->size = (uint32_t)bytes->size;
	entry->type = bytes->type;
	memcpy(entry->data, bytes->data, bytes->size);
	return &entry->node;
}

static struct table strings = {.same = same_bytes, .make = make_entry};
static struct table objects = {.same = same_bytes, .make = make_entry};

struct entry *objects_add(const char *data, size_t size, uint8_t type)
{
	return (struct entry *)table_add(&objects, table_hash(data, size),
					 &(struct bytes){data, size, type});
}

struct entry *strings_add(const char *text)
{
	const size_t size = text ? strlen(text) : 0;

	return size ? (struct entry *)table_add(&strings, table_hash(text, size),
						&(struct bytes){text, size, 0})
		    : NULL;
}

const struct entry *strings_get(uint32_t id)
{
	return (const struct entry *)table_get(&strings, id - UINT64_C(1));
}

const struct entry *objects_get(uint32_t id)
{
	return (const struct entry *)table_get(&objects, id);
}

uint64_t entry_rtl(struct entry *entry)
{
	uint64_t id = __atomic_load_n(&entry->rtl, __ATOMIC_RELAXED);

	if (!id && !rtl_string_intern(entry->data, &id))
		__atomic_store_n(&entry->rtl, id, __ATOMIC_RELAXED);
	return id;
}
