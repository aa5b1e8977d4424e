/* SPDX-License-Identifier: MIT */
#include "block.h"

/* The longest varint. */
#define VARINT_MOST 10u
/* Bytes that a buffer begins with. */
#define ROOM_FIRST 4096u

char *bytes_grow(struct bytes *bytes, size_t size)
{
	size_t room = bytes->room ? bytes->room : ROOM_FIRST;
	char *data;

	while (room - bytes->used < size)
		room *= 2;
	data = realloc(bytes->data, room);
	if (!data) {
		bytes->failed = true;
		return NULL;
	}
	bytes->data = data;
	bytes->room = room;
	return data + bytes->used;
}

struct block *block_create(const struct table_info *table)
{
	struct block *block = calloc(1, sizeof(*block) + table->count * sizeof(struct bytes));

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

/* With its length before it, which is known when it is clean. */
static void put_text(struct bytes *bytes, const char *text, size_t length)
{
	char *to = bytes_room(bytes, VARINT_MOST + 3 * length), *clean;

	if (!to)
		return;
	clean = to + VARINT_MOST;
	length = (size_t)(name_clean(clean, text, length) - clean);
	to = put_varint(to, length);
	memmove(to, clean, length);
	bytes->used = (size_t)(to + length - bytes->data);
}

void block_put_text(struct block *block, uint32_t column, const char *text, size_t length)
{
	put_text(&block->columns[column], text, length);
}

/* ---- sending ---- */

static void put_string(struct bytes *bytes, const char *text)
{
	put_text(bytes, text, strlen(text));
}

static void put_count(struct bytes *bytes, uint64_t count)
{
	char varint[VARINT_MOST];

	bytes_put(bytes, varint, (size_t)(put_varint(varint, count) - varint));
}

/* Of DataTypeLowCardinality: indices have 32 bits; keys follow, and belong to this block alone. */
#define LC_INDICES_32    2u
#define LC_KEYS_IN_BLOCK (1u << 9 | 1u << 10)

static uint32_t name_at(const struct block *block, uint32_t column, uint32_t row)
{
	uint32_t name;

	memcpy(&name, block->columns[column].data + row * sizeof(name), sizeof(name));
	return name;
}

/* The names that a column uses, the empty one first; and for each row an index into them. */
static void put_names(struct bytes *to, const struct block *block, uint32_t column,
		      const struct names *names)
{
	const uint64_t head[] = {1 /* version */, LC_KEYS_IN_BLOCK | LC_INDICES_32};
	const size_t count_at = to->used + sizeof(head);
	uint32_t *places = calloc(names->hash.count + 1, sizeof(*places)); /* among them, and 1 */
	uint64_t count = 1, rows = block->rows;

	to->failed |= !places;
	if (!places)
		return;
	bytes_put(to, head, sizeof(head));
	bytes_put(to, &count, sizeof(count));
	put_string(to, "");
	places[0] = 1;
	for (uint32_t i = 0; i < rows; i++) {
		const uint32_t name = name_at(block, column, i);

		if (!places[name]) {
			put_string(to, name_text(names, name));
			places[name] = (uint32_t)++count;
		}
	}
	if (!to->failed)
		memcpy(to->data + count_at, &count, sizeof(count));
	bytes_put(to, &rows, sizeof(rows));
	for (uint32_t i = 0; i < rows; i++)
		bytes_put(to, &(uint32_t){places[name_at(block, column, i)] - 1}, sizeof(uint32_t));
	free(places);
}

bool block_write(const struct block *block, const struct names *names, struct bytes *to)
{
	const struct table_info *table = block->table;

	put_count(to, table->count);
	put_count(to, block->rows);
	for (uint32_t i = 0; i < table->count; i++) {
		const struct bytes *column = &block->columns[i];

		to->failed |= column->failed;
		if (to->failed)
			return false;
		put_string(to, table->columns[i].name);
		put_string(to, table->columns[i].type);
		if (table->columns[i].is_name)
			put_names(to, block, i, names);
		else
			bytes_put(to, column->data, column->used);
	}
	return !to->failed;
}
