/* SPDX-License-Identifier: MIT */
/* Where functions stand in the tables of different releases: see calls.h. No side effects. */
#include "calls.h"

#include <string.h>

#include "table.h"

uint32_t calls_entry_count(const struct function_table *table)
{
	return table->version.size < sizeof(table->version)
		       ? 0
		       : (uint32_t)((table->version.size - sizeof(table->version)) /
				    sizeof(void *));
}

/* Functions are in the order of their slots: those before it that this table is too old for are not
 * there, and it has moved up. */
void **calls_entry(struct function_table *table, uint32_t number)
{
	const struct call_function *f = &call_functions[number];
	const uint32_t count = calls_entry_count(table);
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

uint32_t calls_number(const char *name)
{
	uint32_t i = 0;

	while (i < call_function_count && strcmp(call_functions[i].name, name) != 0)
		i++;
	return i;
}

void **calls_find(struct root_table *root, const char *name)
{
	const uint32_t number = calls_number(name);
	struct function_table *table = calls_table(root, call_functions[number].table);

	return table ? calls_entry(table, number) : NULL;
}
