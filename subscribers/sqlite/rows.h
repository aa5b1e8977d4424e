/* SPDX-License-Identifier: MIT */
/*
 * rows.h: rows on their way into one table.
 *
 * Rows gather in memory. They go into the table by one statement, INSERT ... SELECT: from records
 * that are made of them (image.h), where that can be; else from a virtual table whose rows are
 * those in memory, which is quicker than binding each value, and has no limit of variables. Both
 * exist in the connection only, never in the file.
 *
 * One thread.
 */
#ifndef RTL_SQLITE_ROWS_H
#define RTL_SQLITE_ROWS_H

#include "image.h"
#include "text.h"

#include <rtl/args.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

enum cell_kind { CELL_NULL, CELL_INT, CELL_REAL, CELL_TEXT, CELL_BLOB };

/* A value. Texts and blobs are not owned: they stay valid until the rows are inserted. */
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

#define ROWS_PAGES 4u /* of the image, for each table */

/* What tables_rocpd.h and tables_rtl.h know of a table. */
struct table {
	const char *name;
	uint32_t columns;
};

struct rows {
	struct rows *next; /* in the writer's list, in order of registration */
	struct writer *writer;
	char *table;
	bool is_plain;        /* no row takes another's place */
	sqlite3_stmt *insert; /* from the virtual table */
	/* From the image, by turns: one page may be copied by the stepper while the other is filled. */
	struct rows_copy {
		struct rows *rows;
		sqlite3_stmt *stmt; /* NULL: there is none */
		sqlite3_stmt
			*append; /* the same without looking for ids (append.h); NULL: likewise */
		struct image_page page;
		int64_t first; /* id of the page's first row; 0: each is not one more than the one before */
		uint64_t job; /* the last one of the stepper's */
	} copies[ROWS_PAGES];
	sqlite3_stmt *last; /* highest id that is there */
	uint32_t turn;
	struct cell *cells;
	uint32_t columns;
	uint32_t count;    /* rows in memory */
	uint32_t first;    /* of them, that the virtual table has */
	uint32_t capacity; /* rows that fit */
	uint64_t inserted;
	struct arena arena; /* texts and blobs of the rows in memory */
};

/* Prepares rows for a table. `verb`: "INSERT", or it with "OR REPLACE" or the like. False: the
 * writer has failed. */
bool rows_init(struct rows *rows, struct writer *writer, const char *verb,
	       const struct table *table);
/* The same; rows whose key is there already are merged with it: "ON CONFLICT (key) DO ...". */
bool rows_init_merging(struct rows *rows, struct writer *writer, const struct table *table,
		       const char *merge);
/* From here on they go by this image, which has ROWS_PAGES for them. may_append: between append_begin and
 * append_end. False: the writer has failed. */
bool rows_use_image(struct rows *rows, const struct image_page *pages, bool may_append);
/* They are always asked for their ids. */
void rows_never_append(struct rows *rows);
/* Inserts what is in memory. False: the writer has failed. */
bool rows_insert(struct rows *rows);
void rows_fini(struct rows *rows);

/* The cells of a new row, all to be set. Never NULL: where it cannot be inserted any more,
 * the row goes nowhere. */
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

/* NULL for no value. */
static inline void cell_int_or_null(struct cell *cell, const int64_t *value)
{
	cell_int_if(cell, value != NULL, value ? *value : 0);
}

static inline void cell_real(struct cell *cell, double value)
{
	cell->real = value;
	cell->kind = CELL_REAL;
}

/* A text that stays where it is. */
static inline void cell_static_text(struct cell *cell, const char *text, size_t length)
{
	cell->bytes = text;
	cell->size = (uint32_t)length;
	cell->kind = CELL_TEXT;
}

/* A number as such, a text as below. */
void cell_value(struct rows *rows, struct cell *cell, const struct rtl_value *value);

/* Copies: the text made valid UTF-8, the blob as it is. NULL gives NULL. */
void cell_text_n(struct rows *rows, struct cell *cell, const char *text, size_t length);
void cell_text(struct rows *rows, struct cell *cell, const char *text);
void cell_blob(struct rows *rows, struct cell *cell, const void *bytes, size_t size);

#endif
