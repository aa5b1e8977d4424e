/* SPDX-License-Identifier: MIT */
/*
 * The HSA runtime's function tables, as it hands them to a tool's OnLoad: the parts that we
 * use, in C, found by the tables' own sizes at run time.
 *
 * hsa/hsa_api_trace.h describes them, but it is C++ and says only how they were in one release.
 * A table begins with its version; version.size ("minor_id" there) is its sizeof. Tables grow at
 * their end, but for once: ROCm 5.6 put two entries into the middle of the AMD extension
 * table without a new major version. So an entry is looked for at its number in the layout that
 * the size tells, and is there only if the size covers it.
 * tests/unit/streams/hsa/test_hsa_table.cpp holds the numbers against the installed headers.
 *
 * Threads: read in OnLoad; what is read there does not change. No locks.
 */
#ifndef STREAMS_HSA_TABLE_H
#define STREAMS_HSA_TABLE_H

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

/* Numbers of entries in the core table: the same from 5.2 to 7.2. */
enum core_entry {
	CORE_INIT = 0,
	CORE_SHUT_DOWN = 1,
	CORE_SYSTEM_GET_INFO = 2,
	CORE_ITERATE_AGENTS = 5,
	CORE_AGENT_GET_INFO = 6,
	CORE_QUEUE_CREATE = 7,
	CORE_QUEUE_DESTROY = 9,
	CORE_QUEUE_LOAD_READ_INDEX_SCACQUIRE = 11,
	CORE_QUEUE_ADD_WRITE_INDEX_SCACQ_SCREL = 21,
	CORE_QUEUE_ADD_WRITE_INDEX_SCACQUIRE = 22,
	CORE_QUEUE_ADD_WRITE_INDEX_RELAXED = 23,
	CORE_QUEUE_ADD_WRITE_INDEX_SCRELEASE = 24,
	CORE_AGENT_ITERATE_REGIONS = 27,
	CORE_REGION_GET_INFO = 28,
	CORE_MEMORY_COPY = 35,
	CORE_SIGNAL_CREATE = 37,
	CORE_SIGNAL_DESTROY = 38,
	CORE_SIGNAL_LOAD_RELAXED = 39,
	CORE_SIGNAL_LOAD_SCACQUIRE = 40,
	CORE_SIGNAL_STORE_SCRELEASE = 42,
	CORE_SIGNAL_WAIT_RELAXED = 43,
	CORE_SIGNAL_WAIT_SCACQUIRE = 44,
	CORE_SIGNAL_SUBTRACT_SCRELEASE = 67,
	CORE_EXECUTABLE_DESTROY = 84,
	CORE_EXECUTABLE_LOAD_CODE_OBJECT = 85,
	CORE_EXECUTABLE_FREEZE = 86,
	CORE_EXECUTABLE_SYMBOL_GET_INFO = 93,
	CORE_SYSTEM_GET_MAJOR_EXTENSION_TABLE = 98,
	CORE_EXECUTABLE_LOAD_AGENT_CODE_OBJECT = 120,
	CORE_EXECUTABLE_ITERATE_AGENT_SYMBOLS = 123,
};

/* Numbers of entries in the AMD extension table as it was up to 5.5. */
enum amd_entry {
	AMD_PROFILING_SET_PROFILER_ENABLED = 2,
	AMD_PROFILING_ASYNC_COPY_ENABLE = 3,
	AMD_PROFILING_CONVERT_TICK = 6,
	AMD_SIGNAL_ASYNC_HANDLER = 7,
	AMD_SIGNAL_WAIT_ANY = 9,
	AMD_QUEUE_CU_SET_MASK = 10,
	AMD_MEMORY_POOL_GET_INFO = 11,
	AMD_AGENT_ITERATE_MEMORY_POOLS = 12,
	AMD_MEMORY_POOL_ALLOCATE = 13,
	AMD_MEMORY_POOL_FREE = 14,
	AMD_MEMORY_ASYNC_COPY = 15,
	AMD_FIRST_MOVED = 16, /* this one and those after it are 2 further from 5.6 on */
	AMD_AGENTS_ALLOW_ACCESS = 17,
	AMD_MEMORY_FILL = 22,
	AMD_POINTER_INFO = 26,
	AMD_SIGNAL_CREATE = 31,
	AMD_QUEUE_INTERCEPT_CREATE = 35,
	AMD_QUEUE_INTERCEPT_REGISTER = 36,
	AMD_QUEUE_SET_PRIORITY = 37,
	AMD_MEMORY_ASYNC_COPY_RECT = 38,
	/* Entries that came with 5.6, by their number from then on; no overlap with those above. */
	AMD_NEW = 1000,
	AMD_MEMORY_ASYNC_COPY_ON_ENGINE = AMD_NEW + 16,
	AMD_SIGNAL_WAIT_ALL = AMD_NEW + 71,
	AMD_AIS_FILE_READ = AMD_NEW + 75, /* the last of ROCm 7.2 */
	AMD_COUNTED_QUEUE_ACQUIRE = AMD_NEW + 76,
	AMD_MEMORY_ASYNC_BATCH_COPY = AMD_NEW + 78, /* 2026: after those of ROCm 7.2 */
	AMD_QUEUE_CREATE = AMD_NEW + 86, /* not in every table that is large enough: table_amd */
};

/* Entries of the AMD extension table in 5.5, the last release with the old layout. */
#define AMD_ENTRIES_5_5 51

/*
 * A table of that many entries ends without hsa_amd_queue_create: a branch of ROCm 7 (2026) has
 * hsa_amd_image_create_v2 and hsa_amd_interop_map_buffer_with_size where the others have it and
 * one more. No step of the others' growth has this size (87, then 89, 91, 92).
 */
#define AMD_ENTRIES_NO_QUEUE_CREATE 88

static inline uint32_t table_entry_count(const struct function_table *table)
{
	return table->version.size < sizeof(table->version)
		       ? 0
		       : (uint32_t)((table->version.size - sizeof(table->version)) /
				    sizeof(void *));
}

/* Where an entry of the core table is, or NULL if the table ends before it. */
void **table_core(struct function_table *core, enum core_entry entry);

/* The same for the AMD extension table. */
void **table_amd(struct function_table *amd, enum amd_entry entry);

/*
 * Puts a function into an entry, if the table has it, and something is there; what was there goes to
 * *next, a pointer to a function, unless that is NULL. Returns whether it did.
 */
bool table_hook(void **entry, void *function, void *next);

#endif
