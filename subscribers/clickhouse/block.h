/* SPDX-License-Identifier: MIT */
/* block.h: rows of a table, column by column, as ClickHouse's format Native has them: a row is a few copies. What
 * ClickHouse stores of one such block it stores as a whole or not at all, as long as all its rows have one `day`.
 *
 * Format: ClickHouse's NativeBlockOutputStream and DataTypeLowCardinality (18.16). One thread. */
#pragma once

#include "name.h"

struct column_info {
	const char *name, *type, *doc;
	bool is_name; /* a number of a name in each row, 0: the empty one: LowCardinality(String) */
};

struct table_info {
	const char *name;
	const struct column_info *columns;
	uint32_t count;
};

/** A buffer that grows. */
struct bytes {
	char *data;
	size_t used, room;
	bool failed; /* there was no memory for all of it */
};

struct block {
	const struct table_info *table;
	struct block *next;
	uint32_t rows;
	bool doubtful;  /* it was sent, and the answer is not known */
	char query[64]; /* its query_id, where it was sent */
	/* of the last row: what it is found by on the server */
	uint32_t run, ring;
	uint64_t spool, position;
	struct bytes columns[]; /* where one has failed, nothing of it may be sent */
};

/** So many rows, and it is full; what makes a part in ClickHouse. */
#define BLOCK_ROWS 262144u

/* Called by bytes_room. */
char *bytes_grow(struct bytes *bytes, size_t size);
/** Where so many more bytes have room; NULL: no memory. */
static inline char *bytes_room(struct bytes *bytes, size_t size)
{
	return __builtin_expect(bytes->room - bytes->used < size, 0) ? bytes_grow(bytes, size)
								     : bytes->data + bytes->used;
}

static inline void bytes_put(struct bytes *bytes, const void *data, size_t size)
{
	char *to = bytes_room(bytes, size);

	if (!to || !size)
		return;
	memcpy(to, data, size);
	bytes->used += size;
}

struct block *block_create(const struct table_info *table);
void block_destroy(struct block *block);
/** A row's value in a column, as the server has it in memory. */
static inline void block_put(struct block *block, uint32_t column, const void *value, size_t size)
{
	bytes_put(&block->columns[column], value, size);
}

/** A text: valid UTF-8 comes of it. */
void block_put_text(struct block *block, uint32_t column, const char *text, size_t length);
/** Writes it in the format Native; false: no memory. */
bool block_write(const struct block *block, const struct names *names, struct bytes *to);

/** The text of a number. */
static inline const char *name_text(const struct names *names, uint32_t number)
{
	return number ? names->list[number - 1]->text : "";
}
