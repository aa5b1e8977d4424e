/* SPDX-License-Identifier: MIT */
/* See pairing.h. Linear probing; a place that becomes free is filled by what probed past it. */
#include "pairing.h"

#include <stdlib.h>

void pairing_fini(struct pairing *pairing)
{
	free(pairing->table);
	*pairing = (struct pairing){0};
}

static size_t home(size_t size, const struct pairing_begin *begin)
{
	uint64_t hash = (begin->instance ^ (uint64_t)begin->process << 48 ^
			 (uint64_t)(uintptr_t)begin->owner << 16) *
			0x9e3779b97f4a7c15u;

	return (hash ^ hash >> 32) & (size - 1);
}

/* Where such a begin is, or the free place where it would go. */
static size_t find(const struct pairing_begin *table, size_t size,
		   const struct pairing_begin *begin)
{
	size_t i = home(size, begin);

	while (table[i].owner &&
	       (table[i].instance != begin->instance || table[i].owner != begin->owner ||
		table[i].process != begin->process))
		i = (i + 1) & (size - 1);
	return i;
}

static bool grow(struct pairing *pairing)
{
	size_t size = pairing->size ? pairing->size * 2 : 256;
	struct pairing_begin *table = calloc(size, sizeof(*table));

	if (!table)
		return false;
	for (size_t i = 0; i < pairing->size; i++) {
		if (pairing->table[i].owner)
			table[find(table, size, &pairing->table[i])] = pairing->table[i];
	}
	free(pairing->table);
	pairing->table = table;
	pairing->size = size;
	return true;
}

bool pairing_put(struct pairing *pairing, const struct pairing_begin *begin)
{
	if (2 * (pairing->count + 1) > pairing->size &&
	    (pairing->count >= PAIRING_MAX || !grow(pairing)))
		return false;
	size_t i = find(pairing->table, pairing->size, begin);
	if (pairing->table[i].owner)
		return false;
	pairing->table[i] = *begin;
	pairing->count++;
	return true;
}

bool pairing_take(struct pairing *pairing, struct pairing_begin *begin)
{
	const size_t mask = pairing->size - 1;
	struct pairing_begin *table = pairing->table;

	if (!pairing->size)
		return false;
	size_t hole = find(table, pairing->size, begin);
	if (!table[hole].owner)
		return false;
	*begin = table[hole];
	pairing->count--;
	for (size_t i = (hole + 1) & mask; table[i].owner; i = (i + 1) & mask) {
		/* May move to the hole unless its home lies between the hole and here. */
		if (((i - home(pairing->size, &table[i])) & mask) < ((i - hole) & mask))
			continue;
		table[hole] = table[i];
		hole = i;
	}
	table[hole].owner = NULL;
	return true;
}

size_t pairing_waiting(const struct pairing *pairing, const void *owner)
{
	size_t count = 0;

	for (size_t i = 0; i < pairing->size; i++)
		count += pairing->table[i].owner == owner;
	return count;
}
