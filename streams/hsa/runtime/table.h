/* SPDX-License-Identifier: MIT */
/*
 * The HSA runtime's function tables, as a tool's OnLoad gets them: the parts that we use, in C, found by the tables'
 * own sizes at run time.
 *
 * hsa/hsa_api_trace.h describes them, in C++ and for one release. A table begins with its version; version.size
 * ("minor_id" there) is its sizeof. Tables grow at their end, except that ROCm 5.5 and 5.6 put entries into the
 * middle of the AMD extension table without a new major version. So an entry is looked for at its place in the layout
 * that the size tells, and is there only if the size covers it.
 *
 * Threads: read in OnLoad; what is read there does not change. No locks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_version {
	uint32_t major;
	uint32_t size; /* of the table that it heads, bytes */
	uint32_t step;
	uint32_t reserved;
};

/* Function tables: entries follow the version, each of a pointer's size. */
struct function_table {
	struct table_version version;
	void *entries[];
};

/* The root that OnLoad is given; later tables follow, which we do not need. */
struct root_table {
	struct table_version version;
	struct function_table *core;
	struct function_table *amd;
	struct function_table *finalizer;
	struct function_table *image;
};

/* The functions of calls.table, from which the build makes calls.def. */
enum table_function {
#define CALL_FUNCTION(id, ...)  ENTRY_##id,
#define CALL_PROCEDURE(id, ...) ENTRY_##id,
#define CALL_ENUMERATION(...)
#include "hsa/calls.def"
	TABLE_FUNCTIONS,
#undef CALL_FUNCTION
#undef CALL_PROCEDURE
#undef CALL_ENUMERATION
	/* Of the AMD extension table in 2026, after those of ROCm 7.2, which calls.table has. */
	ENTRY_hsa_amd_counted_queue_acquire = TABLE_FUNCTIONS,
	ENTRY_hsa_amd_memory_async_batch_copy,
	ENTRY_hsa_amd_queue_create, /* not in every table that is large enough: table.c */
};

static inline uint32_t table_entry_count(const struct function_table *table)
{
	return table->version.size < sizeof(table->version)
		       ? 0
		       : (uint32_t)((table->version.size - sizeof(table->version)) /
				    sizeof(void *));
}

/* Where a function stands in a table of its kind, whose size tells the layout; NULL: the table is too old for it. */
void **table_place(struct function_table *table, enum table_function function);

/* The same in the runtime's tables; NULL also where there is no such table. */
void **table_entry(struct root_table *root, enum table_function function);

/*
 * Puts a function into the place of one, if the tables have it, and something is there; what was there goes to
 * *next, a pointer to a function, unless that is NULL. Returns whether it did.
 */
bool table_hook(struct root_table *root, enum table_function function, void *ours, void *next);
