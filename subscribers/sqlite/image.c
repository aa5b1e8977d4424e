/* SPDX-License-Identifier: MIT */
/* image.c: see image.h. Numbers of the format are big-endian. */
#include "image.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "append.h"
#include "record.h"
#include "rows.h"

/* Libraries before SQLite 3.36 may lack it. */
#pragma weak sqlite3_deserialize

#define PAGE_BYTES  65536u
#define TABLES_MAX  128u
#define FILE_HEADER 100u
#define PAGE_HEADER 8u
#define LEAF        13u
/* What a record may take: the bytes of its values, and those of its header. */
#define RECORD_BYTES  (PAGE_BYTES / 2)
#define COLUMNS_MAX   IMAGE_COLUMNS_MAX
#define HEADER_BYTES  (2 + COLUMNS_MAX * 5)
#define VARINTS_BYTES 18u /* length and id */

/* ---- records */

/* The serial type of a value: what it is, and how long. */
static uint32_t type_of(const struct cell *cell)
{
	switch ((enum cell_kind)cell->kind) {
	case CELL_INT:
		return record_int_type(cell->integer);
	case CELL_REAL:
		return 7;
	case CELL_TEXT:
		return 13 + 2 * cell->size;
	case CELL_BLOB:
		return 12 + 2 * cell->size;
	case CELL_NULL:
		break;
	}
	return 0;
}

/* As many bytes of it as the type says. Writes RECORD_SLACK bytes. */
static inline unsigned char *put_number(unsigned char *at, const struct cell *cell, uint32_t type)
{
	uint64_t bits;

	memcpy(&bits, &cell->integer, sizeof(bits)); /* a real's as well */
	return put_bits(at, bits, number_bytes[type]);
}

/* The head of a record: the types of its values. */
struct head {
	unsigned char bytes[HEADER_BYTES]; /* without its own length */
	uint32_t size;
	size_t body;                      /* bytes of the values */
	unsigned char types[COLUMNS_MAX]; /* LONG: a text or a blob */
};

#define LONG 12u

/* Of the columns but the first, whose value is the id. */
static void make_head(struct head *head, const struct cell *cells, uint32_t columns)
{
	unsigned char *at = head->bytes;

	*at++ = 0;
	head->body = 0;
	for (uint32_t i = 1; i < columns; i++) {
		const uint32_t type = type_of(&cells[i]);

		head->types[i] = type < LONG ? (unsigned char)type : LONG;
		head->body += type < LONG ? number_bytes[type] : cells[i].size;
		at = put_varint(at, type);
	}
	head->size = (uint32_t)(at - head->bytes);
}

static unsigned char *put_values(unsigned char *at, const struct head *head,
				 const struct cell *cells, uint32_t columns)
{
	for (uint32_t i = 1; i < columns; i++) {
		if (__builtin_expect(head->types[i] < LONG, 1)) {
			at = put_number(at, &cells[i], head->types[i]);
			continue;
		}
		memcpy(at, cells[i].bytes, cells[i].size);
		at += cells[i].size;
	}
	return at;
}

/* Whether all of them are short enough for make_head. */
static bool is_small(const struct cell *cells, uint32_t columns)
{
	size_t bytes = 0;

	for (uint32_t i = 1; i < columns; i++)
		if (cells[i].kind >= CELL_TEXT)
			bytes += cells[i].size;
	return bytes < RECORD_BYTES;
}

/* A record with its length and id; of the head as many bytes from `skip` on. NULL: there is no
 * room for it. */
static unsigned char *put_record(unsigned char *at, const unsigned char *end, int64_t id,
				 const struct head *head, uint32_t skip, const struct cell *cells,
				 uint32_t columns)
{
	const uint32_t size = head->size - skip;
	const uint32_t whole = size + (size < 0x7f ? 1 : 2); /* with its own length */

	if ((size_t)(end - at) < VARINTS_BYTES + whole + head->body + RECORD_SLACK)
		return NULL;
	at = put_varint(at, whole + head->body);
	at = put_varint(at, (uint64_t)id);
	at = put_varint(at, whole);
	memcpy(at, head->bytes + skip, size);
	return put_values(at + size, head, cells, columns);
}

/* Texts in a short row, whose type takes one byte. */
#define SHORT_TEXT 57u

/* What a short row may take. */
static size_t short_bytes(uint32_t columns)
{
	return VARINTS_BYTES + 1 + (size_t)columns * (1 + SHORT_TEXT) + RECORD_SLACK;
}

/* As put_record, in one go: each type takes a byte, so it is known where the values begin. The length
 * takes three, of which the first may say nothing. NULL: a text is too long for that. */
static unsigned char *put_short_row(unsigned char *at, const struct cell *cells, uint32_t columns)
{
	unsigned char *const length = at, *const begin =
						  put_varint(at + 3, (uint64_t)cells[0].integer);
	unsigned char *type = begin, *value = begin + 1 + columns;
	uint32_t whole;

	*type++ = (unsigned char)(1 + columns);
	*type++ = 0;
	for (uint32_t i = 1; i < columns; i++) {
		const struct cell *cell = &cells[i];

		if (__builtin_expect(cell->kind < CELL_TEXT, 1)) {
			*type = cell->kind == CELL_INT
					? (unsigned char)record_int_type(cell->integer)
				: cell->kind == CELL_REAL ? 7
							  : 0;
			value = put_number(value, cell, *type++);
			continue;
		}
		if (cell->size > SHORT_TEXT)
			return NULL;
		*type++ = (unsigned char)(12 + (cell->kind == CELL_TEXT) + 2 * cell->size);
		memcpy(value, cell->bytes, cell->size);
		value += cell->size;
	}
	whole = (uint32_t)(value - begin);
	length[0] = (unsigned char)(0x80 | whole >> 14);
	length[1] = (unsigned char)(0x80 | (whole >> 7 & 0x7f));
	length[2] = (unsigned char)(whole & 0x7f);
	return value;
}

static unsigned char *put_row(unsigned char *at, const unsigned char *end, const struct cell *cells,
			      uint32_t columns)
{
	unsigned char *next = NULL;
	struct head head;

	if ((size_t)(end - at) >= short_bytes(columns))
		next = put_short_row(at, cells, columns);
	if (next)
		return next;
	if (!is_small(cells, columns))
		return NULL;
	make_head(&head, cells, columns);
	return put_record(at, end, cells[0].integer, &head, 0, cells, columns);
}

/* ---- pages */

/* The head of a leaf with some cells. The pointers to these follow. */
static void put_leaf(unsigned char *page, uint32_t cells, uint32_t content)
{
	memset(page, 0, PAGE_HEADER);
	page[0] = LEAF;
	put_u16(page + 3, cells);
	put_u16(page + 5, content);
}

uint32_t image_fill(const struct image_page *page, const struct cell *cells, uint32_t columns,
		    uint32_t count)
{
	unsigned char *const begin = page->bytes, *pointer = begin + PAGE_HEADER;
	unsigned char *const content = pointer + 2 * (size_t)count;
	unsigned char *at = content, *next;
	uint32_t i;

	for (i = 0; i < count; i++, pointer += 2, at = next) {
		next = put_row(at, begin + PAGE_BYTES, cells + (size_t)i * columns, columns);
		if (!next)
			break;
		put_u16(pointer, (uint32_t)(at - begin));
	}
	put_leaf(begin, i, (uint32_t)(content - begin));
	return i;
}

/* ---- the database */

static unsigned char *page_bytes(const struct image *image, unsigned number)
{
	return image->bytes + (size_t)(number - 1) * PAGE_BYTES;
}

static void put_file_header(unsigned char *at, uint32_t pages)
{
	memcpy(at, "SQLite format 3", 16);
	put_u16(at + 16, 1); /* 65536 bytes a page */
	at[18] = at[19] = 1; /* no write-ahead log */
	at[21] = 64;         /* fractions of a page: as they must be */
	at[22] = at[23] = 32;
	put_u32(at + 24, 1); /* changes */
	put_u32(at + 28, pages);
	put_u32(at + 40, 1); /* changes of the schema */
	put_u32(at + 44, 4); /* its format */
	put_u32(at + 56, 1); /* UTF-8 */
	put_u32(at + 92, 1); /* changes, again */
	put_u32(at + 96, SQLITE_VERSION_NUMBER);
}

static void set_text(struct cell *cell, const char *text)
{
	cell_static_text(cell, text, strlen(text));
}

/* Row `row` of sqlite_schema at `at`; its table has the page of that number. */
static unsigned char *put_table(unsigned char *at, const unsigned char *end, unsigned row,
				unsigned number, const char *name, const char *sql)
{
	struct cell cells[6];
	struct head head;

	/* a compiler does not see that what is not set is not read */
	memset(cells, 0, sizeof(cells));
	set_text(&cells[1], "table");
	set_text(&cells[2], name);
	set_text(&cells[3], name);
	cell_int(&cells[4], number);
	set_text(&cells[5], sql);
	make_head(&head, cells, 6);
	return put_record(at, end, row, &head, 1, cells, 6); /* its id is no column */
}

/* Where rows of sqlite_schema go. */
struct schema_page {
	unsigned char *at, *end; /* of what is free */
	unsigned char *pointer;
	unsigned count;
};

/* A row: a table whose page has that number. False: there is no room. */
static bool add_table(struct schema_page *schema, const unsigned char *first, char kind,
		      unsigned number, const char *columns)
{
	unsigned char *next;
	char sql[4096], name[16];

	snprintf(name, sizeof(name), "%c%u", kind, number);
	snprintf(sql, sizeof(sql), "CREATE TABLE %s%s", name, columns);
	next = put_table(schema->at, schema->end, schema->count + 1, number, name, sql);
	if (!next)
		return false;
	put_u16(schema->pointer, (uint32_t)(schema->at - first));
	schema->pointer += 2;
	schema->at = next;
	schema->count++;
	return true;
}

/* A table of a row, for try_image. */
#define TRIED        "r2"
#define TRIED_NUMBER 2u

/* Writes the pages: the schema's, one to be tried, and those of the tables. */
static void write_pages(struct image *image, sqlite3 *db, const char *const *tables, size_t count,
			struct image_page *pages)
{
	unsigned char *const first = image->bytes;
	const size_t content = FILE_HEADER + PAGE_HEADER + 2 * 2 * (count + 1);
	struct schema_page schema = {first + content, first + PAGE_BYTES,
				     first + FILE_HEADER + PAGE_HEADER, 0};
	unsigned number = TRIED_NUMBER;
	struct append_table table = {.columns = "(id INTEGER PRIMARY KEY, value INTEGER)"};

	put_file_header(first, (uint32_t)(image->size / PAGE_BYTES));
	for (size_t i = 0; i <= count; i++) { /* the first is TRIED */
		if (i && !append_find_table(db, tables[i - 1], &table))
			continue;
		if (!add_table(&schema, first, 'r', number, table.columns))
			break;
		if (append_drop_key(table.columns))
			(void)add_table(&schema, first, 'a', number, table.columns);
		put_leaf(page_bytes(image, number), 0, PAGE_HEADER);
		if (i)
			pages[i - 1] = (struct image_page){page_bytes(image, number), number};
		number++;
	}
	put_leaf(first + FILE_HEADER, schema.count, (uint32_t)content);
}

static bool attach(const struct image *image, sqlite3 *db)
{
	const sqlite3_int64 size = (sqlite3_int64)image->size;

	/* mmap_size: pages are read where they are */
	return sqlite3_exec(db, "ATTACH ':memory:' AS " IMAGE_SCHEMA, NULL, NULL, NULL) ==
		       SQLITE_OK &&
	       sqlite3_deserialize(db, IMAGE_SCHEMA, image->bytes, size, size, 0) == SQLITE_OK &&
	       sqlite3_exec(db, "PRAGMA " IMAGE_SCHEMA ".mmap_size=1073741824", NULL, NULL, NULL) ==
		       SQLITE_OK;
}

/* Whether a statement sees what is in the page now: two, in one transaction. */
static bool sees_changes(const struct image *image, sqlite3 *db)
{
	const struct image_page page = {page_bytes(image, TRIED_NUMBER), TRIED_NUMBER};
	sqlite3_stmt *stmt = NULL;
	struct cell cells[2];
	bool sees = sqlite3_prepare_v2(db, "SELECT id, value FROM " IMAGE_SCHEMA "." TRIED, -1,
				       &stmt, NULL) == SQLITE_OK;

	for (int64_t i = 1; sees && i <= 2; i++) {
		cell_int(&cells[0], i);
		cell_int(&cells[1], -1000 * i);
		sees = image_fill(&page, cells, 2, 1) == 1 && sqlite3_step(stmt) == SQLITE_ROW &&
		       sqlite3_column_int64(stmt, 0) == i &&
		       sqlite3_column_int64(stmt, 1) == -1000 * i &&
		       sqlite3_step(stmt) == SQLITE_DONE;
		sqlite3_reset(stmt);
	}
	sqlite3_finalize(stmt);
	return sees;
}

static bool try_image(const struct image *image, sqlite3 *db)
{
	bool good = attach(image, db) &&
		    sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
		    sees_changes(image, db);

	if (!sqlite3_get_autocommit(db))
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return good;
}

void image_init(struct image *image, sqlite3 *db, const char *const *tables, size_t count,
		struct image_page *pages)
{
	*image = (struct image){0};
	memset(pages, 0, count * sizeof(*pages));
	if (!sqlite3_deserialize || count > TABLES_MAX)
		return;
	image->size = (count + 2) * PAGE_BYTES;
	image->bytes =
		mmap(NULL, image->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (image->bytes == MAP_FAILED) {
		image->bytes = NULL;
		return;
	}
	write_pages(image, db, tables, count, pages);
	if (try_image(image, db))
		return;
	memset(pages, 0, count * sizeof(*pages));
	image_detach(image, db);
	image_fini(image);
}

void image_detach(struct image *image, sqlite3 *db)
{
	if (image->bytes)
		sqlite3_exec(db, "DETACH " IMAGE_SCHEMA, NULL, NULL, NULL);
}

void image_fini(struct image *image)
{
	if (image->bytes)
		munmap(image->bytes, image->size);
	image->bytes = NULL;
}
