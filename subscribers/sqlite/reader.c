/* SPDX-License-Identifier: MIT */
/* reader.c: the life of a source, and the order of its events. See reader.h. */
#include "reader.h"

#include <sys/stat.h>

#include "host.h"
#include "sqlite_open.h"

#define AT_A_TIME 4096u

/* ---- errors and memory */

int reader_fail(struct reader *r, int error, const char *format, ...)
{
	char line[4096 + 512];
	int n = snprintf(line, sizeof(line), "%.4000s: ", r->path);
	va_list args;

	va_start(args, format);
	vsnprintf(line + n, sizeof(line) - (size_t)n, format, args);
	va_end(args);
	if (!r->error)
		r->host->report(r->host, RTL_LEVEL_ERROR, line);
	r->error = r->error ? r->error : error;
	return r->error;
}

int reader_fail_db(struct reader *r, const char *what)
{
	const int code = sqlite3_errcode(r->db) & 0xff;

	return reader_fail(r,
			   code == SQLITE_NOMEM   ? RTL_ENOMEM
			   : code == SQLITE_IOERR ? RTL_EIO
			   : code == SQLITE_BUSY  ? RTL_EBUSY
						  : RTL_EFORMAT,
			   "%s cannot be read: %s", what, sqlite3_errmsg(r->db));
}

void *reader_alloc(struct reader *r, size_t count, size_t size)
{
	const size_t bytes = (count * size + 8) & ~(size_t)7; /* what follows is aligned, too */
	char *at = count < ((size_t)1 << 40) / (size ? size : 1) ? arena_alloc(&r->memory, bytes)
								 : NULL;

	if (at)
		return memset(at, 0, bytes);
	reader_fail(r, RTL_ENOMEM, "out of memory");
	return NULL;
}

const char *reader_text(struct reader *r, sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);
	const size_t length = text ? (size_t)sqlite3_column_bytes(row, column) : 0;
	char *copy = length ? reader_alloc(r, length + 1, 1) : NULL;

	return copy ? memcpy(copy, text, length) : "";
}

/* ---- questions */

sqlite3_stmt *reader_ask(struct reader *r, const char *format, ...)
{
	sqlite3_stmt *question = NULL;
	va_list args;
	char *sql;

	va_start(args, format);
	sql = sqlite3_vmprintf(format, args);
	va_end(args);
	if (!sql)
		reader_fail(r, RTL_ENOMEM, "out of memory");
	else if (sqlite3_prepare_v2(r->db, sql, -1, &question, NULL) != SQLITE_OK)
		reader_fail_db(r, "the database");
	sqlite3_free(sql);
	return question;
}

bool reader_next(struct reader *r, sqlite3_stmt **question)
{
	const int rc = *question && !r->error ? sqlite3_step(*question) : SQLITE_DONE;

	if (rc == SQLITE_ROW)
		return true;
	if (rc != SQLITE_DONE)
		reader_fail_db(r, "the database");
	sqlite3_finalize(*question);
	*question = NULL;
	return false;
}

bool reader_find(struct reader *r, sqlite3_stmt **question, const char *sql, int64_t a, int64_t b)
{
	int rc;

	if (!*question && !(*question = reader_ask(r, "%s", sql)))
		return false;
	sqlite3_bind_int64(*question, 1, a);
	if (sqlite3_bind_parameter_count(*question) > 1)
		sqlite3_bind_int64(*question, 2, b);
	rc = sqlite3_step(*question);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		reader_fail_db(r, "the database");
	return rc == SQLITE_ROW;
}

/* ---- opening */

static bool source_reads(const char *path)
{
	sqlite3 *db = NULL;
	const bool is = sqlite_open(path, SQLITE_OPEN_AS_OF_NOW, &db) == SQLITE_OK &&
			sqlite3_table_column_metadata(db, NULL, "rtl_origin", NULL, NULL, NULL,
						      NULL, NULL, NULL) == SQLITE_OK;

	sqlite3_close(db);
	return is;
}

static void source_close(void *instance)
{
	struct reader *r = instance;

	for (size_t i = 0; i < r->table_count; i++)
		table_close(r->tables[i]);
	for (size_t i = 0; i < r->process_count; i++)
		map_fini(&r->processes[i].tracepoints);
	sqlite3_finalize(r->string);
	sqlite3_finalize(r->args);
	sqlite3_finalize(r->tracepoint);
	sqlite3_close(r->db);
	map_fini(&r->numbers);
	map_fini(&r->by_number);
	map_fini(&r->strings);
	arena_fini(&r->memory);
	free(r->tables);
	free(r->payloads);
	free(r->path);
	free(r);
}

static int source_open(const struct rtl_source_host *host, const char *path, void **instance)
{
	struct reader *r = calloc(1, sizeof(*r));
	struct stat st;

	if (!r)
		return RTL_ENOMEM;
	*instance = r; /* from here on `close` frees it */
	r->host = host;
	r->path = strdup(path);
	r->payloads = malloc(READER_PAYLOADS);
	if (!r->path || !r->payloads)
		return RTL_ENOMEM;
	if (sqlite_open(path, SQLITE_OPEN_AS_OF_NOW, &r->db) != SQLITE_OK)
		return reader_fail_db(r, "the file");
	r->bytes = stat(path, &st) ? 0 : (uint64_t)st.st_size;
	if (reader_check(r) || reader_load(r))
		return r->error;
	return reader_open_tables(r);
}

/* ---- the order of events: that of ids, over all tables */

void reader_give(struct reader *r)
{
	if (r->event_count && r->host->events(r->host, r->events, r->event_count))
		r->cancelled = true;
	r->event_count = r->used = 0;
}

static void sink(struct reader *r, size_t at)
{
	struct table **heap = r->tables, *moved = heap[at];

	for (size_t child; (child = 2 * at + 1) < r->table_count; at = child) {
		if (child + 1 < r->table_count && table_id(heap[child + 1]) < table_id(heap[child]))
			child++;
		if (table_id(moved) <= table_id(heap[child]))
			break;
		heap[at] = heap[child];
	}
	heap[at] = moved;
}

/* Hands the next event on; false: there is none, or an error. */
static bool take_next(struct reader *r)
{
	struct table *table = r->table_count ? r->tables[0] : NULL;

	if (!table)
		return false;
	r->at_id = table_id(table);
	while (r->begun < r->process_count && r->processes[r->begun].begin_id <= r->at_id) {
		reader_give(r);
		if (reader_begin_process(r))
			return false;
	}
	if (table_take(r, table))
		return false;
	if (!table_next(r, table)) {
		table_close(table);
		r->tables[0] = r->tables[--r->table_count];
	}
	if (r->table_count)
		sink(r, 0);
	return !r->error;
}

static void say_rejected(struct reader *r)
{
	char line[4200];

	snprintf(line, sizeof(line),
		 "%.4000s: %llu events are not as their streams describe them, and count as "
		 "abandoned",
		 r->path, (unsigned long long)r->rejected);
	if (r->rejected)
		r->host->report(r->host, RTL_LEVEL_WARNING, line);
}

static int source_read(void *instance)
{
	struct reader *r = instance;
	uint32_t n = 0;

	for (size_t i = r->at_id ? 0 : r->table_count; i-- > 0;) /* the heap, at first */
		sink(r, i);
	while (n < AT_A_TIME && !r->cancelled && take_next(r))
		n++;
	reader_give(r);
	if (r->cancelled)
		return 0;
	if (r->error || n == AT_A_TIME)
		return r->error ? r->error : 1;
	while (r->begun < r->process_count && !reader_begin_process(r))
		;
	say_rejected(r);
	return r->error;
}

static uint64_t source_left(void *instance)
{
	const struct reader *r = instance;

	return r->table_count && r->last_id > r->at_id
		       ? (uint64_t)((double)r->bytes * (double)(r->last_id - r->at_id) /
				    (double)r->last_id)
		       : 0;
}

RTL_EXPORT_SOURCE = {
	.abi_version = RTL_SOURCE_ABI_VERSION,
	.struct_size = sizeof(struct rtl_source),
	.name = "sqlite",
	.version = HOST_RTL_VERSION,
	.description = "SQLite database of rtl",
	.reads = source_reads,
	.open = source_open,
	.read = source_read,
	.left = source_left,
	.string = reader_string,
	.tracepoint = reader_tracepoint,
	.close = source_close,
};
