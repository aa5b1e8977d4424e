/* SPDX-License-Identifier: MIT */
#include "table.h"

static void **entry_at(struct function_table *table, size_t number)
{
	return number < table_entry_count(table) ? &table->entries[number] : NULL;
}

void **table_core(struct function_table *core, enum core_entry entry)
{
	return entry_at(core, entry);
}

void **table_amd(struct function_table *amd, enum amd_entry entry)
{
	const bool moved = table_entry_count(amd) > AMD_ENTRIES_5_5;

	if (entry == AMD_QUEUE_CREATE && table_entry_count(amd) == AMD_ENTRIES_NO_QUEUE_CREATE)
		return NULL;
	if (entry >= AMD_NEW)
		return moved ? entry_at(amd, entry - AMD_NEW) : NULL;
	return entry_at(amd, moved && entry >= AMD_FIRST_MOVED ? entry + 2u : entry);
}

bool table_hook(void **entry, void *function, void *next)
{
	if (!entry || !*entry)
		return false;
	if (next)
		*(void **)next = *entry;
	*entry = function;
	return true;
}
