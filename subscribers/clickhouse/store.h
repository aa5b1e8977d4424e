/* SPDX-License-Identifier: MIT */
/* store.h: blocks on their way to the server, each event's row once.
 *
 * A block is one INSERT of one partition: all of its rows are stored, or none. Each row of an event has
 * its spool, ring and position, so the server can be asked what it has: whether a block arrived whose
 * answer was lost (its last row is there), and, in a recovery, up to where a process's rows are in each
 * table (the greatest position of each ring).
 *
 * The host's thread. */
#pragma once

#include "block.h"
#include "host.h"
#include "http.h"
#include "json.h"

/** Of the set of tables; another number is another set. */
#define STORE_SCHEMA 4u

struct store_table {
	struct store_table *next;
	struct table_info *info;
	const char *other_name;       /* if the server has one of that name without these columns */
	struct block *blocks, **last; /* full ones, the oldest first */
	struct block *block;          /* that is being filled; NULL: none */
	bool made;                    /* it is there on the server, under the name in info */
};

/** Rows of tables.sql: once more does no harm. */
enum store_fact {
	STORE_PROCESS,
	STORE_GPU,
	STORE_LEDGER,
	STORE_LOSS,
	STORE_LEFT_OUT,
	STORE_FACTS,
};

/** Those that wait, as INSERT has them. */
struct store_facts {
	struct json json; /* its file NULL: none */
	char *text;
	size_t size, rows;
};

struct store {
	struct http http;
	struct names *names;
	const char *session; /* of the query_ids */
	uint64_t nonce, queries;
	FILE *statement; /* that is being made, and its text */
	char *text;
	size_t text_size;
	struct store_table *tables, **last; /* in the order in which they are sent */
	bool ready;                         /* the server has been spoken to, and has our tables */
	struct store_facts facts[STORE_FACTS];
	bool out_of_memory;
	uint64_t rows;       /* that wait */
	uint64_t stored;     /* that are stored */
	uint64_t waiting_ns; /* since when the oldest waits */
	uint64_t away_ns;    /* since when nothing could be stored; 0: it can */
	uint64_t retry_ns;   /* not before that time */
	uint64_t pause_ns;   /* the last one between two tries */
};

/** 0, or an error of rtl's. */
int store_init(struct store *store, const struct http_server *server, struct names *names,
	       const char *session);
void store_fini(struct store *store);

/** Adds a table of events; the descriptions stay. NULL: no memory. */
struct store_table *store_add(struct store *store, struct table_info *info, const char *other_name);
struct block *store_block_slowly(struct store *store, struct store_table *table);
/** Where the table's next row goes; NULL: no memory. */
static inline struct block *store_block(struct store *store, struct store_table *table)
{
	struct block *block = table->block;

	if (__builtin_expect(block && block->rows - 1 < BLOCK_ROWS - 1, 1)) {
		store->rows++;
		return block;
	}
	return store_block_slowly(store, table);
}

/** Has a connection, and makes what is missing of the tables. Everything but HTTP_DONE with store->http.message. */
enum http_result store_prepare(struct store *store);
/** Sends all that waits. */
enum http_result store_commit(struct store *store);
/** Begins a statement. NULL: no memory, which the message says. */
FILE *store_begin(struct store *store);
/** Ends it, and asks the server. */
enum http_result store_send(struct store *store);
/** Both, of one that is short. */
enum http_result store_ask(struct store *store, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/** Whether no statement with such a query_id (a pattern of LIKE) is under way: HTTP_DONE, or HTTP_BUSY.
 *  It looks twice: the server may be about to begin with one that it has just read. */
enum http_result store_is_quiet(struct store *store, const char *query_id);
/** A text as a literal of SQL, valid UTF-8. */
void store_put_text(FILE *out, const char *text);
/** Begins a row of facts, an object whose keys are columns, to be ended. NULL: no memory. */
struct json *store_fact(struct store *store, enum store_fact fact);

/** For waiting. */
static inline uint64_t clock_now_ns(void)
{
	return host_clock_ns(CLOCK_MONOTONIC);
}
