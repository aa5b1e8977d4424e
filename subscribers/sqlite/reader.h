/* SPDX-License-Identifier: MIT */
/* reader.h: the source: gives what is in a database to a host, as it was stored. All of it is read in one transaction,
 * so that a database that grows can be read as well.
 *
 * reader.c is its life and the order of events, reader_info.c all that is no event, reader_rows.c how a row becomes an
 * event. One thread at a time. Nothing in a file is trusted: what is invalid ends the reading after a line, or is an
 * event that counts as abandoned. */
#pragma once

#include <rtl/publish.h>
#include <rtl/source.h>
#include <sqlite3.h>

#include "map.h"
#include "text.h"

/* Events given to the host at once, the largest one, and room for their payloads. */
#define READER_EVENTS     512u
#define READER_EVENT_MAX  (64u << 10)
#define READER_PAYLOADS   (16u * READER_EVENT_MAX)
#define READER_STRING_SQL "SELECT string FROM rtl_string WHERE id = ?"

/* Rows of a small table, by id. */
struct id_rows {
	int64_t *ids; /* ascending, where rows are looked for */
	void *bytes;
	size_t size, count;
};

/* A row of rtl_origin. */
struct reader_origin {
	uint32_t process; /* its place in reader.processes */
	uint32_t tid;
	uint64_t uid, parent_uid;
};

struct reader_process {
	struct rtl_process info;
	int64_t number;                   /* in the file */
	int64_t begin_id;                 /* its place in the order of events */
	const struct rtl_process *theirs; /* the host's; NULL: it has not begun */
	const struct rtl_stream_info **streams;
	struct map tracepoints; /* struct rtl_tracepoint */
};

struct reader_type {
	struct rtl_type_info info; /* its struct_size is that of all of it */
	const char *table;         /* NULL: not stored */
};

struct reader_stream {
	struct rtl_stream_info info;
	bool has_events;
};

static inline const struct reader_type *reader_type(const struct reader_stream *stream, uint32_t i)
{
	return (const struct reader_type *)stream->info.types + i;
}

struct table; /* a storage table, and where in it we are: reader_rows.c */

struct reader {
	const struct rtl_source_host *host;
	char *path;
	sqlite3 *db;
	sqlite3_stmt *string, *args, *tracepoint; /* questions that are asked again */
	int64_t args_id;                          /* what the row of `args` answered last */
	bool args_found;
	int error;           /* the first, after its line */
	struct arena memory; /* what lives as long as the reader */

	struct reader_process *processes; /* in the order in which they began */
	size_t process_count, begun;
	struct reader_stream *streams;
	uint32_t stream_count;
	struct id_rows origins;
	struct map numbers;   /* places in processes, and 1, by the host's pointer */
	struct map by_number; /* the same by the file's number, and 1 */
	struct map strings;

	struct table **tables; /* a heap: the one with the next event is the first */
	size_t table_count;
	int64_t at_id, last_id;
	uint64_t bytes;    /* of the file */
	uint64_t rejected; /* events */

	bool cancelled; /* the host wants no more */

	struct rtl_event events[READER_EVENTS];
	uint32_t event_count;
	uint32_t used; /* of the payloads, bytes */
	uint8_t *payloads;
};

/* Reports a line, with the file's name before it; the first one is the reader's error. Returns it. */
int reader_fail(struct reader *reader, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same of what SQLite could not do. */
int reader_fail_db(struct reader *reader, const char *what);
/* Memory of zeros that is freed with the reader; NULL after a line. */
void *reader_alloc(struct reader *reader, size_t count, size_t size);
/* A text of a row, copied there; "" where there is none. */
const char *reader_text(struct reader *reader, sqlite3_stmt *row, int column);

/* Hands the host the events that wait. */
void reader_give(struct reader *reader);

/* Asks a question; NULL after a line. %lld and the like as sqlite3_mprintf has them. */
sqlite3_stmt *reader_ask(struct reader *reader, const char *format, ...);
/* Its next row. False: that was all, or there is an error; the question is gone. */
bool reader_next(struct reader *reader, sqlite3_stmt **question);
/* Prepares a question once, with one or two numbers; whether there is an answer. Reset it then. */
bool reader_find(struct reader *reader, sqlite3_stmt **question, const char *sql, int64_t a,
		 int64_t b);

/* reader_info.c. All return 0 or an error after a line. */
int reader_check(struct reader *reader);
int reader_load(struct reader *reader);
/* Tells the host of the next process, with its streams and ledger. */
int reader_begin_process(struct reader *reader);
const char *reader_string(void *reader, const struct rtl_process *process, uint64_t id);
bool reader_tracepoint(void *reader, const struct rtl_process *process, uint64_t uid,
		       struct rtl_tracepoint *out);

/* reader_rows.c. */
/* Puts a row into `to`, rows->size bytes of zeros; false: it is invalid. */
typedef bool (*id_rows_take)(struct reader *reader, sqlite3_stmt *row, const void *user, void *to);
/* Reads a small table. The question's first column is the id, ascending. */
void id_rows_load(struct reader *reader, struct id_rows *rows, sqlite3_stmt *question,
		  id_rows_take take, const void *user);
/* Opens all storage tables; each stands at its first row. Returns the reader's error. */
int reader_open_tables(struct reader *reader);
int64_t table_id(const struct table *table);
/* Puts the event of its row to those that wait. Returns the reader's error. */
int table_take(struct reader *reader, struct table *table);
/* False: it has no more rows, or there is an error. */
bool table_next(struct reader *reader, struct table *table);
void table_close(struct table *table);
