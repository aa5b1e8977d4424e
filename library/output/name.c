/* SPDX-License-Identifier: MIT */
#include "name.h"

#include "array.h"
#include "json.h"
#include "utf8.h"

char *name_clean(char *to, const char *text, size_t length)
{
	for (size_t i = 0, n; i < length; i += n)
		to = utf8_copy(to, (const unsigned char *)text + i, length - i, &n);
	return to;
}

/* A text that is looked for. */
struct text {
	const char *text;
	size_t length;
	uint64_t hash;
};

static uint64_t hash_of(const void *entry)
{
	return (*(struct name *const *)entry)->hash;
}

static bool is_same(const void *entry, const void *key)
{
	const struct name *name = *(struct name *const *)entry;
	const struct text *text = key;

	return name->hash == text->hash && name->length == text->length &&
	       !memcmp(name->text, text->text, text->length);
}

/* Pointers to names. */
static const struct hash_kind kind = {
	.bytes = sizeof(struct name *),
	.initial = 256,
	.is_used = hash_has_pointer,
	.hash = hash_of,
	.is_same = is_same,
};

/* The text is clean. */
static struct name *make(const struct text *text, uint32_t number)
{
	const size_t length = text->length;
	const size_t json_max = JSON_ESCAPED_MAX * length + 2 + NAME_BLOCK;
	struct name *name = malloc(sizeof(*name) + length + NAME_BLOCK + json_max);
	char *json, *end;

	if (!name)
		return NULL;
	json = name->text + length + NAME_BLOCK;
	*name = (struct name){.hash = text->hash, .number = number, .length = (uint32_t)length};
	memcpy(name->text, text->text, length);
	memset(name->text + length, 0, NAME_BLOCK);
	json[0] = '"';
	end = json_escape(json + 1, text->text, length);
	*end++ = '"';
	memset(end, ' ', NAME_BLOCK);
	name->json = json;
	name->json_length = (uint32_t)(end - json);
	return name;
}

static struct name *find_or_add(struct names *names, const struct text *text)
{
	struct name **place = hash_find(&names->hash, &kind, text->hash, text);
	struct name *name = NULL;

	if (place)
		return *place;
	if (array_has_room(&names->list, names->hash.count, sizeof(*names->list)))
		name = make(text, (uint32_t)names->hash.count + 1);
	place = name ? hash_add(&names->hash, &kind, text->hash, text) : NULL;
	if (!place) {
		free(name);
		return NULL;
	}
	return *place = names->list[name->number - 1] = name;
}

struct name *names_of(struct names *names, const char *text, size_t length)
{
	char some[1024], *clean = 3 * length <= sizeof(some) ? some : malloc(3 * length);
	struct name *name;

	if (!clean)
		return NULL;
	length = (size_t)(name_clean(clean, text, length) - clean);
	name = find_or_add(names, &(struct text){clean, length, hash_text(clean, length)});
	if (clean != some)
		free(clean);
	return name;
}

void names_fini(struct names *names)
{
	for (size_t i = 0; i < names->hash.count; i++)
		free(names->list[i]);
	free(names->list);
	hash_fini(&names->hash);
}
