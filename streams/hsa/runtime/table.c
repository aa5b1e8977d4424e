/* SPDX-License-Identifier: MIT */
#include "table.h"

enum kind { CORE, AMD, IMAGE };

static const struct place {
	uint8_t kind;
	uint8_t slot;  /* in the newest layout */
	uint8_t since; /* entries of the first table that has it, if it came into the middle */
} places[] = {
#define PLACE(kind, slot, since, calls_back)                                                       \
	{                                                                                          \
		kind, slot, since                                                                  \
	}
#define CALL_FUNCTION(id, name, symbol, category, ctype, of, type, notes, ...)                     \
	[ENTRY_##id] = PLACE notes,
#define CALL_PROCEDURE CALL_FUNCTION
#define CALL_ENUMERATION(...)
#include "hsa/calls.def"
	[ENTRY_hsa_amd_counted_queue_acquire] = {AMD, 76, 0},
	[ENTRY_hsa_amd_memory_async_batch_copy] = {AMD, 78, 0},
	[ENTRY_hsa_amd_queue_create] = {AMD, 86, 0},
};

/* Entries of a branch of ROCm 7 (2026) that has hsa_amd_image_create_v2 and hsa_amd_interop_map_buffer_with_size in the
 * place of hsa_amd_queue_create and one more. Others never have this size (87, then 89, 91, 92). */
#define ENTRIES_WITHOUT_QUEUE_CREATE 88

void **table_place(struct function_table *table, enum table_function function)
{
	const struct place *place = &places[function];
	const uint32_t count = table_entry_count(table);
	uint32_t slot = place->slot;

	if (place->since > count ||
	    (function == ENTRY_hsa_amd_queue_create && count == ENTRIES_WITHOUT_QUEUE_CREATE))
		return NULL;
	/* Those before it that this table is too old for are not there, and it has moved up. */
	for (int i = 0; i < TABLE_FUNCTIONS; i++)
		slot -= places[i].kind == place->kind && places[i].slot < place->slot &&
			places[i].since > count;
	return slot < count ? &table->entries[slot] : NULL;
}

void **table_entry(struct root_table *root, enum table_function function)
{
	struct function_table *const tables[] = {
		[CORE] = root->core,
		[AMD] = root->amd,
		[IMAGE] = root->version.size > offsetof(struct root_table, image) ? root->image
										  : NULL,
	};
	struct function_table *table = tables[places[function].kind];

	return table ? table_place(table, function) : NULL;
}

bool table_hook(struct root_table *root, enum table_function function, void *ours, void *next)
{
	void **entry = table_entry(root, function);

	if (!entry || !*entry)
		return false;
	if (next)
		*(void **)next = *entry;
	*entry = ours;
	return true;
}
