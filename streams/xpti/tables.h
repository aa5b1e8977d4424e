/* SPDX-License-Identifier: MIT */
/*
 * What is interned: strings and objects (bytes with a type). An entry is found without a lock and
 * never changes; it is added under the framework's lock.
 */
#ifndef STREAMS_XPTI_TABLES_H
#define STREAMS_XPTI_TABLES_H

#include <stddef.h>
#include <stdint.h>

struct entry {
	struct entry *next; /* of the same bucket; release, acquire */
	uint64_t hash;
	uint64_t rtl; /* the string in librtl, 0: not yet asked for; relaxed: always the same */
	uint32_t id;
	uint32_t size;
	uint8_t type;
	char data[]; /* and a NUL behind it */
};

/* A text's entry, added if it is new. NULL: no memory or no number left; NULL or "" too. */
struct entry *strings_add(const char *text);
/* Objects likewise, found by their bytes alone: the first type that they came with stays. */
struct entry *objects_add(const char *data, size_t size, uint8_t type);
/* By number; NULL: there is none. */
const struct entry *strings_get(uint32_t id);
const struct entry *objects_get(uint32_t id);
/* Forgets all strings; under the framework's lock. What was given out stays readable. */
void strings_reset(void);
/* A string's id in librtl. */
uint64_t entry_rtl(struct entry *entry);

#endif
