/* SPDX-License-Identifier: MIT */
/* See functions.h. */
#include "functions.h"

#include <rtl/types.h>
#include <stddef.h>
#include <string.h>

#define NUMBER(of, type_, kind_, size_) {.name = #of, .type = type_, .kind = kind_, .size = size_},
#define HIP_ADDRESS(of, type, size)     NUMBER(of, type, RTL_KIND_ADDRESS, size)
#define HIP_UNSIGNED(of, type, size)    NUMBER(of, type, RTL_KIND_UINT, size)
#define HIP_SIGNED(of, type, size)      NUMBER(of, type, RTL_KIND_INT, size)
#define HIP_FLOAT(of, type, size)       NUMBER(of, type, RTL_KIND_FLOAT, size)
#define HIP_TEXT(of, type, size)        NUMBER(of, type, RTL_KIND_TEXT, size)
#define HIP_ENUM(of, type_)                                                                        \
	{.name = #of, .type = #type_, .enumeration = #type_, .kind = RTL_KIND_INT, .size = 4},
#define HIP_OUTPUT(of, type_, output, bytes)                                                       \
	{                                                                                          \
		.name = #of,                                                                       \
		.type = type_,                                                                     \
		.kind = RTL_KIND_ADDRESS,                                                          \
		.size = 8,                                                                         \
		.output_size = bytes,                                                              \
		.output_kind = RTL_KIND_##output,                                                  \
	},
#define HIP_OUTPUT_ENUM(of, type_, value_type)                                                     \
	{                                                                                          \
		.name = #of,                                                                       \
		.type = type_,                                                                     \
		.enumeration = #value_type,                                                        \
		.kind = RTL_KIND_ADDRESS,                                                          \
		.size = 8,                                                                         \
		.output_size = 4,                                                                  \
		.output_kind = RTL_KIND_INT,                                                       \
	},
#define HIP_ENUMERATION(...)
#define HIP_EXCLUDED(...)

#define HIP_FUNCTION(id, name_, symbol, category, ctype, kind, type, stream, device, parameters,   \
		     names, arguments)                                                             \
	static const struct hip_argument arguments_of_##id[] = {arguments{.name = NULL}};
#define HIP_PROCEDURE HIP_FUNCTION
#include "functions.def"
#undef HIP_FUNCTION

/* Whether there is a text among the arguments. */
#undef HIP_ADDRESS
#undef HIP_UNSIGNED
#undef HIP_SIGNED
#undef HIP_FLOAT
#undef HIP_TEXT
#undef HIP_ENUM
#undef HIP_OUTPUT
#undef HIP_OUTPUT_ENUM
#define HIP_ADDRESS(...)
#define HIP_UNSIGNED(...)
#define HIP_SIGNED(...)
#define HIP_FLOAT(...)
#define HIP_TEXT(...) +1
#define HIP_ENUM(...)
#define HIP_OUTPUT(...)
#define HIP_OUTPUT_ENUM(...)

#define RESULT_e     'e'
#define RESULT_i     'i'
#define RESULT_a     'a'
#define RESULT_s     's'
#define RESULT_n     'n'
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define HIP_FUNCTION(id, name_, symbol_, category_, ctype, kind, type, stream_, device_,           \
		     parameters, names, arguments_)                                                \
	[HIP_ID_##id] = {                                                                          \
		.name = name_,                                                                     \
		.symbol = symbol_,                                                                 \
		.category = category_,                                                             \
		.result_type = type,                                                               \
		.result_kind = RESULT_##kind,                                                      \
		.stream = stream_,                                                                 \
		.device = device_,                                                                 \
		.argument_count = COUNT(arguments_of_##id) - 1,                                    \
		.has_texts = (0 arguments_) > 0,                                                   \
		.arguments = arguments_of_##id,                                                    \
	},
const struct hip_function hip_functions[HIP_FUNCTIONS] = {
#include "functions.def"
};
#undef HIP_FUNCTION

enum hip_id hip_find_function(const char *symbol)
{
	for (int id = 0; id < HIP_FUNCTIONS; id++)
		if (!strcmp(hip_functions[id].symbol, symbol))
			return (enum hip_id)id;
	return HIP_FUNCTIONS;
}
