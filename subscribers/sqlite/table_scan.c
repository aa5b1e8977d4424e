/* SPDX-License-Identifier: MIT */
/* table_scan.c: see table_scan.h. No byte of a page is believed: what lies beyond it ends the scan. */
#include "table_scan.h"

#include <stdbool.h>
#include <stdlib.h>

#include "record.h"

#define KIND_LEAF  13u
#define KIND_INNER 5u
#define LEVELS     20u

struct walk {
	const struct table_scan *scan;
	uint32_t left; /* pages that may still come */
	unsigned char *pages[LEVELS];
	uint32_t wanted; /* columns up to the last one that is */
};

/* A part of a page. */
struct bytes {
	const unsigned char *at, *end;
};

static __attribute__((noinline)) bool take_long_varint(struct bytes *from, uint64_t *value)
{
	*value = 0;
	for (unsigned i = 0; from->at < from->end; i++) {
		const unsigned char byte = *from->at++;

		if (i == 8) {
			*value = *value << 8 | byte;
			return true;
		}
		*value = *value << 7 | (byte & 0x7f);
		if (byte < 0x80)
			return true;
	}
	return false;
}

/* False: it ends behind the bytes. */
static inline bool take_varint(struct bytes *from, uint64_t *value)
{
	if (from->at == from->end || *from->at >= 0x80)
		return take_long_varint(from, value);
	*value = *from->at++;
	return true;
}

/* Of a record's cell, what stands in the page itself. */
static uint64_t local_bytes(uint32_t page_bytes, uint64_t payload)
{
	const uint64_t most = page_bytes - 35, least = (page_bytes - 12) * 32 / 255 - 23;
	uint64_t local;

	if (payload <= most)
		return payload;
	local = least + (payload - least) % (page_bytes - 4);
	return local <= most ? local : least;
}

static uint64_t value_bytes(uint64_t type)
{
	return type < 10 ? number_bytes[type] : type < 12 ? 0 : (type - 12) / 2;
}

/* False: it is none. */
static bool take_integer(struct bytes body, uint64_t offset, uint64_t type, int64_t *value)
{
	uint64_t bits = 0;
	unsigned size;

	if (type == 8 || type == 9) {
		*value = (int64_t)type - 8;
		return true;
	}
	if (type < 1 || type > 6)
		return false;
	size = number_bytes[type];
	if (offset > (uint64_t)(body.end - body.at) ||
	    size > (uint64_t)(body.end - body.at) - offset)
		return false;
	for (unsigned i = 0; i < size; i++)
		bits = bits << 8 | body.at[offset + i];
	*value = (int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size);
	return true;
}

static int take_record(const struct walk *walk, int64_t id, struct bytes record)
{
	const struct table_scan *scan = walk->scan;
	uint64_t types[TABLE_COLUMNS_MAX], offsets[TABLE_COLUMNS_MAX], offset = 0, head_bytes;
	int64_t values[TABLE_COLUMNS_MAX];
	struct bytes head = record, body = record;

	if (!take_varint(&head, &head_bytes) || head_bytes > (uint64_t)(record.end - record.at))
		return SQLITE_ABORT;
	head.end = body.at = record.at + head_bytes;
	for (uint32_t i = 0; i < walk->wanted; i++) {
		/* a column that was added later is not there: what it is stands elsewhere */
		if (!take_varint(&head, &types[i]))
			return SQLITE_ABORT;
		offsets[i] = offset;
		offset += value_bytes(types[i]);
	}
	for (uint32_t i = 0; i < scan->count; i++)
		if (!take_integer(body, offsets[scan->columns[i]], types[scan->columns[i]],
				  &values[i]))
			return SQLITE_ABORT;
	return scan->row(scan->user, id, values);
}

static int take_cell(const struct walk *walk, const unsigned char *page, uint32_t place)
{
	const uint32_t page_bytes = walk->scan->page_bytes;
	struct bytes cell = {page + place, page + page_bytes};
	uint64_t payload, id, local;

	if (!take_varint(&cell, &payload) || !take_varint(&cell, &id))
		return SQLITE_ABORT;
	local = local_bytes(page_bytes, payload);
	if (local > (uint64_t)(cell.end - cell.at))
		return SQLITE_ABORT;
	cell.end = cell.at + local;
	return take_record(walk, (int64_t)id, cell);
}

static int walk_page(struct walk *walk, uint32_t number, uint32_t level);

static int walk_cells(struct walk *walk, const unsigned char *page, uint32_t level)
{
	const bool is_leaf = *page == KIND_LEAF;
	const uint32_t page_bytes = walk->scan->page_bytes, cells = get_u16(page + 3);
	const uint32_t head_bytes = is_leaf ? 8 : 12;
	int rc = SQLITE_OK;

	if (head_bytes + 2 * cells > page_bytes)
		return SQLITE_ABORT;
	for (uint32_t i = 0; rc == SQLITE_OK && i < cells; i++) {
		const uint32_t place = get_u16(page + head_bytes + 2 * (size_t)i);

		if (place + 4 > page_bytes) /* none is smaller */
			return SQLITE_ABORT;
		rc = is_leaf ? take_cell(walk, page, place)
			     : walk_page(walk, get_u32(page + place), level + 1);
	}
	return rc == SQLITE_OK && !is_leaf ? walk_page(walk, get_u32(page + 8), level + 1) : rc;
}

static int walk_page(struct walk *walk, uint32_t number, uint32_t level)
{
	const struct table_scan *scan = walk->scan;
	unsigned char *page;
	int rc;

	if (level == LEVELS || number < 2 || number > scan->pages || !walk->left--)
		return SQLITE_ABORT;
	if (!walk->pages[level])
		walk->pages[level] = malloc(scan->page_bytes);
	page = walk->pages[level];
	if (!page)
		return SQLITE_NOMEM;
	rc = scan->methods->xRead(scan->file, page, (int)scan->page_bytes,
				  (sqlite3_int64)(number - 1) * scan->page_bytes);
	if (rc != SQLITE_OK)
		return rc;
	return *page == KIND_LEAF || *page == KIND_INNER ? walk_cells(walk, page, level)
							 : SQLITE_ABORT;
}

int table_scan(const struct table_scan *scan, uint32_t root)
{
	struct walk walk = {.scan = scan, .left = scan->pages};
	int rc;

	for (uint32_t i = 0; i < scan->count; i++) {
		if (scan->columns[i] >= TABLE_COLUMNS_MAX)
			return SQLITE_ABORT;
		if (scan->columns[i] >= walk.wanted)
			walk.wanted = scan->columns[i] + 1;
	}
	rc = walk_page(&walk, root, 0);
	for (uint32_t i = 0; i < LEVELS; i++)
		free(walk.pages[i]);
	return rc;
}
