/* SPDX-License-Identifier: MIT */
/* See functions.h. */
#include "functions.h"

#include <rtl/types.h>
#include <stddef.h>
#include <string.h>

/* ---- enumerations */

#define HIP_FUNCTION(...)
#define HIP_PROCEDURE(...)
#define HIP_EXCLUDED(...)
#define HIP_ENUMERATION(type, names) static const char values_of_##type[] = names;
#include "functions.def"
#undef HIP_ENUMERATION

#define HIP_ENUMERATION(type_, names) {.type = #type_, .values = values_of_##type_},
static struct call_enumeration enumerations[] = {
#include "functions.def"
};
#undef HIP_ENUMERATION
#undef HIP_FUNCTION
#undef HIP_PROCEDURE
#define HIP_ENUMERATION(...)

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct call_enumeration *hip_enumeration(const char *type)
{
	for (size_t i = 0; i < COUNT(enumerations); i++)
		if (!strcmp(enumerations[i].type, type))
			return &enumerations[i];
	return NULL;
}

/* ---- what their arguments are */

#define NUMBER(of, kind_, size_)     {.name = #of, .kind = kind_, .size = size_},
#define HIP_ADDRESS(of, type, size)  NUMBER(of, RTL_KIND_ADDRESS, size)
#define HIP_UNSIGNED(of, type, size) NUMBER(of, RTL_KIND_UINT, size)
#define HIP_SIGNED(of, type, size)   NUMBER(of, RTL_KIND_INT, size)
#define HIP_FLOAT(of, type, size)    NUMBER(of, RTL_KIND_FLOAT, 8) /* slots have doubles */
#define HIP_TEXT(of, type, size)     NUMBER(of, RTL_KIND_TEXT, size)
#define HIP_ENUM(of, type)                                                                         \
	{.name = #of, .values = values_of_##type, .kind = RTL_KIND_INT, .size = 4},
#define HIP_OUTPUT(of, type, output, bytes)                                                        \
	{                                                                                          \
		.name = #of,                                                                       \
		.kind = RTL_KIND_ADDRESS,                                                          \
		.size = 8,                                                                         \
		.out_kind = RTL_KIND_##output,                                                     \
		.out_size = bytes,                                                                 \
	},
#define HIP_OUTPUT_ENUM(of, type, value_type)                                                      \
	{                                                                                          \
		.name = #of,                                                                       \
		.values = values_of_##value_type,                                                  \
		.kind = RTL_KIND_ADDRESS,                                                          \
		.size = 8,                                                                         \
		.out_kind = RTL_KIND_INT,                                                          \
		.out_size = 4,                                                                     \
	},

#define HIP_FUNCTION(id, name_, symbol, category, ctype, kind, type, stream, device, parameters,   \
		     names, arguments)                                                             \
	static const struct call_argument arguments_of_##id[] = {arguments{.name = NULL}};
#define HIP_PROCEDURE HIP_FUNCTION
#include "functions.def"
#undef HIP_FUNCTION

/* ---- what each of them says of the function: of its arguments' types, and how many there are */

#undef HIP_ADDRESS
#undef HIP_UNSIGNED
#undef HIP_SIGNED
#undef HIP_FLOAT
#undef HIP_TEXT
#undef HIP_ENUM
#undef HIP_OUTPUT
#undef HIP_OUTPUT_ENUM
#define HIP_ADDRESS(of, type, ...)     type,
#define HIP_UNSIGNED(of, type, size)   type,
#define HIP_SIGNED(of, type, size)     type,
#define HIP_FLOAT(of, type, size)      type,
#define HIP_TEXT(of, type, size)       type,
#define HIP_ENUM(of, type)             #type,
#define HIP_OUTPUT(of, type, ...)      type,
#define HIP_OUTPUT_ENUM(of, type, ...) type,

#define HIP_FUNCTION(id, name_, symbol, category, ctype, kind, type, stream, device, parameters,   \
		     names, arguments)                                                             \
	static const char *const types_of_##id[] = {arguments NULL};
#include "functions.def"
#undef HIP_FUNCTION

/* Texts count 1, what is followed 256. */
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
#define HIP_OUTPUT(...)      +256
#define HIP_OUTPUT_ENUM(...) +256

#define RESULT_e 'e'
#define RESULT_i 'i'
#define RESULT_a 'a'
#define RESULT_s 's'
#define RESULT_n 'n'

#define HIP_FUNCTION(id, name_, symbol_, category_, ctype, kind, type, stream_, device_,           \
		     parameters, names, arguments_)                                                \
	_Static_assert(COUNT(arguments_of_##id) - 1 <= CALL_ARGUMENTS, #id);
#include "functions.def"
#undef HIP_FUNCTION

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
		.signature = {.arguments = arguments_of_##id,                                      \
			      .count = COUNT(arguments_of_##id) - 1,                               \
			      .has_texts = (0 arguments_) % 256 > 0,                               \
			      .has_states = (0 arguments_) > 0},                                   \
		.types = types_of_##id,                                                            \
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
