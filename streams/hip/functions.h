/* SPDX-License-Identifier: MIT */
/*
 * The functions of HIP as functions.def has them: their numbers, names and arguments. Constant.
 */
#ifndef STREAMS_HIP_FUNCTIONS_H
#define STREAMS_HIP_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* A number for each function, and how many there are. */
enum hip_id {
#define HIP_FUNCTION(id, ...)  HIP_ID_##id,
#define HIP_PROCEDURE(id, ...) HIP_ID_##id,
#define HIP_ENUMERATION(...)
#define HIP_EXCLUDED(...)
#include "functions.def"
	HIP_FUNCTIONS
#undef HIP_FUNCTION
#undef HIP_PROCEDURE
#undef HIP_ENUMERATION
#undef HIP_EXCLUDED
};

/* The most arguments that are recorded of one call. */
#define HIP_ARGUMENTS_MAX 24

struct hip_argument {
	const char *name;
	const char *type;        /* as the header has it */
	const char *enumeration; /* its type, of the value or of what is pointed to; or NULL */
	uint16_t kind;           /* enum rtl_kind: ADDRESS, UINT, INT, FLOAT, TEXT */
	uint8_t size;            /* of the value, bytes */
	/* Of what a call leaves where this points to; 0: that is not followed. */
	uint8_t output_size;
	uint16_t output_kind;
};

struct hip_function {
	const char *name;
	const char *symbol; /* differs from the name in functions of C++ */
	const char *category;
	const char *result_type;
	char result_kind; /* e: an enum, i: a number, a: an address, s: a struct, n: none */
	int8_t stream;    /* which argument is the stream, the device; -1: none */
	int8_t device;
	uint8_t argument_count;
	bool has_texts; /* among its arguments */
	const struct hip_argument *arguments;
};

extern const struct hip_function hip_functions[HIP_FUNCTIONS];

/* The number of the function with that symbol; HIP_FUNCTIONS: there is none. */
enum hip_id hip_find_function(const char *symbol);

#endif
