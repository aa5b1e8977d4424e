/* SPDX-License-Identifier: MIT */
/* dictionary.h: numbers for values that repeat: each is stored once, in a row of a small table, and other rows name it
 * by the number. What has been seen is kept in bounded memory; when that is full it is forgotten, and a value may get a
 * second row. One thread. */
#pragma once

#include "hash.h"
#include "text.h"

/* All zeros but next_id is an empty one. */
struct dictionary {
	struct hash hash;
	struct arena keys;
	size_t bytes;    /* of keys */
	int64_t next_id; /* highest id that is there, and 1 */
	const char *last_key;
	size_t last_size;
	int64_t last_id;
};

/* The number of a value; *is_new: it has none yet, the caller makes its row. 0: out of memory. */
int64_t dictionary_find(struct dictionary *dictionary, const void *key, size_t size, bool *is_new);
void dictionary_fini(struct dictionary *dictionary);
