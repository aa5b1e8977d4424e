/* SPDX-License-Identifier: MIT */
/* See summary.h: rows by id. Linear probing, nothing is ever taken out singly. */
#include <stdlib.h>
#include <string.h>

#include "summary.h"

#define SIZE_MIN     256u
#define SIZE_MAX_IDS 131072u

static struct summary_id *find(struct summary_id *table, size_t size, uint64_t key)
{
	size_t i = ((key * 0x9e3779b97f4a7c15u) >> 32) & (size - 1);

	while (table[i].key && table[i].key != key)
		i = (i + 1) & (size - 1);
	return &table[i];
}

struct summary_group *summary_ids_find(const struct summary_ids *ids, uint64_t key)
{
	return ids->size ? find(ids->table, ids->size, key)->group : NULL;
}

/* Makes room for one more; false: out of memory. */
static bool make_room(struct summary_ids *ids)
{
	size_t size = ids->size ? ids->size * 2 : SIZE_MIN;

	if (size > SIZE_MAX_IDS) {
		memset(ids->table, 0, ids->size * sizeof(*ids->table));
		ids->count = 0;
		return true;
	}
	struct summary_id *table = calloc(size, sizeof(*table));
	if (!table)
		return false;
	for (size_t i = 0; i < ids->size; i++) {
		if (ids->table[i].key)
			*find(table, size, ids->table[i].key) = ids->table[i];
	}
	free(ids->table);
	ids->table = table;
	ids->size = size;
	return true;
}

void summary_ids_put(struct summary_ids *ids, uint64_t key, struct summary_group *group)
{
	if (2 * (ids->count + 1) > ids->size && !make_room(ids))
		return;
	*find(ids->table, ids->size, key) = (struct summary_id){key, group};
	ids->count++;
}

void summary_ids_fini(struct summary_ids *ids)
{
	free(ids->table);
	*ids = (struct summary_ids){0};
}
