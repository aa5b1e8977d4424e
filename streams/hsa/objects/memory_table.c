/* SPDX-License-Identifier: MIT */
/* What is allocated: see memory_table.h. Open addressing, linear probing, no tombstones. */
#include "memory.h"

#include <stdlib.h>

static size_t home(const struct memory_table *table, uint64_t key)
{
	return (size_t)((key ^ key >> 29) * 0x9e3779b97f4a7c15u >> 20) & (table->capacity - 1);
}

/* Where the key is, or would be. */
static struct memory_entry *slot(const struct memory_table *table, uint64_t key)
{
	size_t i = home(table, key);

	while (table->entries[i].key && table->entries[i].key != key)
		i = (i + 1) & (table->capacity - 1);
	return &table->entries[i];
}

static bool grow(struct memory_table *table)
{
	struct memory_table larger = {.capacity = table->capacity ? 2 * table->capacity : 256};

	if (larger.capacity > 2 * (size_t)MEMORY_TABLE_MOST)
		return false;
	larger.entries = calloc(larger.capacity, sizeof(*larger.entries));
	if (!larger.entries)
		return false;
	for (size_t i = 0; i < table->capacity; i++) {
		if (table->entries[i].key)
			*slot(&larger, table->entries[i].key) = table->entries[i];
	}
	larger.count = table->count;
	free(table->entries);
	*table = larger;
	return true;
}

bool memory_table_add(struct memory_table *table, const struct memory_entry *entry)
{
	struct memory_entry *place;

	if (2 * table->count >= table->capacity && !grow(table))
		return false;
	place = slot(table, entry->key);
	table->count += !place->key;
	*place = *entry;
	return true;
}

struct memory_entry *memory_table_find(const struct memory_table *table, uint64_t key)
{
	struct memory_entry *place = table->capacity ? slot(table, key) : NULL;

	return place && place->key ? place : NULL;
}

/* Entries behind it that its place kept from theirs move up. */
void memory_table_remove(struct memory_table *table, struct memory_entry *entry)
{
	const size_t mask = table->capacity - 1;
	size_t hole = (size_t)(entry - table->entries);

	table->count--;
	for (size_t i = (hole + 1) & mask; table->entries[i].key; i = (i + 1) & mask) {
		const size_t from_home = (i - home(table, table->entries[i].key)) & mask;

		if (from_home < ((i - hole) & mask))
			continue;
		table->entries[hole] = table->entries[i];
		hole = i;
	}
	table->entries[hole].key = 0;
}
