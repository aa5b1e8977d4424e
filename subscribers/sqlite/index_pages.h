/* SPDX-License-Identifier: MIT */
/*
 * index_pages.h: the pages of an index, made of keys that come in order:
 * sqlite.org/fileformat.html#b_tree_pages
 *
 * A page is full before the next one begins, and each is written once. In memory there is one of each level.
 *
 * One thread.
 */
#ifndef RTL_SQLITE_INDEX_PAGES_H
#define RTL_SQLITE_INDEX_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "record.h"

#define INDEX_COLUMNS 2u
#define INDEX_VALUES  (INDEX_COLUMNS + 1) /* with the row's id */
#define INDEX_LEVELS  8u

struct index_entry {
	uint32_t child; /* the page before it; of a leaf unused */
	uint32_t size;
	unsigned char record[1 + INDEX_VALUES * 9 + RECORD_SLACK];
};

/* Writes a page, whose number it chooses. A result of SQLite's. */
typedef int (*index_write_fn)(void *user, const unsigned char *page, uint32_t *number);

struct index_pages {
	uint32_t page_bytes;
	index_write_fn write;
	void *user;
	uint32_t depth; /* levels that there are; the leaves' is the first */
	struct index_level {
		unsigned char *page; /* NULL: there is none yet */
		uint32_t count;      /* entries in it */
		uint32_t content;    /* where they begin; they grow downwards */
		/* The page is full. This goes between it and the next, one level up, when there is one. */
		bool is_full;
		struct index_entry between;
	} levels[INDEX_LEVELS];
};

void index_pages_init(struct index_pages *pages, uint32_t page_bytes, index_write_fn write,
		      void *user);
/* Adds a key: the indexed columns, and the row's id. It is above all before it. A result of SQLite's. */
int index_pages_add(struct index_pages *pages, const int64_t *values, uint32_t count);
/* Writes what is left. The number of the page that the index begins with. */
int index_pages_end(struct index_pages *pages, uint32_t *root);
void index_pages_fini(struct index_pages *pages);

#endif
