/* SPDX-License-Identifier: MIT */
/* reading.h: what readers of the formats share. Threads: definitions.h. */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>

/* The columns of a row for list.sql. */
enum {
	ITEM_TEXT, /* of the list as it is; or a definition: */
	ITEM_SCOPE,
	ITEM_BASE, /* what the scope inherits, in place of a definition */
	ITEM_GPUS, /* between slashes; NULL: by the scope */
	ITEM_NAME,
	ITEM_BLOCK,
	ITEM_WHAT, /* event or expression */
	ITEM_UNIT,
	ITEM_DESCRIPTION,
	ITEM_COLUMNS
};
typedef const char *reading_item[ITEM_COLUMNS];

struct reading {
	sqlite3 *db;
	sqlite3_stmt *add;
	char *message;
	size_t message_size;
	int file;              /* scopes belong to one, with what it includes */
	unsigned files, items; /* of it */
};

/* Writes the line; false. */
bool reading_fail(struct reading *reading, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A whole file, to be freed. NULL after a line. */
char *reading_text(struct reading *reading, const char *path);

/* Adds a row; false: out of memory. */
bool reading_add(struct reading *reading, const reading_item item);

/* Whether an event is a number. */
bool reading_is_number(const char *text);

/* Read the definitions. False after a line. */
bool reading_xml(struct reading *reading, const char *path);
bool reading_yaml(struct reading *reading, const char *text, const char *path);
