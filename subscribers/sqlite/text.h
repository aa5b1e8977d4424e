/* SPDX-License-Identifier: MIT */
/* text.h: memory for texts, and texts made fit for a database and for the tools that read it. One thread. */
#pragma once

#include <stddef.h>

struct arena_chunk;

/* Memory that is given back all at once. All zero is an empty arena. */
struct arena {
	struct arena_chunk *chunks;
	size_t used; /* of the first chunk, bytes */
};

/* Room for some bytes, without alignment; NULL: out of memory. */
char *arena_alloc(struct arena *arena, size_t size);
/* Gives back all that was allocated; keeps one chunk for what comes. */
void arena_reset(struct arena *arena);
void arena_fini(struct arena *arena);

/* A copy in the arena that is valid UTF-8 without NUL: what is not becomes U+FFFD. Terminated;
 * its length goes to *out_length. NULL: out of memory. */
const char *text_clean(struct arena *arena, const char *text, size_t length, size_t *out_length);

/* As text_clean, and without what breaks readers of the rocpd schema that paste names into
 * JSON unescaped: quotes, backslashes, control characters. */
const char *text_plain(struct arena *arena, const char *text, size_t length, size_t *out_length);
