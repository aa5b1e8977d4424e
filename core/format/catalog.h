/* SPDX-License-Identifier: MIT */
/* The dictionary of another process's spool, as read. Every length and offset is checked: the file may be damaged.
 *
 * Threads: the host's lock, but any thread may call catalog_string and catalog_tracepoint. */
#pragma once

#include <rtl/subscriber.h>

#include "spool.h"
#include "table.h"

struct dict_piece;

struct catalog {
	struct dict_piece *pieces;
	uint64_t position; /* how far the dictionary has been read */
	bool damaged;      /* nothing after position can be read */
	struct rtl_process process;
	struct rtl_stream_info *streams[SPOOL_STREAMS_MAX];
	uint32_t stream_count; /* streams below it have been read */
	struct table strings;
	struct table tracepoints;
};

/* Reads the entries up to `length`, of a copy; 0, RTL_ENOMEM (call again), or RTL_EFORMAT: damaged, all
 * before the damage has been read. */
int catalog_read(struct catalog *catalog, const uint8_t *dict, uint64_t length);
const char *catalog_string(const struct catalog *catalog, uint64_t id);
/* As ids_tracepoint. */
bool catalog_tracepoint(const struct catalog *catalog, uint64_t uid, struct rtl_tracepoint *out,
			struct rtl_metadata **metadata, uint32_t *room);
/* Puts a pair behind the n others of a list (malloc; room for *room); false: no memory. */
bool catalog_put_metadata(struct rtl_metadata **list, uint32_t *room, uint32_t n, const char *key,
			  const char *value, uint32_t kind);
void catalog_fini(struct catalog *catalog);

/* Copies texts one behind the other; they then point there. NULL is an empty one. Returns the bytes that
 * it takes; `to` NULL: nothing else. */
static inline size_t texts_put(char *to, const char **texts, size_t n)
{
	size_t all = 0;

	for (size_t i = 0; i < n; i++) {
		const size_t size = texts[i] ? strlen(texts[i]) + 1 : 1;

		if (to)
			texts[i] = memcpy(to + all, texts[i] ? texts[i] : "", size);
		all += size;
	}
	return all;
}
