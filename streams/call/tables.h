/* SPDX-License-Identifier: MIT */
/*
 * What a table of functions says (table.py has its language), as constants. For one file of each
 * API, which has defined CALL_TABLE, the table's path seen from here:
 *
 *	values_of_TYPE		names of an enumeration's values
 *	call_enumerations	all of them, prepared when they are needed
 *	arguments_of_ID		of each function
 *	types_of_ID		their types as the headers have them
 *
 * and CALL_SIGNATURE(ID, arguments), an initializer, in an expansion of the table.
 */
#include <stddef.h>
#include <string.h>

#include "arguments.h"
#include "enumeration.h"

#define CALL_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- enumerations */

#define CALL_FUNCTION(...)
#define CALL_PROCEDURE(...)
#define CALL_ENUMERATION(type, names) static const char values_of_##type[] = names;
#include CALL_TABLE
#undef CALL_ENUMERATION

#define CALL_ENUMERATION(type_, names) {.type = #type_, .values = values_of_##type_},
static struct call_enumeration call_enumerations[] = {
#include CALL_TABLE
};
#undef CALL_ENUMERATION
#undef CALL_FUNCTION
#undef CALL_PROCEDURE
#define CALL_ENUMERATION(...)

static inline struct call_enumeration *call_enumeration_of(const char *type)
{
	for (size_t i = 0; i < CALL_COUNT(call_enumerations); i++)
		if (!strcmp(call_enumerations[i].type, type))
			return &call_enumerations[i];
	return NULL;
}

/* ---- arguments */

#define CALL_NUMBER(of, kind_, size_) {.name = of, .kind = kind_, .size = size_},
#define CALL_ADDRESS(of, type, size)  CALL_NUMBER(#of, RTL_KIND_ADDRESS, size)
#define CALL_UNSIGNED(of, type, size) CALL_NUMBER(#of, RTL_KIND_UINT, size)
#define CALL_SIGNED(of, type, size)   CALL_NUMBER(#of, RTL_KIND_INT, size)
#define CALL_FLOAT(of, type, size)    CALL_NUMBER(#of, RTL_KIND_FLOAT, 8) /* slots have doubles */
#define CALL_BOOL(of, type, size)     CALL_NUMBER(#of, RTL_KIND_BOOL, size)
#define CALL_HANDLE(of, type)         CALL_NUMBER(#of, RTL_KIND_ADDRESS, 8)
#define CALL_TEXT(of, type, size)     CALL_NUMBER(#of, RTL_KIND_TEXT, size)
#define CALL_ENUM(of, type)                                                                        \
	{.name = #of, .values = values_of_##type, .kind = RTL_KIND_INT, .size = 4},
#define CALL_OUTPUT(of, type, output, bytes)                                                       \
	{                                                                                          \
		.name = #of,                                                                       \
		.kind = RTL_KIND_ADDRESS,                                                          \
		.size = 8,                                                                         \
		.out_kind = RTL_KIND_##output,                                                     \
		.out_size = bytes,                                                                 \
	},
#define CALL_OUTPUT_ENUM(of, type, value_type)                                                     \
	{                                                                                          \
		.name = #of,                                                                       \
		.values = values_of_##value_type,                                                  \
		.kind = RTL_KIND_ADDRESS,                                                          \
		.size = 8,                                                                         \
		.out_kind = RTL_KIND_INT,                                                          \
		.out_size = 4,                                                                     \
	},

#define CALL_FUNCTION(id, name_, symbol, category, ctype, kind, type, notes, parameters, names,    \
		      arguments)                                                                   \
	static const struct call_argument arguments_of_##id[] = {arguments{.name = NULL}};
#define CALL_PROCEDURE CALL_FUNCTION
#include CALL_TABLE
#undef CALL_FUNCTION

#include "no_kinds.h"

/* ---- their types */

#define CALL_ADDRESS(of, type, ...)     type,
#define CALL_UNSIGNED(of, type, ...)    type,
#define CALL_SIGNED(of, type, ...)      type,
#define CALL_FLOAT(of, type, ...)       type,
#define CALL_BOOL(of, type, ...)        type,
#define CALL_HANDLE(of, type)           type,
#define CALL_TEXT(of, type, ...)        type,
#define CALL_ENUM(of, type)             #type,
#define CALL_OUTPUT(of, type, ...)      type,
#define CALL_OUTPUT_ENUM(of, type, ...) type,

#define CALL_FUNCTION(id, name_, symbol, category, ctype, kind, type, notes, parameters, names,    \
		      arguments)                                                                   \
	static const char *const types_of_##id[] = {arguments NULL};                               \
	_Static_assert(CALL_COUNT(arguments_of_##id) - 1 <= CALL_ARGUMENTS, #id);
#include CALL_TABLE
#undef CALL_FUNCTION

#include "no_kinds.h"

/* ---- whether there are texts among them, and what is followed */

#include "counts.h"

#define CALL_SIGNATURE(id, arguments_)                                                             \
	{                                                                                          \
		.arguments = arguments_of_##id, .count = CALL_COUNT(arguments_of_##id) - 1,        \
		.has_texts = CALL_HAS_TEXTS(arguments_),                                           \
		.has_states = CALL_HAS_STATES(arguments_),                                         \
	}
