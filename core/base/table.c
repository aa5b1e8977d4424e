/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <stdlib.h>

#include <rtl/types.h>

static void put(struct table_array *array, uint64_t key, void *entry)
{
	size_t i = table_begin(array, key);

	while (array->slots[i].entry)
		i = (i + 1) & array->mask;
	array->slots[i].key = key;
	/* release: with the acquire of table_find, which then reads the key and the entry */
	__atomic_store_n(&array->slots[i].entry, entry, __ATOMIC_RELEASE);
}

static int grow(struct table *table)
{
	struct table_array *old = table->array, *array;
	size_t slots = old ? 2 * (old->mask + 1) : 64;

	array = calloc(1, sizeof(*array) + slots * sizeof(*array->slots));
	if (!array)
		return RTL_ENOMEM;
	array->mask = slots - 1;
	array->shift = 64 - (uint32_t)__builtin_ctzll(slots);
	array->older = old;
	for (size_t i = 0; old && i <= old->mask; i++)
		if (old->slots[i].entry)
			put(array, old->slots[i].key, old->slots[i].entry);
	__atomic_store_n(&table->array, array, __ATOMIC_RELEASE); /* pairs with table_find */
	return 0;
}

int table_insert(struct table *table, uint64_t key, void *entry)
{
	if (!table->array || table->count * 4 >= (table->array->mask + 1) * 3) {
		int err = grow(table);

		if (err)
			return err;
	}
	put(table->array, key, entry);
	table->count++;
	return 0;
}

void table_each(const struct table *table, void (*fn)(void *user, void *entry), void *user)
{
	for (size_t i = 0; table->array && i <= table->array->mask; i++)
		if (table->array->slots[i].entry)
			fn(user, table->array->slots[i].entry);
}

void table_fini(struct table *table)
{
	struct table_array *array = table->array;

	while (array) {
		struct table_array *older = array->older;

		free(array);
		array = older;
	}
	table->array = NULL;
	table->count = 0;
}
