/* SPDX-License-Identifier: MIT */
/* HIP's dispatch table: see preload.h. Source: hip/amd_detail/hip_api_trace.hpp; table.def. */
#include <rtl/publish.h>
#include <stddef.h>
#include <stdint.h>

#include "calls.h"
#include "preload.h"
#include "real.h"

struct hip_table {
	uint64_t size; /* of all of it, bytes */
	void *entries[];
};

#define HIP_TABLE(name) #name,
static const char *const names[] = {
#include "table.def"
};

/* Relaxed: set while HIP begins, before anything can ask. */
static const struct hip_table *taken;

bool hip_table_taken(void)
{
	return __atomic_load_n(&taken, __ATOMIC_RELAXED) != NULL;
}

static bool is_usable(const struct hip_table *table)
{
	return table && table->size > sizeof(*table) && table->size % sizeof(void *) == 0 &&
	       table->size < 65536;
}

void hip_table_take(void *handed)
{
	struct hip_table *table = handed;
	size_t count;

	if (!hip_mode_has_calls() || table == taken)
		return;
	if (hip_table_taken() || !is_usable(table)) {
		rtl_log(RTL_LEVEL_WARNING, "hip", "a table of HIP is not used: %s",
			hip_table_taken() ? "a second HIP is in this process" : "its size is none");
		return;
	}
	__atomic_store_n(&taken, table, __ATOMIC_RELAXED);
	count = (table->size - sizeof(*table)) / sizeof(void *);
	for (size_t i = 0; i < count && i < sizeof(names) / sizeof(*names); i++) {
		const enum hip_id id = hip_find_function(names[i]);
		void *ours =
			id == HIP_FUNCTIONS || !table->entries[i] ? NULL : hip_find_ours(names[i]);

		if (!ours)
			continue;
		hip_set_real(id, (hip_any_fn)table->entries[i]);
		table->entries[i] = ours;
	}
}
