/* SPDX-License-Identifier: MIT */
/* map.c: open addressing with linear probing, at most three quarters full. */
#include "map.h"

#include <stdlib.h>

static struct map_entry *find_slot(struct map_entry *entries, size_t capacity, uint64_t key)
{
	size_t i = map_hash(key) & (capacity - 1);

	while (entries[i].value && entries[i].key != key)
		i = (i + 1) & (capacity - 1);
	return &entries[i];
}

static bool grow(struct map *map)
{
	size_t capacity = map->capacity ? map->capacity * 2 : 64;
	struct map_entry *entries = calloc(capacity, sizeof(*entries));

	if (!entries)
		return false;
	for (size_t i = 0; i < map->capacity; i++)
		if (map->entries[i].value)
			*find_slot(entries, capacity, map->entries[i].key) = map->entries[i];
	free(map->entries);
	map->entries = entries;
	map->capacity = capacity;
	return true;
}

bool map_set(struct map *map, uint64_t key, uint64_t value)
{
	struct map_entry *entry;

	if (map->count * 4 >= map->capacity * 3 && !grow(map))
		return false;
	entry = find_slot(map->entries, map->capacity, key);
	if (!entry->value)
		map->count++;
	entry->key = key;
	entry->value = value;
	return true;
}

void map_fini(struct map *map)
{
	free(map->entries);
	*map = (struct map){0};
}
