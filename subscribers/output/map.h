/* SPDX-License-Identifier: MIT */
/*
 * map.h: a hash map from one 64-bit number to another. One thread. Keys may be anything; a
 * value of 0 means "not there".
 */
#ifndef RTL_OUTPUT_MAP_H
#define RTL_OUTPUT_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
	uint64_t key;
	uint64_t value;
};

/* All zero is an empty map. */
struct map {
	struct map_entry *entries;
	size_t capacity; /* a power of two, or 0 */
	size_t count;
};

static inline uint64_t map_hash(uint64_t x)
{
	x ^= x >> 32;
	x *= 0x9e3779b97f4a7c15u;
	return x ^ x >> 29;
}

/* The value of a key, 0 if it is not there. */
static inline uint64_t map_get(const struct map *map, uint64_t key)
{
	size_t mask = map->capacity - 1;

	if (!map->capacity)
		return 0;
	for (size_t i = map_hash(key) & mask; map->entries[i].value; i = (i + 1) & mask)
		if (map->entries[i].key == key)
			return map->entries[i].value;
	return 0;
}

/* Sets a value other than 0. False: out of memory. */
bool map_set(struct map *map, uint64_t key, uint64_t value);
void map_fini(struct map *map);

#endif
