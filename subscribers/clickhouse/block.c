/* SPDX-License-Identifier: MIT */
/* See block.h. */
#include "block.h"

#include <stdlib.h>

#include "names.h"
#include "utf8.h"

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
	free(block->processes);
	free(block);
}

void block_clear(struct block *block)
{
	for (uint32_t i = 0; i < block->table->count; i++)
		block->columns[i].used = 0;
	block->next = NULL;
	block->rows = 0;
	block->doubtful = false;
}

/* Bytes of a value; 0: not kept by row. */
static size_t value_size(enum column_how how)
{
	if (how == COLUMN_NAME)
		return sizeof(uint32_t);
	return how <= COLUMN_8 ? (size_t)how : 0;
}

static bool grow_to(char **data, size_t bytes)
{
	char *larger = realloc(*data, bytes);

	if (larger)
		*data = larger;
	return larger;
}

bool block_grow(struct block *block)
{
	const uint32_t room = block->room ? block->room * 2 : 64;
	const struct process_columns **processes =
		reallocarray(block->processes, room, sizeof(*processes));
	bool grown = processes;

	if (grown)
		block->processes = processes;
	for (uint32_t i = 0; grown && i < block->table->count; i++) {
		const size_t size = value_size(block->table->columns[i].how);

		grown = !size || grow_to(&block->columns[i].data, size * room);
	}
	if (grown)
		block->room = room;
	block->out_of_memory |= !grown;
	return grown;
}

bool block_grow_text(struct block *block, uint32_t column, size_t length)
{
	struct column *c = &block->columns[column];
	size_t room = c->room ? c->room : 4096;

	while (room < c->used + length + BLOCK_VARINT_MAX)
		room *= 2;
	if (room != c->room && !grow_to(&c->data, room)) {
		block->out_of_memory = true;
		return false;
	}
	c->room = room;
	return true;
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

	if (c->used + valid + BLOCK_VARINT_MAX > c->room && !block_grow_text(block, column, valid))
		return;
	to = block_varint(c->data + c->used, valid);
	if (valid == length) {
		memcpy(to, text, length);
		to += length;
	} else {
		for (size_t at = 0, used; at < length; at += used)
			to = utf8_copy(to, (const unsigned char *)text + at, length - at, &used);
	}
	c->used = (size_t)(to - c->data);
}

size_t block_bytes(const struct block *block)
{
	size_t bytes = block->rows * sizeof(block->processes[0]);

	for (uint32_t i = 0; i < block->table->count; i++)
		bytes += block->columns[i].used +
			 value_size(block->table->columns[i].how) * block->rows;
	return bytes;
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

	to = block_varint(to, length);
	return (char *)memcpy(to, text, length) + length;
}

/* Of DataTypeLowCardinality: keys follow, and belong to this block alone. */
#define LC_KEYS_IN_BLOCK (1u << 9 | 1u << 10)

static char *put_word(char *to, uint64_t word)
{
	memcpy(to, &word, sizeof(word));
	return to + sizeof(word);
}

/* The keys: the empty text is the first. */
static bool add_keys(struct native *native, const struct names_used *used, unsigned log2_size)
{
	size_t bytes = 3 * sizeof(uint64_t);
	char *keys, *to;

	for (uint32_t i = 0; i < used->count; i++)
		bytes += BLOCK_VARINT_MAX + strlen(used->texts[i]);
	keys = make(native, bytes);
	if (!keys)
		return false;
	to = put_word(keys, 1); /* version */
	to = put_word(to, LC_KEYS_IN_BLOCK | log2_size);
	to = put_word(to, used->count);
	for (uint32_t i = 0; i < used->count; i++)
		to = put_string(to, used->texts[i]);
	add_piece(native, keys, (size_t)(to - keys));
	return true;
}

/* Indices into the keys, as narrow as they can be. The loops are apart so that they are fast. */
static bool add_indices(struct native *native, const uint32_t *indices, uint32_t rows,
			unsigned log2_size)
{
	char *data = make(native, sizeof(uint64_t) + ((size_t)rows << log2_size));

	if (!data)
		return false;
	put_word(data, rows);
	if (log2_size == 0)
		for (uint32_t i = 0; i < rows; i++)
			((uint8_t *)data + 8)[i] = (uint8_t)indices[i];
	else if (log2_size == 1)
		for (uint32_t i = 0; i < rows; i++)
			((uint16_t *)(void *)(data + 8))[i] = (uint16_t)indices[i];
	else
		memcpy(data + 8, indices, (size_t)rows * sizeof(*indices));
	add_piece(native, data, sizeof(uint64_t) + ((size_t)rows << log2_size));
	return true;
}

static uint32_t name_of(const struct block *block, uint32_t column, enum column_how how,
			uint32_t row)
{
	uint32_t name;

	if (how != COLUMN_NAME)
		return how == COLUMN_RUN ? block->processes[row]->run : block->processes[row]->host;
	memcpy(&name, block->columns[column].data + row * sizeof(name), sizeof(name));
	return name;
}

static bool add_names(struct native *native, const struct block *block, uint32_t column,
		      struct names *names)
{
	const enum column_how how = block->table->columns[column].how;
	uint32_t *indices = malloc(block->rows * sizeof(*indices));
	struct names_used used;
	unsigned log2_size;
	bool done = indices;

	names_begin(names);
	for (uint32_t i = 0; done && i < block->rows; i++)
		indices[i] = names_use(names, name_of(block, column, how, i));
	done = done && names_end(names, &used);
	if (done) {
		log2_size = used.count <= 256 ? 0 : used.count <= 65536 ? 1 : 2;
		done = add_keys(native, &used, log2_size) &&
		       add_indices(native, indices, block->rows, log2_size);
	}
	free(indices);
	return done;
}

#define FILL(type, member)                                                                         \
	do {                                                                                       \
		type *to = (type *)(void *)make(native, block->rows * sizeof(type));               \
		if (!to)                                                                           \
			return false;                                                              \
		for (uint32_t i = 0; i < block->rows; i++)                                         \
			to[i] = block->processes[i]->member;                                       \
		add_piece(native, to, block->rows * sizeof(type));                                 \
	} while (0)

static bool add_column(struct native *native, const struct block *block, uint32_t column,
		       struct names *names)
{
	const enum column_how how = block->table->columns[column].how;

	switch (how) {
	case COLUMN_NAME:
	case COLUMN_RUN:
	case COLUMN_HOST:
		return add_names(native, block, column, names);
	case COLUMN_TEXT:
		add_piece(native, block->columns[column].data, block->columns[column].used);
		return true;
	case COLUMN_DAY:
		FILL(uint16_t, day);
		return true;
	case COLUMN_RANK:
		FILL(int32_t, rank);
		return true;
	case COLUMN_PID:
		FILL(uint32_t, pid);
		return true;
	case COLUMN_SPOOL:
		FILL(uint64_t, spool);
		return true;
	default:
		add_piece(native, block->columns[column].data, value_size(how) * block->rows);
		return true;
	}
}

bool native_make(struct native *native, const struct block *block, struct names *names)
{
	const struct table_info *table = block->table;
	size_t bytes = 2 * BLOCK_VARINT_MAX;
	bool done;
	char *to;

	for (uint32_t i = 0; i < table->count; i++)
		bytes += 2 * BLOCK_VARINT_MAX + strlen(table->columns[i].name) +
			 strlen(table->columns[i].type);
	native->pieces = calloc(3 * (size_t)table->count + 1, sizeof(*native->pieces));
	native->made = calloc(2 * (size_t)table->count + 1, sizeof(*native->made));
	native->header = malloc(bytes);
	done = native->pieces && native->made && native->header && !block->out_of_memory;
	if (!done)
		return false;
	to = block_varint(native->header, table->count);
	to = block_varint(to, block->rows);
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
