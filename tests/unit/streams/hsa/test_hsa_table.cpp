/* SPDX-License-Identifier: MIT */
/*
 * Our C declaration of the HSA runtime's tables against hsa/hsa_api_trace.h: checked by the
 * compiler, for the installed ROCm and, as a second test, for the fetched ROCm 7. The program then finds
 * entries by table size; test_hsa_calls.cpp holds the place of each against the headers.
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

#define OFFSET(number) (sizeof(table_version) + (number) * sizeof(void *))

static_assert(sizeof(table_version) == sizeof(ApiTableVersion), "version");
static_assert(offsetof(table_version, size) == offsetof(ApiTableVersion, minor_id), "version");
static_assert(offsetof(root_table, core) == offsetof(HsaApiTable, core_), "root");
static_assert(offsetof(root_table, amd) == offsetof(HsaApiTable, amd_ext_), "root");
static_assert(offsetof(root_table, finalizer) == offsetof(HsaApiTable, finalizer_ext_), "root");
static_assert(offsetof(root_table, image) == offsetof(HsaApiTable, image_ext_), "root");

static int failures;

static void expect(bool condition, const char *what)
{
	if (!condition) {
		printf("FAILED: %s\n", what);
		failures++;
	}
}

/* A table of that many entries. */
static void check_size(size_t entries)
{
	std::vector<void *> memory(sizeof(table_version) / sizeof(void *) + entries);
	function_table *table = reinterpret_cast<function_table *>(memory.data());
	const size_t moved = entries > 54 ? 2 : 0;
	root_table root = {};
	void **entry;

	root.version.size = sizeof(root);
	root.core = root.amd = table;
	table->version = {1, static_cast<uint32_t>(OFFSET(entries)), 0, 0};
	entry = table_entry(&root, ENTRY_hsa_amd_memory_async_copy);
	expect(entry == (entries > 15 ? table->entries + 15 : nullptr),
	       "an entry before those that moved");
	entry = table_entry(&root, ENTRY_hsa_amd_queue_intercept_create);
	expect(entry == (entries > 35 ? table->entries + 35 + moved : nullptr),
	       "an entry that moved");
	entry = table_entry(&root, ENTRY_hsa_amd_memory_async_copy_on_engine);
	expect(entry == (moved ? table->entries + 16 : nullptr), "an entry that came later");
	entry = table_entry(&root, ENTRY_hsa_amd_queue_create);
	expect(entry == (entries == 87 || entries > 88 ? table->entries + 86 : nullptr),
	       "an entry that came later still");
	entry = table_entry(&root, ENTRY_hsa_queue_create);
	expect(entry == (entries > 7 ? table->entries + 7 : nullptr), "an entry of the core table");
	expect(!table_entry(&root, ENTRY_hsa_ext_image_create), "a table that is not there");
}

int main()
{
	for (size_t entries = 0; entries < 100; entries++)
		check_size(entries);
	std::vector<void *> memory(2);
	function_table *table = reinterpret_cast<function_table *>(memory.data());
	expect(!table_place(table, ENTRY_hsa_queue_create), "a table whose size is 0");
	puts(failures ? "failed" : "ok");
	return failures != 0;
}
