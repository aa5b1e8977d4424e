/* SPDX-License-Identifier: MIT */
#include "calls.h"

#define CALL_TABLE "hsa/calls.def"
#include "../call/tables.h"

#define HAS_STATUS_e true
#define HAS_STATUS_i false
#define HAS_STATUS_n false

#define CALLS_BACK_OF(table, slot, since, calls_back) calls_back

#define CALL_FUNCTION(id, name_, symbol, category, ctype, kind, type, notes, parameters, names,    \
		      arguments)                                                                   \
	{                                                                                          \
		.name = name_,                                                                     \
		.signature = CALL_SIGNATURE(id, arguments),                                        \
		.types = types_of_##id,                                                            \
		.has_status = HAS_STATUS_##kind,                                                   \
		.calls_back = CALLS_BACK_OF notes,                                                 \
	},
const struct call_function call_functions[TABLE_FUNCTIONS] = {
#include "hsa/calls.def"
};
#undef CALL_FUNCTION

struct call_function_ids call_function_ids[TABLE_FUNCTIONS];

struct call_enumeration *calls_statuses(void)
{
	return call_enumeration_of("hsa_status_t");
}
