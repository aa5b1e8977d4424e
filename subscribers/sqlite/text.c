/* SPDX-License-Identifier: MIT */
#include "text.h"

#include "name.h"

#define CHUNK_BYTES ((size_t)64 << 10)

struct arena_chunk {
	struct arena_chunk *next;
	size_t size;
	char bytes[];
};

char *arena_alloc(struct arena *arena, size_t size)
{
	const size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;
	struct arena_chunk *chunk = arena->chunks;
	char *at;

	if (!chunk || chunk->size - arena->used < size) {
		chunk = malloc(sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		*chunk = (struct arena_chunk){.next = arena->chunks, .size = room};
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
	arena_reset(arena);
	free(arena->chunks);
	*arena = (struct arena){0};
}

const char *text_clean(struct arena *arena, const char *text, size_t length, size_t *out_length)
{
	char *out = arena_alloc(arena, 3 * length + 1), *to;

	if (!out)
		return NULL;
	to = name_clean(out, text, length);
	*to = '\0';
	*out_length = (size_t)(to - out);
	return out;
}

const char *text_plain(struct arena *arena, const char *text, size_t length, size_t *out_length)
{
	const char *clean = text_clean(arena, text, length, out_length);
	char *out = (char *)(uintptr_t)clean;

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
