/* SPDX-License-Identifier: MIT */
/* rows.h: rows on their way into one table. Some gather in memory and go in by one prepared INSERT of several rows. One
 * thread. */
#pragma once

#include "text.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

enum cell_kind { CELL_NULL, CELL_INT, CELL_REAL, CELL_TEXT, CELL_BLOB };

/* A value. Texts and blobs stay valid until the rows are inserted. */
struct cell {
	union {
		int64_t integer;
		double real;
		const void *bytes;
	};
	uint32_t size; /* of bytes */
	uint32_t kind; /* enum cell_kind */
};

struct writer;

struct rows {
	struct rows *next; /* in the writer's list, in order of registration */
	struct writer *writer;
	char *head;           /* the statement up to VALUES */
	sqlite3_stmt *full;   /* inserts `capacity` rows */
	sqlite3_stmt *single; /* inserts one */
	struct cell *cells;
	uint32_t columns;
	uint32_t count;     /* rows in memory */
	uint32_t capacity;  /* rows that fit */
	struct arena arena; /* texts and blobs of the rows in memory */
};

/* Prepares rows for a table. `verb`: "INSERT OR FAIL", which saves SQLite what it would need to undo a part of
 * a statement (an error undoes the transaction), or "INSERT OR REPLACE". False: the writer has failed. */
bool rows_init(struct rows *rows, struct writer *writer, const char *verb, const char *table,
	       uint32_t columns);
/* Inserts what is in memory. False: the writer has failed. */
bool rows_insert(struct rows *rows);
void rows_fini(struct rows *rows);

/* The cells of a new row, all to be set. Never NULL: where it cannot be inserted any more, the row goes nowhere. */
static inline struct cell *rows_add(struct rows *rows)
{
	if (__builtin_expect(rows->count == rows->capacity, 0))
		(void)rows_insert(rows);
	return rows->cells + (size_t)rows->count++ * rows->columns;
}

static inline void cell_null(struct cell *cell)
{
	cell->kind = CELL_NULL;
}

/* Unsigned values go in as the signed value with the same bits. */
static inline void cell_int(struct cell *cell, int64_t value)
{
	cell->integer = value;
	cell->kind = CELL_INT;
}

/* NULL unless the condition holds. */
static inline void cell_int_if(struct cell *cell, bool condition, int64_t value)
{
	cell->integer = value;
	cell->kind = condition ? CELL_INT : CELL_NULL;
}

static inline void cell_real(struct cell *cell, double value)
{
	cell->real = value;
	cell->kind = CELL_REAL;
}

/* A copy without what breaks readers of the rocpd schema: see text_plain. */
void cell_plain(struct rows *rows, struct cell *cell, const char *text, size_t length);
/* Copies: the text made valid UTF-8, the blob as it is. NULL gives NULL. */
void cell_text_n(struct rows *rows, struct cell *cell, const char *text, size_t length);
void cell_text(struct rows *rows, struct cell *cell, const char *text);
void cell_blob(struct rows *rows, struct cell *cell, const void *bytes, size_t size);
