/* SPDX-License-Identifier: MIT
 *
 * Address space: where the host has what a GPU sees at an address. That is the same address, but for memory of the
 * program's own that the driver was told to map elsewhere, and memory that it was told to hide from the program.
 *
 * Threads: sg_host() for any. The caller of sg_space_move() sees to it that nobody uses the range.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_PAGE_SHIFT  12
#define SG_TABLE_SHIFT 30 /* what one table is for */
#define SG_TABLES      (1u << (47 - SG_TABLE_SHIFT))
#define SG_TABLE_PAGES (1u << (SG_TABLE_SHIFT - SG_PAGE_SHIFT))

/* For each page what is to be added to its address; no table: nothing. */
extern _Atomic int64_t *_Atomic sg_space[SG_TABLES];

/* The host's pointer to what is at a device address. */
static inline void *sg_host(uint64_t address)
{
	const _Atomic int64_t *table = __atomic_load_n(
		&sg_space[address >> SG_TABLE_SHIFT & (SG_TABLES - 1)], __ATOMIC_ACQUIRE);

	if (__builtin_expect(table != NULL, 0))
		address += (uint64_t)table[address >> SG_PAGE_SHIFT & (SG_TABLE_PAGES - 1)];
	return (void *)(uintptr_t)address;
}

/* From here on the pages at `address` are the host's at `host`. False: no memory. */
bool sg_space_move(uint64_t address, uint64_t host, size_t bytes);

/* In the child after a fork: all is as it was. */
void sg_space_reset(void);
