/* SPDX-License-Identifier: MIT */
/* See name.h. */
#include "name.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "json.h"
#include "utf8.h"

char *name_clean(char *to, const char *text, size_t length)
{
	for (size_t i = 0, n; i < length; i += n)
		to = utf8_copy(to, (const unsigned char *)text + i, length - i, &n);
	return to;
}

static bool grow(struct timeline_names *names)
{
	const size_t size = names->size ? names->size * 2 : 256;
	struct timeline_name **table = calloc(size, sizeof(struct timeline_name *));

	if (!table)
		return false;
	for (size_t i = 0; i < names->size; i++)
		for (struct timeline_name *n = names->table[i], *next; n; n = next) {
			next = n->next;
			n->next = table[n->hash & (size - 1)];
			table[n->hash & (size - 1)] = n;
		}
	free(names->table);
	names->table = table;
	names->size = size;
	return true;
}

/* The text is clean. */
static struct timeline_name *add(struct timeline_names *names, const char *text, size_t length,
				 uint64_t hash)
{
	const size_t json_max = JSON_ESCAPED_MAX * length + 2 + NAME_BLOCK;
	struct timeline_name *name = malloc(sizeof(*name) + length + NAME_BLOCK + json_max);
	char *json, *end;

	if (!name || (names->count >= names->size && !grow(names))) {
		free(name);
		return NULL;
	}
	json = name->text + length + NAME_BLOCK;
	*name = (struct timeline_name){.hash = hash, .number = ++names->count};
	memcpy(name->text, text, length);
	memset(name->text + length, 0, NAME_BLOCK);
	name->length = (uint32_t)length;
	json[0] = '"';
	end = json_escape(json + 1, text, length);
	*end++ = '"';
	memset(end, ' ', NAME_BLOCK);
	name->json = json;
	name->json_length = (uint32_t)(end - json);
	name->next = names->table[hash & (names->size - 1)];
	names->table[hash & (names->size - 1)] = name;
	return name;
}

struct timeline_name *timeline_name(struct timeline_names *names, const char *text, size_t length)
{
	char some[1024], *clean = 3 * length <= sizeof(some) ? some : malloc(3 * length);
	struct timeline_name *name = NULL;
	uint64_t hash;

	if (!clean)
		return NULL;
	length = (size_t)(name_clean(clean, text, length) - clean);
	hash = hash_text(clean, length);
	if (names->size)
		name = names->table[hash & (names->size - 1)];
	while (name && (name->hash != hash || name->length != length ||
			memcmp(name->text, clean, length) != 0))
		name = name->next;
	if (!name)
		name = add(names, clean, length, hash);
	if (clean != some)
		free(clean);
	return name;
}

void timeline_names_fini(struct timeline_names *names)
{
	for (size_t i = 0; i < names->size; i++)
		for (struct timeline_name *n = names->table[i], *next; n; n = next) {
			next = n->next;
			free(n);
		}
	free(names->table);
	*names = (struct timeline_names){0};
}
