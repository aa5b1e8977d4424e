/* SPDX-License-Identifier: MIT */
/*
 * block.h: rows of a table, column by column, as ClickHouse's format Native has them: a row is a few
 * copies, and a block is sent without being copied. What ClickHouse stores of one such block it stores
 * as a whole or not at all, as long as all its rows have one `day`.
 *
 * Format: ClickHouse's NativeBlockOutputStream and DataTypeLowCardinality (18.16). One thread.
 */
#ifndef RTL_CLICKHOUSE_BLOCK_H
#define RTL_CLICKHOUSE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct column_info {
	const char *name, *type, *doc;
	bool is_name; /* a number of names.h in each row: LowCardinality(String) */
};

struct table_info {
	const char *name;
	const struct column_info *columns;
	uint32_t count;
};

struct column {
	char *data;
	size_t used, room;
};

struct block {
	const struct table_info *table;
	struct block *next;
	uint32_t rows;
	bool out_of_memory; /* rows are missing: nothing of it may be sent */
	bool doubtful;      /* it was sent, and the answer is not known */
	char query[64];     /* its query_id, where it was sent */
	/* of the last row: what it is found by on the server */
	uint32_t run, ring;
	uint64_t spool, position;
	struct column columns[];
};

/** So many rows, and it is full; what makes a part in ClickHouse. */
#define BLOCK_ROWS 262144u

struct block *block_create(const struct table_info *table);
void block_destroy(struct block *block);
/** Makes room for so many more bytes; false: no memory, which the block notes. */
bool block_grow(struct block *block, uint32_t column, size_t size);

/** A row's value in a column, as the server has it in memory. */
static inline void block_put(struct block *block, uint32_t column, const void *value, size_t size)
{
	struct column *c = &block->columns[column];

	if (__builtin_expect(c->room - c->used < size, 0) && !block_grow(block, column, size))
		return;
	memcpy(c->data + c->used, value, size);
	c->used += size;
}

/** A text: valid UTF-8 comes of it. */
void block_put_text(struct block *block, uint32_t column, const char *text, size_t length);

/* ---- sending ---- */

/** A piece of what is sent. */
struct piece {
	const void *data;
	size_t size;
};

/** A block as it is sent. All zeros before native_make. */
struct native {
	struct piece *pieces;
	size_t count;
	size_t bytes;
	char *header; /* names and types, which the pieces refer to */
	char **made;  /* what was made of columns of names */
	size_t made_count;
};

struct names;
/** Describes a block in the format Native; false: no memory. The pieces refer to the block. */
bool native_make(struct native *native, const struct block *block, const struct names *names);
void native_fini(struct native *native);

#endif
