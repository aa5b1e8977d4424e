/* SPDX-License-Identifier: MIT */
/* See block.h. */
#include "block.h"

#include <stdlib.h>

#include "names.h"
#include "utf8.h"

/* The longest varint. */
#define VARINT_MOST 10u
/* Bytes that a column begins with. */
#define ROOM_FIRST 4096u

struct block *block_create(const struct table_info *table)
{
	struct block *block = calloc(1, sizeof(*block) + table->count * sizeof(struct column));

	if (block)
		block->table = table;
	return block;
}

void block_destroy(struct block *block)
{
	if (!block)
		return;
	for (uint32_t i = 0; i < block->table->count; i++)
		free(block->columns[i].data);
	free(block);
}

bool block_grow(struct block *block, uint32_t column, size_t size)
{
	struct column *c = &block->columns[column];
	size_t room = c->room ? c->room : ROOM_FIRST;
	char *data;

	while (room - c->used < size)
		room *= 2;
	data = realloc(c->data, room);
	if (!data) {
		block->out_of_memory = true;
		return false;
	}
	c->data = data;
	c->room = room;
	return true;
}

static char *put_varint(char *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (char)(value | 0x80);
	*to++ = (char)value;
	return to;
}

static size_t valid_length(const char *text, size_t length)
{
	size_t at = 0, valid = 0;

	while (at < length) {
		const size_t n = utf8_length((const unsigned char *)text + at, length - at);

		valid += n ? n : sizeof(UTF8_REPLACEMENT) - 1;
		at += n ? n : 1;
	}
	return valid;
}

void block_put_text(struct block *block, uint32_t column, const char *text, size_t length)
{
	struct column *c = &block->columns[column];
	const size_t valid = valid_length(text, length);
	char *to;

	if (c->room - c->used < valid + VARINT_MOST &&
	    !block_grow(block, column, valid + VARINT_MOST))
		return;
	to = put_varint(c->data + c->used, valid);
	for (size_t at = 0, used; at < length; at += used)
		to = utf8_copy(to, (const unsigned char *)text + at, length - at, &used);
	c->used = (size_t)(to - c->data);
}

/* ---- sending ---- */

static void add_piece(struct native *native, const void *data, size_t size)
{
	if (!size)
		return;
	native->pieces[native->count++] = (struct piece){data, size};
	native->bytes += size;
}

/* Memory that lives as long as `native`; NULL: none. */
static char *make(struct native *native, size_t size)
{
	char *data = malloc(size);

	if (data)
		native->made[native->made_count++] = data;
	return data;
}

static char *put_string(char *to, const char *text)
{
	const size_t length = strlen(text);

	to = put_varint(to, length);
	return (char *)memcpy(to, text, length) + length;
}

static char *put_word(char *to, uint64_t word)
{
	memcpy(to, &word, sizeof(word));
	return to + sizeof(word);
}

/* Of DataTypeLowCardinality: indices have 32 bits; keys follow, and belong to this block alone. */
#define LC_INDICES_32    2u
#define LC_KEYS_IN_BLOCK (1u << 9 | 1u << 10)

/* The names that a column uses, the empty one first. */
struct keys {
	uint32_t count;
	size_t bytes;
	uint32_t *names; /* of each key */
	uint32_t *place; /* of a name among the keys, and 1; 0: it is none */
};

static uint32_t key_of(struct keys *keys, const struct names *names, uint32_t name)
{
	if (!keys->place[name]) {
		keys->names[keys->count++] = name;
		keys->place[name] = keys->count;
		keys->bytes += VARINT_MOST + strlen(names->texts[name]);
	}
	return keys->place[name] - 1;
}

/* Keys, and for each row an index into them. */
static bool add_keys(struct native *native, struct keys *keys, const struct block *block,
		     uint32_t column, const struct names *names)
{
	const size_t rows = block->rows * sizeof(uint32_t);
	char *indices = make(native, sizeof(uint64_t) + rows), *text, *to;

	if (!indices || !keys->names || !keys->place)
		return false;
	to = put_word(indices, block->rows);
	key_of(keys, names, 0);
	for (size_t at = 0; at < rows; at += sizeof(uint32_t)) {
		uint32_t name;

		memcpy(&name, block->columns[column].data + at, sizeof(name));
		name = key_of(keys, names, name);
		memcpy(to + at, &name, sizeof(name));
	}
	text = to = make(native, 3 * sizeof(uint64_t) + keys->bytes);
	if (!text)
		return false;
	to = put_word(to, 1); /* version */
	to = put_word(to, LC_KEYS_IN_BLOCK | LC_INDICES_32);
	to = put_word(to, keys->count);
	for (uint32_t i = 0; i < keys->count; i++)
		to = put_string(to, names->texts[keys->names[i]]);
	add_piece(native, text, (size_t)(to - text));
	add_piece(native, indices, sizeof(uint64_t) + rows);
	return true;
}

static bool add_column(struct native *native, const struct block *block, uint32_t column,
		       const struct names *names)
{
	struct keys keys = {0};
	bool done = true;

	if (!block->table->columns[column].is_name) {
		add_piece(native, block->columns[column].data, block->columns[column].used);
		return true;
	}
	keys.names = calloc(names->count, sizeof(*keys.names));
	keys.place = calloc(names->count, sizeof(*keys.place));
	done = add_keys(native, &keys, block, column, names);
	free(keys.names);
	free(keys.place);
	return done;
}

bool native_make(struct native *native, const struct block *block, const struct names *names)
{
	const struct table_info *table = block->table;
	size_t bytes = 2 * VARINT_MOST;
	bool done;
	char *to;

	for (uint32_t i = 0; i < table->count; i++)
		bytes += 2 * VARINT_MOST + strlen(table->columns[i].name) +
			 strlen(table->columns[i].type);
	native->pieces = calloc(3 * (size_t)table->count + 1, sizeof(*native->pieces));
	native->made = calloc(2 * (size_t)table->count + 1, sizeof(*native->made));
	native->header = malloc(bytes);
	done = native->pieces && native->made && native->header && !block->out_of_memory;
	if (!done)
		return false;
	to = put_varint(native->header, table->count);
	to = put_varint(to, block->rows);
	add_piece(native, native->header, (size_t)(to - native->header));
	for (uint32_t i = 0; done && i < table->count; i++) {
		char *begin = to;

		to = put_string(to, table->columns[i].name);
		to = put_string(to, table->columns[i].type);
		add_piece(native, begin, (size_t)(to - begin));
		done = add_column(native, block, i, names);
	}
	return done;
}

void native_fini(struct native *native)
{
	for (size_t i = 0; i < native->made_count; i++)
		free(native->made[i]);
	free(native->made);
	free(native->pieces);
	free(native->header);
	*native = (struct native){0};
}
