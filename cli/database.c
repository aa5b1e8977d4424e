/* SPDX-License-Identifier: MIT */
/* See database.h. */
#include "database.h"

#include "summarize_causes.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <rtl/events.h>

#include "cli.h"
#include "summary.h"

/* Kinds of operations that are kept apart; RPD's recorders know a dozen. */
#define KINDS_MAX 256
#define GPUS_MAX  1024

struct database {
	sqlite3 *connection;
	char *path;
	bool has_copies;
	bool has_calls;
	bool has_dispatches, has_ledger, has_facts;
	bool quiet; /* until it is open */
};

/* Operations of one type, by the type's id. */
struct kind {
	sqlite3_int64 id;
	bool is_kernel;
	bool is_copy; /* counted from rtl_copy */
	char *name;
	struct summary_section *section;
	struct summary_ids groups; /* by the description's id */
};

/* What is under way while a trace is summed up. */
struct reading {
	struct database *database;
	struct summary *summary;
	sqlite3_stmt *string, *flags;
	struct kind kinds[KINDS_MAX];
	size_t kind_count;
	struct kind *last_kind;
	struct summary_device *device;
	sqlite3_int64 device_number;
	/* Where rocpd_op counts GPUs from 0 (fact "gpu"): their KFD nodes, in pairs with those. */
	struct {
		sqlite3_int64 index, node;
	} gpus[GPUS_MAX];
	size_t gpu_count;
};

static int out_of_memory(void)
{
	cli_error("out of memory");
	return -1;
}

/* Says what SQLite has against it. */
static int fail(const struct database *database)
{
	int code = sqlite3_errcode(database->connection);

	if (database->quiet)
		return -1;
	if (code == SQLITE_NOTADB)
		cli_error("%s is no trace: not an SQLite database", database->path);
	else if (code == SQLITE_CORRUPT)
		cli_error("%s is damaged (%s); `sqlite3 %s .recover` may save a part",
			  database->path, sqlite3_errmsg(database->connection), database->path);
	else
		cli_error("%s cannot be read: %s", database->path,
			  sqlite3_errmsg(database->connection));
	return -1;
}

static sqlite3_stmt *prepare(const struct database *database, const char *sql)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(database->connection, sql, -1, &statement, NULL) != SQLITE_OK) {
		fail(database);
		return NULL;
	}
	return statement;
}

/* ---- opening ---- */

/* Whether there is a table or view of that name; -1 after a line. */
static int has_table(const struct database *database, const char *name)
{
	sqlite3_stmt *statement =
		prepare(database, "SELECT 1 FROM sqlite_master WHERE type IN ('table', 'view') "
				  "AND name = ?");
	int rc, found = -1;

	if (!statement)
		return -1;
	sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
	rc = sqlite3_step(statement);
	if (rc == SQLITE_ROW || rc == SQLITE_DONE)
		found = rc == SQLITE_ROW;
	else
		fail(database);
	sqlite3_finalize(statement);
	return found;
}

static bool has_any_table(const struct database *database)
{
	sqlite3_stmt *statement = prepare(database, "SELECT 1 FROM sqlite_master");
	int rc = sqlite3_step(statement);

	sqlite3_finalize(statement);
	return rc != SQLITE_DONE;
}

static int look_for_tables(struct database *database)
{
	int op = has_table(database, "rocpd_op");
	int string = op > 0 ? has_table(database, "rocpd_string") : op;

	if (op < 0 || string < 0)
		return -1;
	if (!op || !string) {
		if (!database->quiet)
			cli_error("%s is no trace: the database has no table %s", database->path,
				  op ? "rocpd_string" : "rocpd_op");
		return -1;
	}
	database->has_dispatches = has_table(database, "rtl_dispatch") > 0;
	database->has_copies = has_table(database, "rtl_copy") > 0;
	database->has_calls = has_table(database, "rtl_call") > 0;
	database->has_ledger =
		has_table(database, "rtl_ledger") > 0 && has_table(database, "rtl_loss") > 0;
	database->has_facts = has_table(database, "rtl_meta") > 0;
	return 0;
}

/* What SQLite would not say, or say badly; NULL: nothing. */
static const char *find_fault(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return strerror(errno);
	if (S_ISDIR(st.st_mode))
		return "is no trace but a folder; of a recording `rtl replay` makes one";
	return S_ISREG(st.st_mode) && !st.st_size ? "is no trace: the file is empty" : NULL;
}

/*
 * Opens it read-only if that works. A trace that was cut off (its -wal is there, its -shm not) can
 * only be read by a connection that may write.
 */
static int connect_to(struct database *database)
{
	static const int ways[] = {SQLITE_OPEN_READONLY, SQLITE_OPEN_READWRITE};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		sqlite3_close(database->connection);
		database->connection = NULL;
		int rc = sqlite3_open_v2(database->path, &database->connection, ways[i], NULL);
		if (!database->connection)
			return out_of_memory();
		sqlite3_busy_timeout(database->connection, 5000);
		if (rc == SQLITE_OK)
			rc = sqlite3_exec(database->connection, "SELECT 1 FROM sqlite_master", NULL,
					  NULL, NULL);
		if (rc == SQLITE_OK)
			return 0;
		if ((rc & 0xff) != SQLITE_CANTOPEN && (rc & 0xff) != SQLITE_READONLY)
			break;
	}
	return fail(database);
}

/* Without looking at what is in it. */
static struct database *open_any(const char *path, bool quiet)
{
	const char *fault = find_fault(path);
	struct database *database;

	if (fault) {
		if (!quiet)
			cli_error("%s: %s", path, fault);
		return NULL;
	}
	database = calloc(1, sizeof(*database));
	if (!database || !(database->path = strdup(path))) {
		free(database);
		out_of_memory();
		return NULL;
	}
	database->quiet = quiet;
	if (connect_to(database)) {
		database_close(database);
		return NULL;
	}
	return database;
}

struct database *database_open(const char *path, bool quiet)
{
	struct database *database = open_any(path, quiet);

	if (!database)
		return NULL;
	if (look_for_tables(database)) {
		database_close(database);
		return NULL;
	}
	database->quiet = false;
	return database;
}

bool database_replaceable(const char *path)
{
	struct stat st;
	struct database *database;
	bool replaceable;

	if (stat(path, &st))
		return true; /* or it cannot be looked at: who makes it says that better */
	if (S_ISREG(st.st_mode) && !st.st_size)
		return true;
	database = open_any(path, true);
	replaceable = database && (!has_any_table(database) || !look_for_tables(database));
	database_close(database);
	return replaceable;
}

bool database_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

void database_close(struct database *database)
{
	if (!database)
		return;
	sqlite3_close(database->connection);
	free(database->path);
	free(database);
}

char *database_fact(struct database *database, const char *key)
{
	char *value = NULL;
	sqlite3_stmt *statement;

	if (!database->has_facts)
		return NULL;
	statement = prepare(database, "SELECT value FROM rtl_meta WHERE key = ?");
	if (!statement)
		return NULL;
	sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
	if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0))
		value = strdup((const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return value;
}

/* The number that a query answers with; 0 for NULL, -1 if it fails. */
static int64_t ask_number(struct database *database, const char *sql)
{
	sqlite3_stmt *statement = prepare(database, sql);
	int64_t number = -1;

	if (!statement)
		return -1;
	if (sqlite3_step(statement) == SQLITE_ROW)
		number = sqlite3_column_int64(statement, 0);
	else
		fail(database);
	sqlite3_finalize(statement);
	return number;
}

int64_t database_operations(struct database *database)
{
	return ask_number(database, "SELECT count(*) FROM rocpd_op");
}

int64_t database_lost(struct database *database)
{
	return ask_number(database, "SELECT sum(discarded + abandoned + missed) FROM rtl_ledger "
				    "WHERE stream <> 'rtl.diagnostics'");
}

int64_t database_events(struct database *database)
{
	if (!database->has_ledger)
		return 0;
	return ask_number(database, "SELECT sum(delivered) FROM rtl_ledger "
				    "WHERE stream <> 'rtl.diagnostics'");
}

/*
 * A tool that cuts a trace by time (RPD's rpd_trim) removes rows of rocpd tables only, among them
 * those that mark where a process begins and ends. If one of these is gone, the others are counted.
 */
#define WHERE_CUT                                                                                  \
	" WHERE EXISTS (SELECT 1 FROM rtl_process WHERE api_id NOT IN (SELECT id FROM rocpd_api)"  \
	" OR end_api_id NOT IN (SELECT id FROM rocpd_api))"

static const char ask_removed[] =
	"SELECT (SELECT count(*) FROM rtl_dispatch WHERE op_id NOT IN (SELECT id FROM rocpd_op)),"
	" (SELECT count(*) FROM rtl_dispatch),"
	" (SELECT count(*) FROM rtl_copy WHERE op_id NOT IN (SELECT id FROM rocpd_op)),"
	" (SELECT count(*) FROM rtl_copy),"
	" (SELECT count(*) FROM rtl_call WHERE api_id NOT IN (SELECT id FROM rocpd_api)),"
	" (SELECT count(*) FROM rtl_call),"
	" (SELECT count(*) FROM rtl_marker WHERE api_id NOT IN (SELECT id FROM rocpd_api)),"
	" (SELECT count(*) FROM rtl_marker)" WHERE_CUT;

struct removed {
	char *line;
	bool any, failed;
};

/* row: removed and all, of dispatches, copies, calls, markers */
static void tell_removed(void *user, const char *const *row)
{
	struct removed *removed = user;

	removed->any = true;
	removed->failed =
		asprintf(&removed->line,
			 "rows were removed from it after it was recorded, as rpd_trim does: %s of "
			 "%s dispatches, %s of %s copies, %s of %s calls, %s of %s ranges and "
			 "marks; its ledger is that of the whole recording",
			 row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7]) < 0;
}

int database_removed(struct database *database, char **line)
{
	struct removed removed = {NULL, false, false};
	int error = database_query(database, ask_removed, tell_removed, &removed);

	*line = removed.failed ? NULL : removed.line;
	return removed.failed ? out_of_memory() : error;
}

#define COLUMNS_MAX 16

int database_query(struct database *database, const char *sql,
		   void (*fn)(void *user, const char *const *row), void *user)
{
	const char *row[COLUMNS_MAX];
	sqlite3_stmt *statement;
	int rc;

	if (sqlite3_prepare_v2(database->connection, sql, -1, &statement, NULL) != SQLITE_OK)
		return sqlite3_errcode(database->connection) == SQLITE_ERROR ? 0 : fail(database);
	while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(statement) && i < COLUMNS_MAX; i++)
			row[i] = (const char *)sqlite3_column_text(statement, i);
		fn(user, row);
	}
	if (rc != SQLITE_DONE)
		rc = fail(database);
	else
		rc = 0;
	sqlite3_finalize(statement);
	return rc;
}

int database_query_numbers(struct database *database, const char *sql, int columns,
			   int (*fn)(void *user, const int64_t *row), void *user)
{
	int64_t row[COLUMNS_MAX];
	sqlite3_stmt *statement;
	int rc, status = 0;

	if (sqlite3_prepare_v2(database->connection, sql, -1, &statement, NULL) != SQLITE_OK)
		return sqlite3_errcode(database->connection) == SQLITE_ERROR ? 0 : fail(database);
	while (!status && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
		for (int i = 0; i < columns; i++)
			row[i] = sqlite3_column_int64(statement, i);
		status = fn(user, row);
	}
	if (!status && rc != SQLITE_DONE)
		status = fail(database);
	sqlite3_finalize(statement);
	return status;
}

/* ---- operations ---- */

/* A string by its id; "" if there is none. To be freed. */
static char *read_string(struct reading *r, sqlite3_int64 id)
{
	const char *text = NULL;

	sqlite3_bind_int64(r->string, 1, id);
	if (sqlite3_step(r->string) == SQLITE_ROW)
		text = (const char *)sqlite3_column_text(r->string, 0);
	char *copy = strdup(text ? text : "");
	sqlite3_reset(r->string);
	return copy;
}

static struct summary_section *kernel_section(struct summary *summary)
{
	return summary_section(summary, RTL_STREAM_HSA, "task", "GPU kernels");
}

/* Whether rtl_copy has operations of that type; by names only in outputs of rtl. */
static bool is_copy(const struct database *database, const char *name)
{
	return database->has_copies && (!strncmp(name, "Copy", 4) || !strcmp(name, "FillBuffer"));
}

static struct kind *add_kind(struct reading *r, sqlite3_int64 id)
{
	struct kind *kind = &r->kinds[r->kind_count];

	/* Too many types: the rest go with the last. */
	if (r->kind_count == KINDS_MAX)
		return kind - 1;
	*kind = (struct kind){.id = id, .name = read_string(r, id)};
	if (!kind->name)
		return NULL;
	r->kind_count++;
	kind->is_kernel = !strcmp(kind->name, "KernelExecution");
	kind->is_copy = is_copy(r->database, kind->name);
	kind->section =
		kind->is_kernel
			? summary_section(r->summary, RTL_STREAM_HSA, "task", "GPU kernels")
			: summary_section(r->summary, "rocpd", "operation", "Other GPU operations");
	return kind->section ? kind : NULL;
}

static struct kind *find_kind(struct reading *r, sqlite3_int64 id)
{
	if (r->last_kind && r->last_kind->id == id)
		return r->last_kind;
	r->last_kind = NULL;
	for (size_t i = 0; i < r->kind_count && !r->last_kind; i++) {
		if (r->kinds[i].id == id)
			r->last_kind = &r->kinds[i];
	}
	if (!r->last_kind)
		r->last_kind = add_kind(r, id);
	return r->last_kind;
}

/* The row for a description; an operation without one goes by its type. */
static struct summary_group *find_group(struct reading *r, struct kind *kind,
					sqlite3_int64 description)
{
	uint64_t key = (uint64_t)description;
	struct summary_group *group = key ? summary_ids_find(&kind->groups, key) : NULL;

	if (group)
		return group;
	char *name = read_string(r, description);
	if (!name)
		return NULL;
	group = summary_group(kind->section, *name ? name : *kind->name ? kind->name : "(unnamed)");
	free(name);
	if (group && key)
		summary_ids_put(&kind->groups, key, group);
	return group;
}

/* Whether rtl says that the times of a dispatch are not known. */
static bool has_no_time(struct reading *r, sqlite3_int64 id)
{
	bool none = false;

	if (!r->flags)
		return false;
	sqlite3_bind_int64(r->flags, 1, id);
	if (sqlite3_step(r->flags) == SQLITE_ROW)
		none = sqlite3_column_int(r->flags, 0) & RTL_HSA_DISPATCH_NO_TIME;
	sqlite3_reset(r->flags);
	return none;
}

/* row: index, node */
static void add_gpu(void *user, const char *const *row)
{
	struct reading *r = user;

	if (r->gpu_count == GPUS_MAX || !row[0] || !row[1])
		return;
	r->gpus[r->gpu_count].index = strtoll(row[0], NULL, 10);
	r->gpus[r->gpu_count++].node = strtoll(row[1], NULL, 10);
}

static int look_for_gpus(struct reading *r)
{
	char *gpu = database_fact(r->database, "gpu");
	int error = 0;

	if (gpu && !strcmp(gpu, "index"))
		error = database_query(r->database,
				       "SELECT DISTINCT i.value, n.value FROM "
				       "rtl_tracepoint_metadata AS i JOIN rtl_tracepoint_metadata "
				       "AS n USING (process, uid) WHERE i.key = 'gpu_index' AND "
				       "n.key = 'node'",
				       add_gpu, r);
	free(gpu);
	return error;
}

static sqlite3_int64 node_of(const struct reading *r, sqlite3_int64 number)
{
	for (size_t i = 0; i < r->gpu_count; i++)
		if (r->gpus[i].index == number)
			return r->gpus[i].node;
	return number;
}

static bool add_to_device(struct reading *r, sqlite3_int64 number, sqlite3_int64 start,
			  sqlite3_int64 end)
{
	if (!r->device || number != r->device_number)
		r->device = summary_device(r->summary, (uint32_t)node_of(r, number));
	r->device_number = number;
	if (!r->device)
		return false;
	summary_device_add(r->device, (uint64_t)start, (uint64_t)end);
	return true;
}

enum { ID, GPU, START, END, DESCRIPTION, TYPE };
#define COLUMNS "id, gpuId, start, \"end\", description_id, opType_id"

static int add_operation(struct reading *r, sqlite3_stmt *row)
{
	struct kind *kind = find_kind(r, sqlite3_column_int64(row, TYPE));
	struct summary_group *group;
	sqlite3_int64 start = sqlite3_column_int64(row, START);
	sqlite3_int64 end = sqlite3_column_int64(row, END);

	if (kind && kind->is_copy)
		return 0;
	group = kind ? find_group(r, kind, sqlite3_column_int64(row, DESCRIPTION)) : NULL;
	if (!group)
		return out_of_memory();
	if (start == end && (!start || has_no_time(r, sqlite3_column_int64(row, ID)))) {
		summary_group_add_untimed(group);
		return 0;
	}
	summary_group_add(group, end > start ? (uint64_t)(end - start) : 0);
	if (kind->is_kernel && !add_to_device(r, sqlite3_column_int64(row, GPU), start, end))
		return out_of_memory();
	return 0;
}

/* Busy times once more, in order: only where they came too far out of it. */
static int add_devices_in_order(struct reading *r)
{
	sqlite3_stmt *statement =
		prepare(r->database, "SELECT " COLUMNS " FROM rocpd_op ORDER BY gpuId, start");
	int rc, error = 0;

	if (!statement)
		return -1;
	summary_forget_devices(r->summary);
	r->device = NULL;
	while (!error && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
		struct kind *kind = find_kind(r, sqlite3_column_int64(statement, TYPE));
		sqlite3_int64 start = sqlite3_column_int64(statement, START);
		sqlite3_int64 end = sqlite3_column_int64(statement, END);
		if (!kind || !kind->is_kernel ||
		    (start == end &&
		     (!start || has_no_time(r, sqlite3_column_int64(statement, ID)))))
			continue;
		if (!add_to_device(r, sqlite3_column_int64(statement, GPU), start, end))
			error = out_of_memory();
	}
	if (!error && rc != SQLITE_DONE)
		error = fail(r->database);
	sqlite3_finalize(statement);
	return error;
}

static int add_operations(struct reading *r)
{
	sqlite3_stmt *statement = prepare(r->database, "SELECT " COLUMNS " FROM rocpd_op");
	int rc = SQLITE_DONE, error = 0;

	if (!statement)
		return -1;
	while (!error && (rc = sqlite3_step(statement)) == SQLITE_ROW)
		error = add_operation(r, statement);
	if (!error && rc != SQLITE_DONE)
		error = fail(r->database);
	sqlite3_finalize(statement);
	if (!error && summary_uncertain_ns(r->summary))
		error = add_devices_in_order(r);
	return error;
}

/* ---- rows of other tables ---- */

static const char *text_of(sqlite3_stmt *row, int column)
{
	const unsigned char *text = sqlite3_column_text(row, column);

	return text ? (const char *)text : "";
}

static int add_rows(const struct database *database, struct summary *summary, const char *sql,
		    int (*add)(struct summary *summary, sqlite3_stmt *row))
{
	sqlite3_stmt *statement = prepare(database, sql);
	int rc = SQLITE_DONE, error = 0;

	if (!statement)
		return -1;
	while (!error && (rc = sqlite3_step(statement)) == SQLITE_ROW)
		error = add(summary, statement) ? out_of_memory() : 0;
	if (!error && rc != SQLITE_DONE)
		error = fail(database);
	sqlite3_finalize(statement);
	return error;
}

/* ---- copies ---- */

#define COPY_COLUMNS "direction, bytes, begin_ns, end_ns, status"
/* As kernels are counted by rocpd_op: without those that were removed from it (ask_removed). */
#define COPY_LEFT " WHERE op_id IS NULL OR op_id IN (SELECT id FROM rocpd_op)"

static int add_copy(struct summary *summary, sqlite3_stmt *row)
{
	struct summary_section *section =
		summary_section(summary, RTL_STREAM_HSA_COPY, "transfer", "GPU copies");
	const sqlite3_int64 begin = sqlite3_column_int64(row, 2),
			    end = sqlite3_column_int64(row, 3);
	struct summary_group *group;

	if (!section)
		return RTL_ENOMEM;
	if (sqlite3_column_int64(row, 4)) {
		summary_section_add_refused(section, 1);
		return 0;
	}
	/* Named as its tracepoint: live and from a file they are the same. */
	group = summary_group(section,
			      rtl_hsa_copy_direction_text((uint32_t)sqlite3_column_int(row, 0)));
	if (!group)
		return RTL_ENOMEM;
	summary_group_add_bytes(group, (uint64_t)sqlite3_column_int64(row, 1), begin && end);
	if (begin && end)
		summary_group_add(group, end > begin ? (uint64_t)(end - begin) : 0);
	else
		summary_group_add_untimed(group);
	return 0;
}

/* ---- calls ---- */

#define CALL_COLUMNS                                                                               \
	"n.string, a.start, a.\"end\", d.string, c.flags & 1, c.flags & 4, a.tid"                  \
	" FROM rtl_call AS c "                                                                     \
	"JOIN rocpd_api AS a ON a.id = c.api_id JOIN rocpd_string AS n ON n.id = a.apiName_id "    \
	"JOIN rocpd_string AS d ON d.id = a.domain_id"

static int add_call(struct summary *summary, sqlite3_stmt *row)
{
	const bool is_hip = !strcmp(text_of(row, 3), "hip");
	struct summary_section *section =
		summary_section(summary, is_hip ? RTL_STREAM_HIP_CALL : RTL_STREAM_HSA_CALL,
				"function", is_hip ? "HIP calls" : "HSA calls");
	const sqlite3_int64 begin = sqlite3_column_int64(row, 1),
			    end = sqlite3_column_int64(row, 2);
	const uint64_t duration = end > begin ? (uint64_t)(end - begin) : 0;
	struct summary_group *group;

	if (section && sqlite3_column_int(row, 5)) /* it had not ended */
		return summary_section_add_open(section, text_of(row, 0),
						(uint32_t)sqlite3_column_int64(row, 6), duration);
	group = section ? summary_group(section, text_of(row, 0)) : NULL;
	if (!group)
		return RTL_ENOMEM;
	summary_group_add(group, duration);
	if (sqlite3_column_int(row, 4)) /* NULL: of HSA */
		summary_group_add_failed(group);
	return 0;
}

/* ---- the ledger ---- */

static int add_ledger_row(struct summary *summary, sqlite3_stmt *row)
{
	const struct rtl_ledger ledger = {
		.struct_size = sizeof(ledger),
		.published = (uint64_t)sqlite3_column_int64(row, 1),
		.delivered = (uint64_t)sqlite3_column_int64(row, 2),
		.discarded = (uint64_t)sqlite3_column_int64(row, 3),
		.abandoned = (uint64_t)sqlite3_column_int64(row, 4),
		.missed = (uint64_t)sqlite3_column_int64(row, 5),
	};

	return summary_add_ledger(summary, text_of(row, 0), &ledger);
}

static int add_loss_row(struct summary *summary, sqlite3_stmt *row)
{
	return summary_add_loss(summary, text_of(row, 0), text_of(row, 1),
				(uint64_t)sqlite3_column_int64(row, 2));
}

static int add_ledger(struct database *database, struct summary *summary)
{
	char *writer = database_fact(database, "writer");
	int error;

	if (writer)
		summary_set_unfinished(summary);
	free(writer);
	if (!database->has_ledger)
		return 0;
	error = add_rows(database, summary,
			 "SELECT stream, sum(published), sum(delivered), sum(discarded), "
			 "sum(abandoned), sum(missed) FROM rtl_ledger GROUP BY stream",
			 add_ledger_row);
	if (!error)
		error = add_rows(database, summary,
				 "SELECT stream, cause, sum(count) FROM rtl_loss "
				 "GROUP BY stream, cause",
				 add_loss_row);
	return error;
}

int database_summarize(struct database *database, struct summary *summary)
{
	struct reading *r = calloc(1, sizeof(*r));
	int error = -1;

	if (!r)
		return out_of_memory();
	/* First, so that it is printed first. */
	if (!kernel_section(summary)) {
		free(r);
		return out_of_memory();
	}
	r->database = database;
	r->summary = summary;
	r->string = prepare(database, "SELECT string FROM rocpd_string WHERE id = ?");
	if (database->has_dispatches)
		r->flags = prepare(database, "SELECT flags FROM rtl_dispatch WHERE op_id = ?");
	if (r->string && (r->flags || !database->has_dispatches))
		error = look_for_gpus(r);
	if (!error)
		error = add_operations(r);
	if (!error && database->has_copies)
		error = add_rows(database, summary,
				 "SELECT " COPY_COLUMNS " FROM rtl_copy" COPY_LEFT, add_copy);
	if (!error && database->has_calls)
		error = add_rows(database, summary, "SELECT " CALL_COLUMNS, add_call);
	if (!error)
		error = summarize_causes(database, summary);
	if (!error)
		error = database_name_gpus(database, summary);
	if (!error)
		error = add_ledger(database, summary);
	for (size_t i = 0; i < r->kind_count; i++) {
		summary_ids_fini(&r->kinds[i].groups);
		free(r->kinds[i].name);
	}
	sqlite3_finalize(r->string);
	sqlite3_finalize(r->flags);
	free(r);
	return error;
}
