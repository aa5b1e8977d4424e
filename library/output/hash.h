/* SPDX-License-Identifier: MIT */
/* hash.h: the hash table of subscribers. Open addressing with linear probing, at most two thirds full; a place that
 * becomes free is filled by what probed past it. Entries lie in the table itself and move when it grows or something is
 * taken out.
 *
 * All of it is inlined where a constant struct hash_kind says what the entries are. One thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Frees a list of what begins with the pointer to the next one. */
static inline void list_free(void *first)
{
	for (void *next; first; first = next) {
		memcpy(&next, first, sizeof(next));
		free(first);
	}
}

/** All zeros is an empty one. */
struct hash {
	char *entries;
	size_t capacity; /* places: a power of two, or 0 */
	size_t count;
};

struct hash_kind {
	size_t bytes;   /* of an entry */
	size_t initial; /* places at first, a power of two */
	/* An entry of zeros is none. */
	bool (*is_used)(const void *entry);
	uint64_t (*hash)(const void *entry);
	bool (*is_same)(const void *entry, const void *key);
};

#define HASH_INLINE static inline __attribute__((always_inline))

/** is_used of entries that begin with a pointer, which is NULL in none. */
HASH_INLINE bool hash_has_pointer(const void *entry)
{
	const void *first;

	memcpy(&first, entry, sizeof(first));
	return first != NULL;
}

/** Spreads a number's bits: the lower ones choose the place. */
HASH_INLINE uint64_t hash_number(uint64_t x)
{
	x ^= x >> 32;
	x *= 0x9e3779b97f4a7c15u;
	return x ^ x >> 29;
}

static inline uint64_t hash_pair(uint64_t one, uint64_t other)
{
	return hash_number(hash_number(one) + other);
}

/** Of bytes, and of whatever else the seed stands for. */
static inline uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t hash = seed ^ size, word;

	for (; size >= sizeof(word); at += sizeof(word), size -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	for (; size; size--) /* FNV-1a */
		hash = (hash ^ *at++) * 0x100000001b3u;
	return hash_number(hash);
}

static inline uint64_t hash_text(const char *text, size_t length)
{
	return hash_bytes(0xcbf29ce484222325u, text, length);
}

/** The n-th place of the table, used or not. */
HASH_INLINE void *hash_at(const struct hash *table, const struct hash_kind *kind, size_t n)
{
	return table->entries + n * kind->bytes;
}

/* Where a key is, or the free place where it would go; there is one. */
HASH_INLINE void *hash_place(const struct hash *table, const struct hash_kind *kind, uint64_t hash,
			     const void *key)
{
	const size_t mask = table->capacity - 1;
	size_t i = hash & mask;

	while (kind->is_used(hash_at(table, kind, i)) &&
	       !kind->is_same(hash_at(table, kind, i), key))
		i = (i + 1) & mask;
	return hash_at(table, kind, i);
}

/** The entry of a key, NULL if there is none; hash: the key's, as kind->hash of its entry. */
HASH_INLINE void *hash_find(const struct hash *table, const struct hash_kind *kind, uint64_t hash,
			    const void *key)
{
	void *entry = table->capacity ? hash_place(table, kind, hash, key) : NULL;

	return entry && kind->is_used(entry) ? entry : NULL;
}

HASH_INLINE bool hash_grow(struct hash *table, const struct hash_kind *kind)
{
	const size_t capacity = table->capacity ? table->capacity * 2 : kind->initial;
	struct hash larger = {calloc(capacity, kind->bytes), capacity, table->count};

	if (!larger.entries)
		return false;
	for (size_t i = 0; i < table->capacity; i++) {
		const void *entry = hash_at(table, kind, i);
		size_t place;

		if (!kind->is_used(entry))
			continue;
		place = kind->hash(entry) & (capacity - 1);
		while (kind->is_used(hash_at(&larger, kind, place)))
			place = (place + 1) & (capacity - 1);
		memcpy(hash_at(&larger, kind, place), entry, kind->bytes);
	}
	free(table->entries);
	*table = larger;
	return true;
}

/** The entry of a key, or a free place of zeros that the caller fills at once, counted already. NULL: out of memory. */
HASH_INLINE void *hash_add(struct hash *table, const struct hash_kind *kind, uint64_t hash,
			   const void *key)
{
	void *entry;

	if (3 * (table->count + 1) > 2 * table->capacity && !hash_grow(table, kind))
		return NULL;
	entry = hash_place(table, kind, hash, key);
	table->count += !kind->is_used(entry);
	return entry;
}

/** Takes an entry out. What stood behind it may stand in its place afterwards. */
HASH_INLINE void hash_take_out(struct hash *table, const struct hash_kind *kind, void *entry)
{
	const size_t mask = table->capacity - 1;
	size_t hole = (size_t)((char *)entry - table->entries) / kind->bytes;

	for (size_t i = (hole + 1) & mask; kind->is_used(hash_at(table, kind, i));
	     i = (i + 1) & mask) {
		/* It may move to the hole unless its home lies between the hole and here. */
		if (((i - kind->hash(hash_at(table, kind, i))) & mask) < ((i - hole) & mask))
			continue;
		memcpy(hash_at(table, kind, hole), hash_at(table, kind, i), kind->bytes);
		hole = i;
	}
	memset(hash_at(table, kind, hole), 0, kind->bytes);
	table->count--;
}

/** Frees the table, not what its entries point to. */
static inline void hash_fini(struct hash *table)
{
	free(table->entries);
	*table = (struct hash){0};
}
