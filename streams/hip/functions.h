/* SPDX-License-Identifier: MIT */
/*
 * The functions of HIP as functions.def has them: their numbers, names and arguments. Constant.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "../call/arguments.h"
#include "../call/enumeration.h"

/* A number for each function, and how many there are. */
enum hip_id {
#define CALL_FUNCTION(id, ...)  HIP_ID_##id,
#define CALL_PROCEDURE(id, ...) HIP_ID_##id,
#define CALL_ENUMERATION(...)
#define HIP_EXCLUDED(...)
#include "functions.def"
	HIP_FUNCTIONS
#undef CALL_FUNCTION
#undef CALL_PROCEDURE
#undef CALL_ENUMERATION
#undef HIP_EXCLUDED
};

struct hip_function {
	const char *name;
	const char *symbol; /* differs from the name in functions of C++ */
	const char *category;
	const char *result_type;
	char result_kind; /* e: an enum, i: a number, a: an address, s: a struct, n: none */
	int8_t stream;    /* which argument is the stream, the device; -1: none */
	int8_t device;
	struct call_signature signature;
	const char *const *types; /* of the arguments, as the header has them */
};

/* The names of an enumeration's values, see call_enumeration; NULL: none of that type. */
struct call_enumeration *hip_enumeration(const char *type);

extern const struct hip_function hip_functions[HIP_FUNCTIONS];

/* The number of the function with that symbol; HIP_FUNCTIONS: there is none. */
enum hip_id hip_find_function(const char *symbol);
