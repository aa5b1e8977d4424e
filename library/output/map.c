/* SPDX-License-Identifier: MIT */
/* See map.h. */
#include "map.h"

bool map_set(struct map *map, uint64_t key, uint64_t value)
{
	struct map_entry *entry = hash_add(&map->hash, &map_kind, hash_number(key), &key);

	if (entry)
		*entry = (struct map_entry){key, value};
	return entry != NULL;
}

void map_fini(struct map *map)
{
	hash_fini(&map->hash);
}
