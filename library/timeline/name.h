/* SPDX-License-Identifier: MIT */
/*
 * name.h: names that come again and again (kernels, functions, keys of values): made valid UTF-8
 * and escaped once. One thread.
 */
#ifndef RTL_TIMELINE_NAME_H
#define RTL_TIMELINE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hash.h"

/** Texts are copied in blocks of this size: behind each one there is room for a whole block. */
#define NAME_BLOCK 32u

struct timeline_name {
	uint64_t hash;
	uint32_t number; /**< from 1 */
	uint32_t length, json_length;
	uint32_t interned; /**< for the writer of protobuf: in which tables it is */
	const char *json;  /**< with its quotes */
	char text[];       /**< valid UTF-8, terminated */
};

/** All zeros is an empty table. */
struct timeline_names {
	struct hash hash;
};

/** The name for a text of any bytes; it lives as long as the table. NULL: out of memory. */
struct timeline_name *timeline_name(struct timeline_names *names, const char *text, size_t length);
void timeline_names_fini(struct timeline_names *names);

/** Writes a text as valid UTF-8 (at most 3 bytes for each); returns the end. */
char *name_clean(char *to, const char *text, size_t length);

#endif
