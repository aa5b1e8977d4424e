/* SPDX-License-Identifier: MIT
 *
 * Regions: the allocations that a front end knows of, by device address. The thunk keeps all
 * that it must know about memory in them; code objects are looked for inside them.
 *
 * Threads: any. The table has one lock; sg_region_find() and the functions that change the
 * table are called with it held, sg_region_bounds() takes it itself.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* To be embedded as first member of what the owner knows. */
struct sg_region {
	uintptr_t base;
	size_t size_bytes;
};

void sg_regions_lock(void);
void sg_regions_unlock(void);

/* In the child after a fork: forget everything, whoever held the lock. */
void sg_regions_reset(void);

/* The region stays the caller's, at its address. false: out of memory. */
bool sg_region_insert(struct sg_region *region);
void sg_region_remove(const struct sg_region *region);

/* The region with the highest base that contains address, or NULL. */
struct sg_region *sg_region_find(uintptr_t address);

/* The same as a copy; size 0 when there is none. */
struct sg_region sg_region_bounds(uintptr_t address);
