/* SPDX-License-Identifier: MIT */
/*
 * table_scan.h: integers of all rows of a table, read from the file's pages:
 * sqlite.org/fileformat.html#b_tree_pages
 *
 * For where SQLite's own way through a table, which runs a program for each row, takes the longest time of all.
 * What is in the file is what is read: nobody may write to it meanwhile, and there is no write-ahead log.
 *
 * One thread.
 */
#ifndef RTL_SQLITE_TABLE_SCAN_H
#define RTL_SQLITE_TABLE_SCAN_H

#include <sqlite3.h>
#include <stdint.h>

#define TABLE_COLUMNS_MAX 64u /* the first ones of a table, which can be asked for */

/* A row. values: of the columns in the order in which they were asked for. A result of SQLite's: all but SQLITE_OK end
 * the scan. */
typedef int (*table_row_fn)(void *user, int64_t id, const int64_t *values);

struct table_scan {
	sqlite3_file *file;
	const sqlite3_io_methods *methods;
	uint32_t page_bytes;     /* all of them are used */
	uint32_t pages;          /* that the file has */
	const uint32_t *columns; /* by number, from 0, below TABLE_COLUMNS_MAX */
	uint32_t count;          /* of columns, at most TABLE_COLUMNS_MAX */
	table_row_fn row;
	void *user;
};

/* Calls scan->row for each row of the table that begins at that page, in the order of their ids. SQLITE_ABORT: a
 * column is no integer, or the pages are not those of a table; then some rows may have been told. */
int table_scan(const struct table_scan *scan, uint32_t root);

#endif
