/* SPDX-License-Identifier: MIT */
/* index_pages.c: see index_pages.h. */
#include "index_pages.h"

#include <sqlite3.h>
#include <stdlib.h>

#define KIND_LEAF  10u
#define KIND_INNER 2u

void index_pages_init(struct index_pages *pages, uint32_t page_bytes, index_write_fn write,
		      void *user)
{
	*pages = (struct index_pages){.page_bytes = page_bytes, .write = write, .user = user};
}

void index_pages_fini(struct index_pages *pages)
{
	for (uint32_t i = 0; i < INDEX_LEVELS; i++)
		free(pages->levels[i].page);
	*pages = (struct index_pages){0};
}

/* The head of a page, behind which are the places of its entries. */
static uint32_t head_bytes(uint32_t level)
{
	return level ? 12 : 8;
}

static void clear(const struct index_pages *pages, struct index_level *level)
{
	memset(level->page, 0, pages->page_bytes);
	level->count = 0;
	level->content = pages->page_bytes;
}

/* NULL: out of memory, or there are too many. */
static struct index_level *level_at(struct index_pages *pages, uint32_t number)
{
	struct index_level *level = &pages->levels[number];

	if (number == INDEX_LEVELS)
		return NULL;
	if (!level->page) {
		level->page = malloc(pages->page_bytes);
		if (!level->page)
			return NULL;
		clear(pages, level);
		pages->depth = number + 1;
	}
	return level;
}

/* What an entry takes in a page without its place: its child, its length and its record. */
static uint32_t entry_bytes(uint32_t level, const struct index_entry *entry)
{
	return (level ? 4 : 0) + 1 + entry->size;
}

static bool fits(const struct index_level *level, uint32_t number, const struct index_entry *entry)
{
	return head_bytes(number) + 2 * (level->count + 1) + entry_bytes(number, entry) <=
	       level->content;
}

static void put_entry(struct index_level *level, uint32_t number, const struct index_entry *entry)
{
	unsigned char *at;

	level->content -= entry_bytes(number, entry);
	at = level->page + level->content;
	if (number) {
		put_u32(at, entry->child);
		at += 4;
	}
	*at = (unsigned char)entry->size;
	memcpy(at + 1, entry->record, entry->size);
	put_u16(level->page + head_bytes(number) + 2 * (size_t)level->count++, level->content);
}

/* The last one of a page, out of which it is taken. */
static struct index_entry take_last(struct index_level *level, uint32_t number)
{
	const unsigned char *at = level->page + level->content;
	struct index_entry entry = {.child = number ? get_u32(at) : 0};

	at += number ? 4 : 0;
	entry.size = *at;
	memcpy(entry.record, at + 1, entry.size);
	level->content += entry_bytes(number, &entry);
	level->count--;
	return entry;
}

/* Writes a page; the next one of its level is begun. `right`: the page behind its last entry. */
static int write_page(struct index_pages *pages, uint32_t number, uint32_t right, uint32_t *written)
{
	struct index_level *level = &pages->levels[number];
	unsigned char *page = level->page;
	int rc;

	page[0] = number ? KIND_INNER : KIND_LEAF;
	put_u16(page + 3, level->count);
	put_u16(page + 5, level->content); /* 65536 is 0 */
	if (number)
		put_u32(page + 8, right);
	rc = pages->write(pages->user, page, written);
	clear(pages, level);
	return rc;
}

static int add(struct index_pages *pages, uint32_t number, const struct index_entry *entry);

/* Writes a full page, and puts `between` behind it one level up. */
static int write_full(struct index_pages *pages, uint32_t number, struct index_entry between)
{
	uint32_t written;
	int rc = write_page(pages, number, between.child, &written);

	pages->levels[number].is_full = false;
	between.child = written;
	return rc == SQLITE_OK ? add(pages, number + 1, &between) : rc;
}

static int add(struct index_pages *pages, uint32_t number, const struct index_entry *entry)
{
	struct index_level *level = level_at(pages, number);
	int rc = level ? SQLITE_OK : SQLITE_NOMEM;

	if (level && level->is_full)
		rc = write_full(pages, number, level->between);
	if (rc != SQLITE_OK)
		return rc;
	if (fits(level, number, entry)) {
		put_entry(level, number, entry);
	} else {
		level->between = *entry;
		level->is_full = true;
	}
	return SQLITE_OK;
}

int index_pages_add(struct index_pages *pages, const int64_t *values, uint32_t count)
{
	struct index_entry entry = {.child = 0};
	unsigned char *at = entry.record + 1 + count;

	entry.record[0] = (unsigned char)(1 + count);
	for (uint32_t i = 0; i < count; i++) {
		const unsigned type = record_int_type(values[i]);

		entry.record[1 + i] = (unsigned char)type;
		at = put_bits(at, (uint64_t)values[i], number_bytes[type]);
	}
	entry.size = (uint32_t)(at - entry.record);
	return add(pages, 0, &entry);
}

/* A page must not be empty: if nothing came behind a full one, its last entry goes between it and
 * the one that was to. */
static int settle_full(struct index_pages *pages, uint32_t number)
{
	struct index_level *level = &pages->levels[number];
	const struct index_entry last = level->between;
	const int rc = write_full(pages, number, take_last(level, number));

	if (rc == SQLITE_OK)
		put_entry(level, number, &last);
	return rc;
}

int index_pages_end(struct index_pages *pages, uint32_t *root)
{
	uint32_t written = 0;
	int rc = level_at(pages, 0) ? SQLITE_OK : SQLITE_NOMEM;

	for (uint32_t i = 0; rc == SQLITE_OK && i < pages->depth; i++) {
		if (pages->levels[i].is_full)
			rc = settle_full(pages, i);
		if (rc == SQLITE_OK)
			rc = write_page(pages, i, written, &written);
	}
	if (rc == SQLITE_OK)
		*root = written;
	return rc;
}
