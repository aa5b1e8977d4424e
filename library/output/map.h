/* SPDX-License-Identifier: MIT */
/* map.h: a hash map from one 64-bit number to another. One thread. Keys may be anything; a value of 0 means "not
 * there". */
#pragma once

#include "hash.h"

struct map_entry {
	uint64_t key;
	uint64_t value;
};

/* All zero is an empty map. */
struct map {
	struct hash hash;
};

static inline bool map_is_used(const void *entry)
{
	return ((const struct map_entry *)entry)->value != 0;
}

static inline uint64_t map_hash(const void *entry)
{
	return hash_number(((const struct map_entry *)entry)->key);
}

static inline bool map_is_same(const void *entry, const void *key)
{
	return ((const struct map_entry *)entry)->key == *(const uint64_t *)key;
}

static const struct hash_kind map_kind = {
	.bytes = sizeof(struct map_entry),
	.initial = 64,
	.is_used = map_is_used,
	.hash = map_hash,
	.is_same = map_is_same,
};

/* The value of a key, 0 if it is not there. */
static inline uint64_t map_get(const struct map *map, uint64_t key)
{
	const struct map_entry *entry = hash_find(&map->hash, &map_kind, hash_number(key), &key);

	return entry ? entry->value : 0;
}

/* The same of one whose values are pointers. */
static inline void *map_pointer(const struct map *map, uint64_t key)
{
	return (void *)(uintptr_t)map_get(map, key);
}

/* The n-th place, of map->hash.capacity: its value is 0 where nothing is. */
static inline const struct map_entry *map_at(const struct map *map, size_t n)
{
	return hash_at(&map->hash, &map_kind, n);
}

/* Sets a value other than 0. False: out of memory. */
static inline bool map_set(struct map *map, uint64_t key, uint64_t value)
{
	struct map_entry *entry = hash_add(&map->hash, &map_kind, hash_number(key), &key);

	if (entry)
		*entry = (struct map_entry){key, value};
	return entry != NULL;
}

/* Sets a pointer to so many bytes of zeros, to be freed. NULL: out of memory. */
static inline void *map_make(struct map *map, uint64_t key, size_t size)
{
	void *made = calloc(1, size);

	if (made && map_set(map, key, (uintptr_t)made))
		return made;
	free(made);
	return NULL;
}

/* Takes a key out: the value that it had, 0 if it was not there. */
static inline uint64_t map_take(struct map *map, uint64_t key)
{
	struct map_entry *entry = hash_find(&map->hash, &map_kind, hash_number(key), &key);
	const uint64_t value = entry ? entry->value : 0;

	if (entry)
		hash_take_out(&map->hash, &map_kind, entry);
	return value;
}

static inline void map_fini(struct map *map)
{
	hash_fini(&map->hash);
}

/* The same of one whose values are pointers, which are freed. */
static inline void map_free(struct map *map)
{
	for (size_t i = 0; i < map->hash.capacity; i++)
		free((void *)(uintptr_t)map_at(map, i)->value);
	map_fini(map);
}
