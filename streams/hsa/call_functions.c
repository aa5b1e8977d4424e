/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "calls.h"
#include "table.h"

#define CALL_TABLE "hsa/calls.def"
#include "../call/tables.h"

#define HAS_STATUS_e true
#define HAS_STATUS_i false
#define HAS_STATUS_n false

#define TABLE_OF(table, slot, since, calls_back)      CALL_TABLE_##table
#define SLOT_OF(table, slot, since, calls_back)       slot
#define SINCE_OF(table, slot, since, calls_back)      since
#define CALLS_BACK_OF(table, slot, since, calls_back) calls_back

#define CALL_FUNCTION(id, name_, symbol, category, ctype, kind, type, notes, parameters, names,    \
		      arguments)                                                                   \
	{                                                                                          \
		.name = name_,                                                                     \
		.signature = CALL_SIGNATURE(id, arguments),                                        \
		.types = types_of_##id,                                                            \
		.table = TABLE_OF notes,                                                           \
		.slot = SLOT_OF notes,                                                             \
		.since = SINCE_OF notes,                                                           \
		.has_status = HAS_STATUS_##kind,                                                   \
		.calls_back = CALLS_BACK_OF notes,                                                 \
	},
const struct call_function call_functions[] = {
#include "hsa/calls.def"
};
#undef CALL_FUNCTION

const uint32_t call_function_count = CALL_COUNT(call_functions);
struct call_function_ids call_function_ids[CALL_COUNT(call_functions)];

struct call_enumeration *calls_statuses(void)
{
	for (size_t i = 0; i < CALL_COUNT(call_enumerations); i++)
		if (!strcmp(call_enumerations[i].type, "hsa_status_t"))
			return &call_enumerations[i];
	return NULL;
}

/* ---- where functions stand in the tables of different releases */

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
