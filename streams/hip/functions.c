/* SPDX-License-Identifier: MIT */
#include "functions.h"

#include <string.h>

#define HIP_EXCLUDED(...)
#define CALL_TABLE "../hip/functions.def"
#include "../call/tables.h"

#define RESULT_e 'e'
#define RESULT_i 'i'
#define RESULT_a 'a'
#define RESULT_s 's'
#define RESULT_n 'n'

#define STREAM_OF(stream, device) stream
#define DEVICE_OF(stream, device) device

#define CALL_FUNCTION(id, name_, symbol_, category_, ctype, kind, type, notes, parameters, names,  \
		      arguments)                                                                   \
	[HIP_ID_##id] = {                                                                          \
		.name = name_,                                                                     \
		.symbol = symbol_,                                                                 \
		.category = category_,                                                             \
		.result_type = type,                                                               \
		.result_kind = RESULT_##kind,                                                      \
		.stream = STREAM_OF notes,                                                         \
		.device = DEVICE_OF notes,                                                         \
		.signature = CALL_SIGNATURE(id, arguments),                                        \
		.types = types_of_##id,                                                            \
	},
const struct hip_function hip_functions[HIP_FUNCTIONS] = {
#include "functions.def"
};
#undef CALL_FUNCTION

struct call_enumeration *hip_enumeration(const char *type)
{
	return call_enumeration_of(type);
}

enum hip_id hip_find_function(const char *symbol)
{
	for (int id = 0; id < HIP_FUNCTIONS; id++)
		if (!strcmp(hip_functions[id].symbol, symbol))
			return (enum hip_id)id;
	return HIP_FUNCTIONS;
}
