/* SPDX-License-Identifier: MIT */
#include "region.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Regions nest only where a program registers a part of what it had registered. */
#define NESTING_MAX 8

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sg_region **table; /* by base */
static size_t count, capacity;

void sg_regions_lock(void)
{
	pthread_mutex_lock(&lock);
}

void sg_regions_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void sg_regions_reset(void)
{
	pthread_mutex_init(&lock, NULL);
	count = 0;
}

/* Index of the first region whose base is above address. */
static size_t index_above(uintptr_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (table[middle]->base > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

bool sg_region_insert(struct sg_region *region)
{
	size_t at;

	if (count == capacity) {
		size_t wanted = capacity ? 2 * capacity : 256;
		struct sg_region **grown = realloc(table, wanted * sizeof(*table));

		if (!grown)
			return false;
		table = grown;
		capacity = wanted;
	}
	at = index_above(region->base);
	memmove(table + at + 1, table + at, (count - at) * sizeof(*table));
	table[at] = region;
	count++;
	return true;
}

void sg_region_remove(const struct sg_region *region)
{
	size_t at = index_above(region->base);

	while (at-- > 0)
		if (table[at] == region) {
			memmove(table + at, table + at + 1, (count - at - 1) * sizeof(*table));
			count--;
			return;
		}
}

struct sg_region *sg_region_find(uintptr_t address)
{
	size_t at = index_above(address);

	for (int tries = 0; at-- > 0 && tries < NESTING_MAX; tries++)
		if (address - table[at]->base < table[at]->size_bytes)
			return table[at];
	return NULL;
}

struct sg_region sg_region_bounds(uintptr_t address)
{
	struct sg_region result = {0};
	const struct sg_region *found;

	pthread_mutex_lock(&lock);
	found = sg_region_find(address);
	if (found)
		result = *found;
	pthread_mutex_unlock(&lock);
	return result;
}
