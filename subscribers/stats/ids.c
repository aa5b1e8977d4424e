/* SPDX-License-Identifier: MIT */
/* See summary.h: rows by id. */
#include "summary.h"

#define IDS_MOST 65536u

void summary_ids_put(struct summary_ids *ids, uint64_t key, struct summary_group *group)
{
	if (ids->map.hash.count >= IDS_MOST)
		map_fini(&ids->map);
	(void)map_set(&ids->map, key, (uintptr_t)group); /* without it the name is looked up */
}

void summary_ids_fini(struct summary_ids *ids)
{
	map_fini(&ids->map);
}
