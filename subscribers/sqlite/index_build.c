/* SPDX-License-Identifier: MIT */
/* index_build.c: see index_build.h. */
#include "index_build.h"

#include <stdlib.h>
#include <string.h>

#include "index_keys.h"
#include "table_scan.h"

#define SPECS_MAX 8u
/* Keys that are kept to be put in order: the later half waits for those that come too early. */
#define WINDOW 65536u
/* This page is never used: it has the byte that is locked. */
#define LOCKED_BYTE  0x40000000
#define FILE_HEADER  100
#define PLACEHOLDER  "rtl_index_pages"
#define PAGES_FEWEST 3u /* that a file has */

/* An index that is being made. */
struct work {
	const struct index_spec *spec;
	struct index_pages pages;
	uint32_t values; /* of a key, with the row's id */
	uint32_t root;
	struct index_key *keys;
	size_t count;
	bool in_order;         /* those in the window */
	bool was_out_of_order; /* some were not */
	bool has_last;
	struct index_key last; /* that was written */
	/* The keys are too far out of order for a window: all are put in order first. */
	bool sorts;
	struct index_runs runs;
};

/* The methods of the file, but what SQLite writes to our pages goes nowhere. */
struct tap {
	sqlite3_io_methods methods; /* first */
	const sqlite3_io_methods *own;
	sqlite3_int64 alone, begin, end; /* where our pages are: one, and those from begin on */
};

struct build {
	sqlite3 *db;
	sqlite3_file *file;
	struct tap tap;
	uint32_t page_bytes;
	uint32_t before;            /* pages that the file had */
	uint32_t alone, begin, end; /* numbers of our pages: the first, and the others */
	struct work works[SPECS_MAX];
	size_t count;
	struct index_key *scratch; /* as many as a window has */
	bool again;                /* what was aborted can be done with more sorting */
};

/* ---- SQL */

static int execute(sqlite3 *db, char *sql)
{
	const int rc = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return rc;
}

static int64_t ask(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int64_t answer = -1;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		answer = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return answer;
}

/* ---- the file */

/* Whether the file is as plain as we need it: no log, nothing at the ends of pages, no map of them, none free. */
static bool look_at_file(struct build *b)
{
	unsigned char head[FILE_HEADER];

	if (sqlite3_file_control(b->db, "main", SQLITE_FCNTL_FILE_POINTER, &b->file) != SQLITE_OK ||
	    !b->file || !b->file->pMethods ||
	    b->file->pMethods->xRead(b->file, head, sizeof(head), 0) != SQLITE_OK)
		return false;
	b->page_bytes = get_u16(head + 16) == 1 ? 65536 : get_u16(head + 16);
	b->before = get_u32(head + 28);
	return head[18] == 1 && head[19] == 1 && !head[20] && !get_u32(head + 36) &&
	       !get_u32(head + 52) && b->page_bytes >= 512 && b->before >= PAGES_FEWEST &&
	       memcmp(head + 24, head + 92, 4) == 0;
}

static sqlite3_int64 place_of(const struct build *b, uint32_t number)
{
	return (sqlite3_int64)(number - 1) * b->page_bytes;
}

/* index_write_fn */
static int append_page(void *user, const unsigned char *page, uint32_t *number)
{
	struct build *b = user;
	const bool is_first = !b->tap.alone;
	const sqlite3_int64 at = place_of(b, is_first ? b->alone : b->end);

	if (at + b->page_bytes > LOCKED_BYTE && at <= LOCKED_BYTE)
		return SQLITE_ABORT;
	*number = is_first ? b->alone : b->end++;
	b->tap.alone = place_of(b, b->alone);
	b->tap.end = place_of(b, b->end);
	return b->tap.own->xWrite(b->file, page, (int)b->page_bytes, at);
}

static int tap_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
	const struct tap *tap = (const struct tap *)(const void *)file->pMethods;

	if ((tap->alone && at == tap->alone) || (at >= tap->begin && at < tap->end))
		return SQLITE_OK;
	return tap->own->xWrite(file, bytes, size, at);
}

/* ---- keys */

static int write_key(void *user, const struct index_key *key)
{
	struct work *work = user;

	return index_pages_add(&work->pages, key->values, work->values);
}

static void sort_keys(const struct build *b, struct work *work)
{
	if (!work->in_order)
		index_keys_sort(work->keys, b->scratch, work->count, work->values - 1);
	work->in_order = true;
}

/* Writes the first of those in the window. */
static int write_keys(struct build *b, struct work *work, size_t count)
{
	int rc = SQLITE_OK;

	sort_keys(b, work);
	if (count && work->has_last && index_key_compare(&work->last, work->keys) >= 0) {
		b->again = true;
		return SQLITE_ABORT;
	}
	for (size_t i = 0; rc == SQLITE_OK && i < count; i++)
		rc = write_key(work, &work->keys[i]);
	if (count) {
		work->has_last = true;
		work->last = work->keys[count - 1];
	}
	work->count -= count;
	memmove(work->keys, work->keys + count, work->count * sizeof(*work->keys));
	return rc;
}

/* Makes a run of those in the window. */
static int store_keys(struct build *b, struct work *work)
{
	int rc;

	sort_keys(b, work);
	rc = index_runs_add(&work->runs, work->keys, work->count);
	work->count = 0;
	return rc;
}

/* The key of a row. */
static int add_key(struct build *b, struct work *work, int64_t id, const int64_t *values)
{
	const uint32_t columns = work->values - 1;
	struct index_key *key;
	int rc = SQLITE_OK;

	if (work->count == WINDOW)
		rc = work->sorts ? store_keys(b, work) : write_keys(b, work, WINDOW / 2);
	if (rc != SQLITE_OK)
		return rc;
	key = &work->keys[work->count];
	key->values[INDEX_VALUES - 1] = 0;
	for (uint32_t i = 0; i < columns; i++)
		key->values[i] = values[i];
	key->values[columns] = id;
	if (work->count && index_key_compare(key - 1, key) > 0) {
		work->in_order = false;
		work->was_out_of_order = true;
	}
	work->count++;
	return SQLITE_OK;
}

/* The pages of what is left, and the root. */
static int end_keys(struct build *b, struct work *work)
{
	int rc;

	if (!work->sorts) {
		rc = write_keys(b, work, work->count);
	} else {
		rc = work->count ? store_keys(b, work) : SQLITE_OK;
		if (rc == SQLITE_OK)
			rc = index_runs_merge(&work->runs, work->keys, WINDOW, write_key, work);
		index_runs_fini(&work->runs);
	}
	return rc == SQLITE_OK ? index_pages_end(&work->pages, &work->root) : rc;
}

/* ---- tables */

/* Indexes of one table. */
struct table {
	struct build *build;
	struct work *works;
	size_t count;
};

/* table_row_fn */
static int add_keys(void *user, int64_t id, const int64_t *values)
{
	const struct table *table = user;
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < table->count; i++) {
		rc = add_key(table->build, &table->works[i], id, values);
		values += table->works[i].values - 1;
	}
	return rc;
}

/* Where a column stands in the records of a table; -1: nowhere. */
static int64_t find_column(const struct build *b, const char *table, const char *column)
{
	char *sql = sqlite3_mprintf("SELECT cid FROM pragma_table_info(%Q, 'main') WHERE name = %Q"
				    " AND NOT (SELECT sum(hidden) FROM pragma_table_xinfo(%Q,"
				    " 'main'))",
				    table, column, table);
	const int64_t number = sql ? ask(b->db, sql) : -1;

	sqlite3_free(sql);
	return number;
}

static int64_t find_root(const struct build *b, const char *table)
{
	char *sql =
		sqlite3_mprintf("SELECT rootpage FROM main.sqlite_master WHERE name = %Q", table);
	const int64_t number = sql ? ask(b->db, sql) : -1;

	sqlite3_free(sql);
	return number;
}

/* Goes through the table once for all of them. */
static int scan(const struct build *b, struct table *table)
{
	uint32_t columns[SPECS_MAX * INDEX_COLUMNS], count = 0;
	const char *name = table->works->spec->table;
	const int64_t root = find_root(b, name);

	for (size_t i = 0; i < table->count; i++)
		for (uint32_t j = 0; j + 1 < table->works[i].values; j++) {
			const int64_t column =
				find_column(b, name, table->works[i].spec->columns[j]);

			if (column < 0)
				return SQLITE_ABORT;
			columns[count++] = (uint32_t)column;
		}
	if (root < 0)
		return SQLITE_ABORT;
	return table_scan(&(struct table_scan){.file = b->file,
					       .methods = b->tap.own,
					       .page_bytes = b->page_bytes,
					       .pages = b->before,
					       .columns = columns,
					       .count = count,
					       .row = add_keys,
					       .user = table},
			  (uint32_t)root);
}

static int try_pages(struct build *b, struct work *works, size_t count)
{
	int rc = scan(b, &(struct table){b, works, count});

	for (size_t i = 0; rc == SQLITE_OK && i < count; i++)
		rc = end_keys(b, &works[i]);
	return rc;
}

static void begin_work(struct build *b, struct work *work)
{
	index_pages_fini(&work->pages);
	index_pages_init(&work->pages, b->page_bytes, append_page, b);
	index_runs_fini(&work->runs);
	work->count = 0;
	work->in_order = true;
	work->has_last = false;
}

/* If a window is not enough, which mostly shows soon, the same once more: with sorting of all that was not in
 * order. */
static int make_pages(struct build *b, struct work *works, size_t count)
{
	const struct tap before = b->tap;
	const uint32_t end = b->end;
	int rc = try_pages(b, works, count);

	while (rc == SQLITE_ABORT && b->again) {
		b->again = false;
		b->tap.alone = before.alone;
		b->tap.end = before.end;
		b->end = end;
		for (size_t i = 0; i < count; i++) {
			works[i].sorts |= works[i].was_out_of_order;
			begin_work(b, &works[i]);
		}
		rc = try_pages(b, works, count);
	}
	return rc;
}

static int make_all_pages(struct build *b)
{
	int rc = SQLITE_OK;

	for (size_t i = 0, same; rc == SQLITE_OK && i < b->count; i += same) {
		for (same = 1; i + same < b->count; same++)
			if (strcmp(b->works[i].spec->table, b->works[i + same].spec->table) != 0)
				break;
		rc = make_pages(b, &b->works[i], same);
	}
	return rc;
}

/* ---- SQLite learns of them */

/* Bytes of a blob that takes so many pages beside its row's own, each of them wholly. */
static sqlite3_int64 blob_bytes(uint32_t page_bytes, uint32_t pages)
{
	const sqlite3_int64 local = (sqlite3_int64)(page_bytes - 12) * 32 / 255 - 23;
	const sqlite3_int64 payload = local + (sqlite3_int64)pages * (page_bytes - 4);
	unsigned char varint[9];

	for (sqlite3_int64 head = 2;; head++)
		if (1 + (put_varint(varint, 12 + 2 * (uint64_t)(payload - head)) - varint) == head)
			return payload - head;
}

/* The root of the table is the first of our pages. What the schema needs more for it is before the others. */
static bool begin_pages(struct build *b)
{
	b->alone = (uint32_t)ask(b->db, "SELECT rootpage FROM main.sqlite_master WHERE name = "
					"'" PLACEHOLDER "'");
	b->begin = b->end = (uint32_t)ask(b->db, "PRAGMA main.page_count") + 1;
	b->tap.begin = b->tap.end = place_of(b, b->begin);
	return b->alone > b->before && b->begin > b->alone;
}

/* Has SQLite take the others, for a blob. */
static int take_pages(const struct build *b)
{
	const uint32_t pages = b->end - b->begin;
	const sqlite3_int64 bytes = blob_bytes(b->page_bytes, pages);
	int rc = SQLITE_TOOBIG;

	if (!pages)
		return SQLITE_OK;
	if (bytes <= sqlite3_limit(b->db, SQLITE_LIMIT_LENGTH, -1))
		rc = execute(b->db, sqlite3_mprintf("INSERT INTO main." PLACEHOLDER
						    " VALUES (zeroblob(%lld))",
						    bytes));
	if (rc == SQLITE_OK && ask(b->db, "PRAGMA main.page_count") != (int64_t)b->end - 1)
		rc = SQLITE_ABORT;
	return rc;
}

/* The pages become those of indexes. */
static int name_pages(const struct build *b)
{
	int rc = execute(b->db, sqlite3_mprintf("PRAGMA writable_schema=ON;"
						"DELETE FROM main.sqlite_master WHERE name = '%s'",
						PLACEHOLDER));

	for (size_t i = 0; rc == SQLITE_OK && i < b->count; i++) {
		const struct work *work = &b->works[i];
		const struct index_spec *spec = work->spec;

		rc = execute(b->db,
			     sqlite3_mprintf("INSERT INTO main.sqlite_master (type, name, tbl_name,"
					     " rootpage, sql) VALUES ('index', %Q, %Q, %u,"
					     " 'CREATE INDEX %w ON %w (%w%s%w)')",
					     spec->name, spec->table, work->root, spec->name,
					     spec->table, spec->columns[0],
					     spec->columns[1] ? ", " : "",
					     spec->columns[1] ? spec->columns[1] : ""));
	}
	return rc;
}

/* ---- all of it */

static bool is_there(const struct build *b, const struct index_spec *spec)
{
	char *sql = sqlite3_mprintf("SELECT (SELECT count(*) FROM main.sqlite_master WHERE type ="
				    " 'index' AND name = %Q) OR NOT (SELECT count(*) FROM"
				    " main.sqlite_master WHERE type = 'table' AND name = %Q)",
				    spec->name, spec->table);
	const bool is = sql && ask(b->db, sql) == 1;

	sqlite3_free(sql);
	return is;
}

static int add_works(struct build *b, const struct index_spec *specs, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct work *work = &b->works[b->count];

		if (is_there(b, &specs[i]))
			continue;
		*work = (struct work){.spec = &specs[i],
				      .values = specs[i].columns[1] ? 3 : 2,
				      .keys = malloc(WINDOW * sizeof(struct index_key))};
		begin_work(b, work);
		b->count++;
		if (!work->keys)
			return SQLITE_NOMEM;
	}
	return SQLITE_OK;
}

static int make_indexes(struct build *b)
{
	int rc = begin_pages(b) ? make_all_pages(b) : SQLITE_ABORT;

	if (rc == SQLITE_OK)
		rc = take_pages(b);
	if (rc == SQLITE_OK)
		rc = name_pages(b);
	return rc == SQLITE_OK ? execute(b->db, sqlite3_mprintf("COMMIT")) : rc;
}

static int make_indexes_tapped(struct build *b)
{
	int rc;

	b->tap.own = b->file->pMethods;
	b->tap.methods = *b->tap.own;
	b->tap.methods.xWrite = tap_write;
	b->file->pMethods = &b->tap.methods;
	rc = make_indexes(b);
	if (rc != SQLITE_OK) {
		(void)b->tap.own->xTruncate(b->file, place_of(b, b->before + 1));
		(void)execute(b->db, sqlite3_mprintf("ROLLBACK"));
	}
	b->file->pMethods = b->tap.own;
	return rc;
}

static int build(struct build *b, const struct index_spec *specs, size_t count)
{
	int rc = execute(b->db, sqlite3_mprintf("BEGIN;"
						"CREATE TABLE main." PLACEHOLDER " (bytes BLOB)"));

	/* nobody else writes from here on, and nothing is in the file yet */
	if (rc == SQLITE_OK && !look_at_file(b))
		rc = SQLITE_ABORT;
	if (rc == SQLITE_OK)
		rc = add_works(b, specs, count);
	if (rc == SQLITE_OK && b->count)
		rc = make_indexes_tapped(b);
	if (!sqlite3_get_autocommit(b->db))
		(void)execute(b->db, sqlite3_mprintf("ROLLBACK"));
	return rc;
}

bool index_build(sqlite3 *db, const struct index_spec *specs, size_t count)
{
	struct build *b = calloc(1, sizeof(*b));
	int rc = SQLITE_NOMEM;

	if (!b)
		return false;
	b->db = db;
	b->scratch = malloc(WINDOW * sizeof(*b->scratch));
	if (b->scratch && count <= SPECS_MAX)
		rc = build(b, specs, count);
	for (size_t i = 0; i < b->count; i++) {
		index_pages_fini(&b->works[i].pages);
		index_runs_fini(&b->works[i].runs);
		free(b->works[i].keys);
	}
	free(b->scratch);
	free(b);
	/* what the cache has of the new pages is not what they are */
	(void)execute(db, sqlite3_mprintf("PRAGMA writable_schema=RESET"));
	(void)sqlite3_db_release_memory(db);
	return rc == SQLITE_OK;
}
