/* SPDX-License-Identifier: MIT */
/* A map from 64-bit keys to pointers of entries that are never removed or changed.
 *
 * Threads: table_find takes no lock; the caller's lock serialises inserts. Outgrown arrays stay until the table
 * is freed, as readers may be in them: together they are smaller than the newest. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct table_slot {
	uint64_t key; /* written before entry; 0 = free */
	void *entry;  /* release by table_insert, acquire by table_find */
};

struct table_array {
	struct table_array *older;
	size_t mask;
	uint32_t shift; /* 64 - log2 of the slots */
	struct table_slot slots[];
};

struct table {
	struct table_array *array; /* release by growing, acquire by table_find */
	size_t count;
};

/* Where a key's search begins: the upper bits of a product, so that keys with a pattern spread. */
static inline size_t table_begin(const struct table_array *array, uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15u >> array->shift);
}

/* The entry of a key, or NULL. */
static inline void *table_find(const struct table *table, uint64_t key)
{
	const struct table_array *array = __atomic_load_n(&table->array, __ATOMIC_ACQUIRE);

	if (!array)
		return NULL;
	for (size_t i = table_begin(array, key);; i = (i + 1) & array->mask) {
		void *entry = __atomic_load_n(&array->slots[i].entry, __ATOMIC_ACQUIRE);

		if (!entry)
			return NULL;
		if (array->slots[i].key == key)
			return entry;
	}
}

/* Adds a key that is not there yet. 0 or RTL_ENOMEM. */
int table_insert(struct table *table, uint64_t key, void *entry);

/* Calls fn with each entry, under the inserters' lock. */
void table_each(const struct table *table, void (*fn)(void *user, void *entry), void *user);

/* Frees the arrays, not the entries. */
void table_fini(struct table *table);
