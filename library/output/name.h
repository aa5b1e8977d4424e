/* SPDX-License-Identifier: MIT */
/* name.h: texts that come again and again (kernels, functions, keys of values): made valid UTF-8 and escaped once, and
 * numbered. One thread. */
#pragma once

#include "hash.h"

/** Texts are copied in blocks of this size: behind each one there is room for a whole block. */
#define NAME_BLOCK 32u

struct name {
	uint64_t hash;
	uint32_t number; /**< from 1 */
	uint32_t length, json_length;
	uint32_t interned; /**< for the writer of protobuf: in which tables it is */
	const char *json;  /**< with its quotes */
	char text[];       /**< valid UTF-8, terminated */
};

/** All zeros is an empty table. */
struct names {
	struct hash hash;
	struct name **list; /**< in the order of their numbers */
};

/** The name for a text of any bytes; it lives as long as the table. NULL: out of memory. */
struct name *names_of(struct names *names, const char *text, size_t length);
void names_fini(struct names *names);

/** Writes a text as valid UTF-8 (at most 3 bytes for each); returns the end. */
char *name_clean(char *to, const char *text, size_t length);

/** Writes a number as LEB128 (at most 10 bytes); returns the end. */
static inline char *put_varint(char *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (char)(value | 0x80);
	*to++ = (char)value;
	return to;
}
