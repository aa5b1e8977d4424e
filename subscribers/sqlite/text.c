/* SPDX-License-Identifier: MIT */
/* text.c: see text.h. */
#include "text.h"

#include "utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 << 10)

struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
	char bytes[];
};

static struct arena_chunk *new_chunk(size_t size)
{
	struct arena_chunk *chunk = malloc(sizeof(*chunk) + size);

	if (chunk)
		*chunk = (struct arena_chunk){.size = size};
	return chunk;
}

char *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_chunk *chunk = arena->chunks;
	char *at;

	if (!chunk || chunk->size - arena->used < size) {
		chunk = new_chunk(size > CHUNK_BYTES ? size : CHUNK_BYTES);
		if (!chunk)
			return NULL;
		chunk->next = arena->chunks;
		arena->chunks = chunk;
		arena->used = 0;
	}
	at = chunk->bytes + arena->used;
	arena->used += size;
	return at;
}

void arena_reset(struct arena *arena)
{
	struct arena_chunk *keep = arena->chunks;

	arena->used = 0;
	while (keep && keep->next) {
		struct arena_chunk *next = keep->next;

		free(keep);
		keep = next;
	}
	arena->chunks = keep;
}

void arena_fini(struct arena *arena)
{
	for (struct arena_chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	*arena = (struct arena){0};
}

#define EACH_BYTE(value) (0x0101010101010101u * (value))

/* Up to eight bytes of a text, and blanks. */
static inline uint64_t load(const char *text, size_t size)
{
	uint64_t word = EACH_BYTE(' ');

	memcpy(&word, text, size);
	return word;
}

/* Whether one of eight bytes is no ASCII, or NUL. See has_special. */
static bool is_odd(uint64_t word)
{
	return (word | (word - EACH_BYTE(1))) & EACH_BYTE(0x80);
}

/* Whether one of eight bytes is a quote, a backslash, or outside of ' ' to '~'. The highest
 * bit of a byte tells: that of a difference from a smaller number, as long as none has it to begin
 * with. (Bytes above one of which it is told may be told wrongly; that costs a copy only.) */
static bool has_special(uint64_t word)
{
	const uint64_t quotes = word ^ EACH_BYTE('"'), slashes = word ^ EACH_BYTE('\\');

	return (word | (word - EACH_BYTE(' ')) | (word + EACH_BYTE(1)) | (quotes - EACH_BYTE(1)) |
		(slashes - EACH_BYTE(1))) &
	       EACH_BYTE(0x80);
}

const char *text_clean(struct arena *arena, const char *text, size_t length, size_t *out_length)
{
	size_t i, n;
	char *out, *to;

	for (i = 0; i + 8 <= length && !is_odd(load(text + i, 8)); i += 8)
		;
	out = arena_alloc(arena, i + 3 * (length - i) + 1);
	if (!out)
		return NULL;
	memcpy(out, text, i);
	for (to = out + i; i < length; i += n)
		to = utf8_copy(to, (const unsigned char *)text + i, length - i, &n);
	*to = '\0';
	*out_length = (size_t)(to - out);
	return out;
}

/* Nothing in it is to be replaced. */
static bool is_plain(const char *text, size_t length)
{
	for (; length >= 8; text += 8, length -= 8)
		if (has_special(load(text, 8)))
			return false;
	return !has_special(load(text, length));
}

const char *text_plain(struct arena *arena, const char *text, size_t length, size_t *out_length)
{
	const char *clean;
	char *out;

	if (is_plain(text, length)) {
		*out_length = length;
		return text;
	}
	clean = text_clean(arena, text, length, out_length);
	out = (char *)(size_t)clean;
	for (size_t i = 0; out && i < *out_length; i++) {
		if (out[i] == '"')
			out[i] = '\'';
		else if (out[i] == '\\')
			out[i] = '/';
		else if ((unsigned char)out[i] < ' ' || out[i] == 0x7f)
			out[i] = ' ';
	}
	return clean;
}
