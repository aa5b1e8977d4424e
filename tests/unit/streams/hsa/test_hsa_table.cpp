/* SPDX-License-Identifier: MIT */
/*
 * Our C declaration of the HSA runtime's tables against hsa/hsa_api_trace.h: checked by the
 * compiler, for the installed ROCm and, as a second test, for the fetched ROCm 7 (which layout
 * applies is told by HSA_TABLE_MOVED). The program then finds entries by table size.
 */
#ifndef AMD_INTERNAL_BUILD
#	define AMD_INTERNAL_BUILD
#endif
#include <hsa/hsa_api_trace.h>

#include <stdio.h>
#include <vector>

extern "C" {
#include "../../streams/hsa/runtime/table.h"
}

#define OFFSET(number)     (sizeof(table_version) + (number) * sizeof(void *))
#define CORE(number, name) static_assert(offsetof(CoreApiTable, name##_fn) == OFFSET(number), #name)
#define AMD(number, name)                                                                          \
	static_assert(offsetof(AmdExtTable, name##_fn) ==                                          \
			      OFFSET((number) +                                                    \
				     (HSA_TABLE_MOVED && (number) >= AMD_FIRST_MOVED ? 2 : 0)),    \
		      #name)

static_assert(sizeof(table_version) == sizeof(ApiTableVersion), "version");
static_assert(offsetof(table_version, size) == offsetof(ApiTableVersion, minor_id), "version");
static_assert(offsetof(root_table, core) == offsetof(HsaApiTable, core_), "root");
static_assert(offsetof(root_table, amd) == offsetof(HsaApiTable, amd_ext_), "root");
static_assert(offsetof(root_table, finalizer) == offsetof(HsaApiTable, finalizer_ext_), "root");
static_assert(offsetof(root_table, image) == offsetof(HsaApiTable, image_ext_), "root");

CORE(CORE_INIT, hsa_init);
CORE(CORE_SHUT_DOWN, hsa_shut_down);
CORE(CORE_SYSTEM_GET_INFO, hsa_system_get_info);
CORE(CORE_ITERATE_AGENTS, hsa_iterate_agents);
CORE(CORE_AGENT_GET_INFO, hsa_agent_get_info);
CORE(CORE_QUEUE_CREATE, hsa_queue_create);
CORE(CORE_QUEUE_DESTROY, hsa_queue_destroy);
CORE(CORE_QUEUE_LOAD_READ_INDEX_SCACQUIRE, hsa_queue_load_read_index_scacquire);
CORE(CORE_QUEUE_ADD_WRITE_INDEX_SCACQ_SCREL, hsa_queue_add_write_index_scacq_screl);
CORE(CORE_QUEUE_ADD_WRITE_INDEX_SCACQUIRE, hsa_queue_add_write_index_scacquire);
CORE(CORE_QUEUE_ADD_WRITE_INDEX_RELAXED, hsa_queue_add_write_index_relaxed);
CORE(CORE_QUEUE_ADD_WRITE_INDEX_SCRELEASE, hsa_queue_add_write_index_screlease);
CORE(CORE_AGENT_ITERATE_REGIONS, hsa_agent_iterate_regions);
CORE(CORE_REGION_GET_INFO, hsa_region_get_info);
CORE(CORE_MEMORY_COPY, hsa_memory_copy);
CORE(CORE_SIGNAL_CREATE, hsa_signal_create);
CORE(CORE_SIGNAL_DESTROY, hsa_signal_destroy);
CORE(CORE_SIGNAL_LOAD_RELAXED, hsa_signal_load_relaxed);
CORE(CORE_SIGNAL_LOAD_SCACQUIRE, hsa_signal_load_scacquire);
CORE(CORE_SIGNAL_STORE_SCRELEASE, hsa_signal_store_screlease);
CORE(CORE_SIGNAL_WAIT_RELAXED, hsa_signal_wait_relaxed);
CORE(CORE_SIGNAL_WAIT_SCACQUIRE, hsa_signal_wait_scacquire);
CORE(CORE_SIGNAL_SUBTRACT_SCRELEASE, hsa_signal_subtract_screlease);
CORE(CORE_EXECUTABLE_DESTROY, hsa_executable_destroy);
CORE(CORE_EXECUTABLE_LOAD_CODE_OBJECT, hsa_executable_load_code_object);
CORE(CORE_EXECUTABLE_FREEZE, hsa_executable_freeze);
CORE(CORE_EXECUTABLE_SYMBOL_GET_INFO, hsa_executable_symbol_get_info);
CORE(CORE_SYSTEM_GET_MAJOR_EXTENSION_TABLE, hsa_system_get_major_extension_table);
CORE(CORE_EXECUTABLE_LOAD_AGENT_CODE_OBJECT, hsa_executable_load_agent_code_object);
CORE(CORE_EXECUTABLE_ITERATE_AGENT_SYMBOLS, hsa_executable_iterate_agent_symbols);

AMD(AMD_PROFILING_SET_PROFILER_ENABLED, hsa_amd_profiling_set_profiler_enabled);
AMD(AMD_PROFILING_ASYNC_COPY_ENABLE, hsa_amd_profiling_async_copy_enable);
AMD(AMD_PROFILING_CONVERT_TICK, hsa_amd_profiling_convert_tick_to_system_domain);
AMD(AMD_SIGNAL_ASYNC_HANDLER, hsa_amd_signal_async_handler);
AMD(AMD_SIGNAL_WAIT_ANY, hsa_amd_signal_wait_any);
AMD(AMD_QUEUE_CU_SET_MASK, hsa_amd_queue_cu_set_mask);
AMD(AMD_MEMORY_POOL_GET_INFO, hsa_amd_memory_pool_get_info);
AMD(AMD_AGENT_ITERATE_MEMORY_POOLS, hsa_amd_agent_iterate_memory_pools);
AMD(AMD_MEMORY_POOL_ALLOCATE, hsa_amd_memory_pool_allocate);
AMD(AMD_MEMORY_POOL_FREE, hsa_amd_memory_pool_free);
AMD(AMD_MEMORY_ASYNC_COPY, hsa_amd_memory_async_copy);
AMD(AMD_AGENTS_ALLOW_ACCESS, hsa_amd_agents_allow_access);
AMD(AMD_MEMORY_FILL, hsa_amd_memory_fill);
AMD(AMD_POINTER_INFO, hsa_amd_pointer_info);
AMD(AMD_SIGNAL_CREATE, hsa_amd_signal_create);
AMD(AMD_QUEUE_INTERCEPT_CREATE, hsa_amd_queue_intercept_create);
AMD(AMD_QUEUE_INTERCEPT_REGISTER, hsa_amd_queue_intercept_register);
AMD(AMD_QUEUE_SET_PRIORITY, hsa_amd_queue_set_priority);
AMD(AMD_MEMORY_ASYNC_COPY_RECT, hsa_amd_memory_async_copy_rect);
#if HSA_TABLE_MOVED
static_assert(offsetof(AmdExtTable, hsa_amd_memory_async_copy_on_engine_fn) ==
		      OFFSET(AMD_MEMORY_ASYNC_COPY_ON_ENGINE - AMD_NEW),
	      "hsa_amd_memory_async_copy_on_engine");
static_assert(offsetof(AmdExtTable, hsa_amd_signal_wait_all_fn) ==
		      OFFSET(AMD_SIGNAL_WAIT_ALL - AMD_NEW),
	      "hsa_amd_signal_wait_all");
static_assert(sizeof(AmdExtTable) > OFFSET(AMD_ENTRIES_5_5), "layout by size");
#else
static_assert(sizeof(AmdExtTable) <= OFFSET(AMD_ENTRIES_5_5), "layout by size");
#endif

static int failures;

static void expect(bool condition, const char *what)
{
	if (!condition) {
		printf("FAILED: %s\n", what);
		failures++;
	}
}

/* A table of that many entries, each of which points to itself. */
static void check_size(size_t entries)
{
	std::vector<void *> memory(sizeof(table_version) / sizeof(void *) + entries);
	function_table *table = reinterpret_cast<function_table *>(memory.data());
	const size_t moved = entries > AMD_ENTRIES_5_5 ? 2 : 0;
	void **entry;

	table->version = {1, static_cast<uint32_t>(OFFSET(entries)), 0, 0};
	entry = table_amd(table, AMD_MEMORY_ASYNC_COPY);
	expect(entry == (entries > AMD_MEMORY_ASYNC_COPY ? table->entries + AMD_MEMORY_ASYNC_COPY
							 : nullptr),
	       "an entry before those that moved");
	entry = table_amd(table, AMD_QUEUE_INTERCEPT_CREATE);
	expect(entry == (entries > AMD_QUEUE_INTERCEPT_CREATE
				 ? table->entries + AMD_QUEUE_INTERCEPT_CREATE + moved
				 : nullptr),
	       "an entry that moved");
	entry = table_amd(table, AMD_MEMORY_ASYNC_COPY_ON_ENGINE);
	expect(entry == (moved ? table->entries + 16 : nullptr), "an entry that came later");
	entry = table_amd(table, AMD_QUEUE_CREATE);
	expect(entry == (entries == 87 || entries > 88 ? table->entries + 86 : nullptr),
	       "an entry that came later still");
	entry = table_core(table, CORE_QUEUE_CREATE);
	expect(entry ==
		       (entries > CORE_QUEUE_CREATE ? table->entries + CORE_QUEUE_CREATE : nullptr),
	       "an entry of the core table");
}

int main()
{
	for (size_t entries = 0; entries < 100; entries++)
		check_size(entries);
	std::vector<void *> memory(2);
	function_table *table = reinterpret_cast<function_table *>(memory.data());
	expect(!table_core(table, CORE_QUEUE_CREATE), "a table whose size is 0");
	puts(failures ? "failed" : "ok");
	return failures != 0;
}
