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
	static const char replacement[3] = UTF8_REPLACEMENT;
	const unsigned char *s = (const unsigned char *)text;
	size_t bad = 0, used = 0, i, n;
	char *out;

	for (i = 0; i + 8 <= length && !is_odd(load(text + i, 8)); i += 8)
		;
	for (used = i; i < length; i += n ? n : 1) {
		n = utf8_length(s + i, length - i);
		bad += n == 0;
	}
	out = arena_alloc(arena, length + 2 * bad + 1);
	if (!out)
		return NULL;
	memcpy(out, text, used);
	for (i = used; i < length; i += n ? n : 1) {
		n = utf8_length(s + i, length - i);
		memcpy(out + used, n ? text + i : replacement, n ? n : sizeof(replacement));
		used += n ? n : sizeof(replacement);
	}
	out[used] = '\0';
	*out_length = used;
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

size_t text_hex(char out[TEXT_HEX], uint64_t value)
{
	size_t length = 3;

	for (uint64_t rest = value >> 4; rest; rest >>= 4)
		length++;
	out[0] = '0';
	out[1] = 'x';
	out[length] = '\0';
	for (size_t i = length; i > 2; value >>= 4)
		out[--i] = "0123456789abcdef"[value & 15];
	return length;
}
