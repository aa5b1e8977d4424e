/* SPDX-License-Identifier: MIT */
/* Where functions stand in the tables of different releases: see calls.h. No side effects. */
#include "calls.h"

#include "table.h"

/* Functions are in the order of their slots: those before it that this table is too old for are not
 * there, and it has moved up. */
void **calls_entry(struct function_table *table, uint32_t number)
{
	const struct call_function *f = &call_functions[number];
	const uint32_t count = table_entry_count(table);
	uint32_t slot = f->slot;

	if (f->since > count)
		return NULL;
	for (uint32_t i = number - f->slot; i < number; i++)
		slot -= call_functions[i].since > count;
	return slot < count ? &table->entries[slot] : NULL;
}

struct function_table *calls_table(struct root_table *root, enum call_table which)
{
	if (which == CALL_TABLE_CORE)
		return root->core;
	if (which == CALL_TABLE_AMD)
		return root->amd;
	return root->version.size > offsetof(struct root_table, image) ? root->image : NULL;
}
