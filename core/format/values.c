/* SPDX-License-Identifier: MIT */
#include "stream_info.h"

#include <errno.h>
#include <stdlib.h>

#define VALUES_MAX 32u

static const struct {
	const char *name;
	uint16_t kind, size;
} kinds[] = {
	{"u8", RTL_KIND_UINT, 1},   {"u16", RTL_KIND_UINT, 2},
	{"u32", RTL_KIND_UINT, 4},  {"u64", RTL_KIND_UINT, 8},
	{"i8", RTL_KIND_INT, 1},    {"i16", RTL_KIND_INT, 2},
	{"i32", RTL_KIND_INT, 4},   {"i64", RTL_KIND_INT, 8},
	{"f32", RTL_KIND_FLOAT, 4}, {"f64", RTL_KIND_FLOAT, 8},
	{"bool", RTL_KIND_BOOL, 1}, {"address", RTL_KIND_ADDRESS, 8},
	{"time", RTL_KIND_TIME, 8}, {"string", RTL_KIND_STRING, 8},
	{"uid", RTL_KIND_UID, 8},   {"text", RTL_KIND_TEXT, 8},
};

/* All of a description is in one block: this, its values, their enumerators, and the text, whose
 * names are terminated in place. */
struct block {
	struct rtl_values_info info;
	struct rtl_value_info values[VALUES_MAX];
	struct rtl_enumerator enumerators[];
};

/* What is left of the text; an enumerator's place. */
struct cursor {
	char *at;
	struct rtl_enumerator *next;
};

/* Takes a word up to one of the characters of `ends` and terminates it. *end: which one it was, 0
 * at the end of the text. NULL: it is empty. */
static char *take_word(struct cursor *c, const char *ends, char *end)
{
	char *word = c->at;
	const size_t length = strcspn(word, ends);

	*end = word[length];
	word[length] = '\0';
	c->at = word + length + (*end != '\0');
	return length ? word : NULL;
}

static bool find_kind(const char *name, uint16_t *kind, uint16_t *size)
{
	for (size_t i = 0; name && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, name)) {
			*kind = kinds[i].kind;
			*size = kinds[i].size;
			return true;
		}
	return false;
}

static int compare(const void *a, const void *b)
{
	const struct rtl_enumerator *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* Behind the '{'. */
static bool take_enumerators(struct cursor *c, struct rtl_value_info *info)
{
	char end = ';', *value, *rest;

	info->enumerators = c->next;
	while (end == ';') {
		value = take_word(c, "=", &end);
		if (!value || end != '=')
			return false;
		errno = 0;
		c->next->value = strtoll(value, &rest, 10);
		c->next->name = take_word(c, ";}", &end);
		if (*rest || errno || !c->next->name)
			return false;
		c->next++;
		info->enumerator_count++;
	}
	qsort((void *)(uintptr_t)info->enumerators, info->enumerator_count,
	      sizeof(*info->enumerators), compare);
	return end == '}';
}

/* "name:kind", "name:address>kind", either with "{...}" behind it. */
static bool take_value(struct cursor *c, struct rtl_value_info *info)
{
	uint16_t kind;
	char end;

	*info = (struct rtl_value_info){.struct_size = sizeof(*info)};
	info->name = take_word(c, ": {}=;>", &end);
	if (!info->name || end != ':' ||
	    !find_kind(take_word(c, ">{ ", &end), &info->kind, &info->size))
		return false;
	if (end == '>' && (info->kind != RTL_KIND_ADDRESS ||
			   !find_kind(take_word(c, "{ ", &end), &info->out_kind, &info->out_size)))
		return false;
	if (end != '{')
		return end == ' ' || end == '\0';
	kind = info->out_kind ? info->out_kind : info->kind;
	if ((kind != RTL_KIND_UINT && kind != RTL_KIND_INT) || !take_enumerators(c, info))
		return false;
	end = *c->at;
	c->at += end == ' ';
	return end == ' ' || end == '\0';
}

static bool take_all(struct cursor *c, struct block *block)
{
	uint32_t offset;

	for (;;) {
		c->at += strspn(c->at, " ");
		if (!*c->at)
			break;
		if (block->info.count == VALUES_MAX ||
		    !take_value(c, &block->values[block->info.count++]))
			return false;
	}
	for (uint32_t i = 0; i < block->info.count; i++)
		if (block->values[i].out_kind || block->values[i].kind == RTL_KIND_TEXT)
			block->info.has_states = 1;
	offset = block->info.has_states ? sizeof(uint64_t) : 0;
	for (uint32_t i = 0; i < block->info.count; i++) {
		offset = (offset + block->values[i].size - 1) & ~(block->values[i].size - 1u);
		block->values[i].offset = offset;
		offset += block->values[i].size;
	}
	return true;
}

struct rtl_values_info *values_parse(const char *text)
{
	const size_t size = strlen(text) + 1;
	struct block *block;
	struct cursor c;
	size_t most = 0;

	for (size_t at = 0; text[at]; at++)
		most += text[at] == '=';
	block = calloc(1, sizeof(*block) + most * sizeof(*block->enumerators) + size);
	if (!block)
		return NULL;
	block->info.struct_size = sizeof(block->info);
	block->info.values = block->values;
	c.next = block->enumerators;
	c.at = memcpy(&block->enumerators[most], text, size);
	if (take_all(&c, block))
		return &block->info;
	free(block);
	return NULL;
}
