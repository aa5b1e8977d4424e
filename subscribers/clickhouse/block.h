/* SPDX-License-Identifier: MIT */
/*
 * block.h: rows of a table, column by column, as ClickHouse's format Native has them: a row is a few
 * stores, and a block is sent without being copied. What ClickHouse stores of one such block it stores
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

/** How a column's values are kept; the first ones are bytes each. */
enum column_how {
	COLUMN_1 = 1,
	COLUMN_2 = 2,
	COLUMN_4 = 4,
	COLUMN_8 = 8,
	COLUMN_NAME, /* a number of names.h each */
	COLUMN_TEXT, /* lengths and characters */
	/* What the row's process says: nothing is kept. */
	COLUMN_RUN,
	COLUMN_DAY,
	COLUMN_RANK,
	COLUMN_HOST,
	COLUMN_PID,
	COLUMN_SPOOL,
};

struct column_info {
	const char *name, *type, *doc;
	enum column_how how;
};

struct table_info {
	const char *name;
	const char *order; /* the columns that its rows are sorted by */
	const struct column_info *columns;
	uint32_t count;
	bool replaces; /* rows with a higher version replace others */
};

/** What a process says of all its rows. */
struct process_columns {
	uint32_t run, host; /* names */
	uint16_t day;       /* since 1970 */
	int32_t rank;
	uint32_t pid;
	uint64_t spool;
};

struct column {
	char *data;
	size_t used, room; /* of a text, in bytes */
};

struct block {
	const struct table_info *table;
	struct block *next;
	uint32_t rows, room;
	bool out_of_memory;                       /* rows are missing: nothing of it may be sent */
	bool doubtful;                            /* it was sent, and the answer is not known */
	char query[64];                           /* its query_id, where it was sent */
	const struct process_columns **processes; /* of the rows */
	struct column columns[];
};

/** So many rows, and it is full; what makes a part in ClickHouse. */
#define BLOCK_ROWS 262144u

struct block *block_create(const struct table_info *table);
void block_destroy(struct block *block);
/** Takes all rows out; the memory stays. */
void block_clear(struct block *block);
/** Makes room for another row; false: no memory. */
bool block_grow(struct block *block);
/** Makes room for a text of that length and its length; false: no memory. */
bool block_grow_text(struct block *block, uint32_t column, size_t length);
/** Bytes that it holds. */
size_t block_bytes(const struct block *block);

/** Begins a row; false: no memory. */
static inline bool block_add(struct block *block, const struct process_columns *process,
			     uint32_t *row)
{
	if (__builtin_expect(block->rows == block->room, 0) && !block_grow(block))
		return false;
	*row = block->rows;
	block->processes[*row] = process;
	return true;
}

/** Ends it. */
static inline void block_added(struct block *block)
{
	block->rows++;
}

#define BLOCK_PUT(name, type)                                                                      \
	static inline void block_put_##name(struct block *block, uint32_t column, uint32_t row,    \
					    type value)                                            \
	{                                                                                          \
		memcpy(block->columns[column].data + (size_t)row * sizeof(value), &value,          \
		       sizeof(value));                                                             \
	}
BLOCK_PUT(uint8, uint8_t)
BLOCK_PUT(uint16, uint16_t)
BLOCK_PUT(uint32, uint32_t)
BLOCK_PUT(uint64, uint64_t)
BLOCK_PUT(int8, int8_t)
BLOCK_PUT(int16, int16_t)
BLOCK_PUT(int32, int32_t)
BLOCK_PUT(int64, int64_t)
BLOCK_PUT(float, float)
BLOCK_PUT(double, double)

/** The longest varint. */
#define BLOCK_VARINT_MAX 10u

static inline char *block_varint(char *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (char)(value | 0x80);
	*to++ = (char)value;
	return to;
}

/** A text: valid UTF-8 comes of it. Once for each row. */
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
	char **made;  /* what was made of columns */
	size_t made_count;
};

struct names;
/** Describes a block in the format Native; false: no memory. The pieces refer to the block. */
bool native_make(struct native *native, const struct block *block, struct names *names);
void native_fini(struct native *native);

#endif
