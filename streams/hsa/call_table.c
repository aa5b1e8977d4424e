/* SPDX-License-Identifier: MIT */
/* Where functions stand in the tables of different releases: see calls.h. No side effects. */
#include "calls.h"
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
