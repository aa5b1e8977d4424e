/* SPDX-License-Identifier: MIT */
#include "dictionary.h"

#define MOST_ENTRIES (1u << 17)
#define MOST_BYTES   ((size_t)16 << 20)

struct entry {
	const char *key; /* NULL: a free place */
	size_t size;
	uint64_t hash;
	int64_t id;
};

static uint64_t hash_of(const void *entry)
{
	return ((const struct entry *)entry)->hash;
}

static bool is_same(const void *entry, const void *key)
{
	const struct entry *a = entry, *b = key;

	return a->hash == b->hash && a->size == b->size && memcmp(a->key, b->key, a->size) == 0;
}

static const struct hash_kind kind = {
	.bytes = sizeof(struct entry),
	.initial = 64,
	.is_used = hash_has_pointer,
	.hash = hash_of,
	.is_same = is_same,
};

static void forget(struct dictionary *d)
{
	hash_fini(&d->hash);
	arena_reset(&d->keys);
	d->bytes = 0;
	d->last_id = 0;
}

static int64_t set_last(struct dictionary *d, const struct entry *entry)
{
	d->last_key = entry->key;
	d->last_size = entry->size;
	return d->last_id = entry->id;
}

int64_t dictionary_find(struct dictionary *d, const void *key, size_t size, bool *is_new)
{
	struct entry want = {.key = key, .size = size};
	struct entry *entry;
	char *copy;

	*is_new = false;
	if (d->last_id && d->last_size == size && memcmp(d->last_key, key, size) == 0)
		return d->last_id;
	want.hash = hash_bytes(0, key, size);
	entry = hash_find(&d->hash, &kind, want.hash, &want);
	if (entry)
		return set_last(d, entry);
	if (d->hash.count >= MOST_ENTRIES || d->bytes + size > MOST_BYTES)
		forget(d);
	copy = arena_alloc(&d->keys, size ? size : 1);
	entry = copy ? hash_add(&d->hash, &kind, want.hash, &want) : NULL;
	if (!entry)
		return 0;
	memcpy(copy, key, size);
	d->bytes += size;
	*entry = (struct entry){copy, size, want.hash, d->next_id++};
	*is_new = true;
	return set_last(d, entry);
}

void dictionary_fini(struct dictionary *d)
{
	hash_fini(&d->hash);
	arena_fini(&d->keys);
}
