/* SPDX-License-Identifier: MIT */
/*
 * What is allocated: by address, so that a release knows what it gives back. Bounded.
 *
 * Threads: the caller has a lock.
 */
#ifndef STREAMS_HSA_MEMORY_TABLE_H
#define STREAMS_HSA_MEMORY_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Entries at most, 80 MiB. */
#define MEMORY_TABLE_MOST (1u << 20)

struct memory_entry {
	uint64_t key; /* never 0 */
	uint64_t bytes;
	uint64_t pool;
	uint32_t place;   /* the caller's */
	uint32_t holders; /* releases until it is gone */
	uint64_t allocated_ns;
};

/* All zero is an empty table. */
struct memory_table {
	struct memory_entry *entries;
	size_t capacity; /* a power of two, at least twice count */
	size_t count;
};

/* Adds an entry, or replaces the one with its key. False: there is no room for it. */
bool memory_table_add(struct memory_table *table, const struct memory_entry *entry);

/* The entry, or NULL; valid until the table changes. */
struct memory_entry *memory_table_find(const struct memory_table *table, uint64_t key);

void memory_table_remove(struct memory_table *table, struct memory_entry *entry);

#endif
