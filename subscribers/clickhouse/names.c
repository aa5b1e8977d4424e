/* SPDX-License-Identifier: MIT */
/* See names.h. */
#include "names.h"

#include <stdlib.h>
#include <string.h>

#include "utf8.h"

struct entry {
	const char *text;
	uint32_t name;
};

static bool is_used(const void *entry)
{
	return ((const struct entry *)entry)->text;
}

static uint64_t hash_of(const void *entry)
{
	const char *text = ((const struct entry *)entry)->text;

	return hash_text(text, strlen(text));
}

static bool is_same(const void *entry, const void *key)
{
	return !strcmp(((const struct entry *)entry)->text, key);
}

static const struct hash_kind kind = {
	.bytes = sizeof(struct entry),
	.initial = 256,
	.is_used = is_used,
	.hash = hash_of,
	.is_same = is_same,
};

static char *valid_copy(const char *text)
{
	const size_t length = strlen(text);
	char *copy = malloc(3 * length + 1), *to = copy;

	for (size_t at = 0, used; copy && at < length; at += used)
		to = utf8_copy(to, (const unsigned char *)text + at, length - at, &used);
	if (!copy)
		return NULL;
	*to++ = '\0';
	return realloc(copy, (size_t)(to - copy));
}

/* Adds one whose text is valid. */
static uint32_t add(struct names *names, char *text)
{
	struct entry *entry;

	if (names->count == names->room) {
		const uint32_t room = names->room ? names->room * 2 : 256;
		char **texts = reallocarray(names->texts, room, sizeof(*texts));

		if (!texts)
			return 0;
		names->texts = texts;
		names->room = room;
	}
	entry = hash_add(&names->hash, &kind, hash_text(text, strlen(text)), text);
	if (!entry)
		return 0;
	*entry = (struct entry){text, names->count};
	names->texts[names->count] = text;
	return names->count++;
}

bool names_init(struct names *names)
{
	char *empty = strdup("");

	if (empty && !add(names, empty) && names->count == 1)
		return true;
	if (!names->count)
		free(empty);
	return false;
}

uint32_t names_of(struct names *names, const char *text)
{
	const struct entry *entry;
	char *valid;
	uint32_t name;

	if (!text || !*text)
		return 0;
	valid = valid_copy(text);
	entry = valid ? hash_find(&names->hash, &kind, hash_text(valid, strlen(valid)), valid)
		      : NULL;
	if (entry) {
		free(valid);
		return entry->name;
	}
	name = valid ? add(names, valid) : 0;
	if (!name) {
		names->out_of_memory = true;
		free(valid);
	}
	return name;
}

void names_fini(struct names *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		free(names->texts[i]);
	free(names->texts);
	hash_fini(&names->hash);
}
