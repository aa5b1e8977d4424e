/* SPDX-License-Identifier: MIT */
/*
 * image.h: a second database in memory, of the connection that writes, from which SQLite copies
 * whole rows.
 *
 * INSERT ... SELECT * between two tables that are made alike copies each record as it is, where any
 * other INSERT makes it anew, column by column: that takes three times as long for the rows of a
 * dispatch. So rows become records here, in the one page of their table in a database that exists
 * in memory only (sqlite.org/fileformat2.html), and a statement copies the page's records.
 *
 * That SQLite reads a page anew for each statement is tried when the image is made. Where it does
 * not, or cannot have such a database, there is no image, and rows go the other way (rows.h).
 *
 * One thread.
 */
#ifndef RTL_SQLITE_IMAGE_H
#define RTL_SQLITE_IMAGE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cell;

#define IMAGE_SCHEMA      "rtl_image"
#define IMAGE_COLUMNS_MAX 64u

/* The page of a table. */
struct image_page {
	unsigned char *bytes; /* NULL: it has none */
	unsigned number; /* its table is IMAGE_SCHEMA.r<number>, and a<number> without its key */
};

struct image {
	unsigned char *bytes; /* NULL: there is none */
	size_t size;
};

/* Makes an image with a page for each of these tables of the main database, outside of a
 * transaction. A table whose first column is not its row's id gets none, nor does any where there
 * can be no image. */
void image_init(struct image *image, sqlite3 *db, const char *const *tables, size_t count,
		struct image_page *pages);
/* Puts as many rows into the page as fit, from the first on. Returns how many: 0, the first is too
 * large. */
uint32_t image_fill(const struct image_page *page, const struct cell *cells, uint32_t columns,
		    uint32_t count);
/* When no statement uses it any more, before the connection is closed. */
void image_detach(struct image *image, sqlite3 *db);
/* When it is closed. */
void image_fini(struct image *image);

#endif
