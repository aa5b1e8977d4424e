/* SPDX-License-Identifier: MIT */
/* See summarize.h: the whole of it, copies, processes, the ledger. */
#include "summarize.h"

#include <rtl/events.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

int summarize_out_of_memory(void)
{
	cli_error("out of memory");
	return -1;
}

static const char *text_of(sqlite3_stmt *row, int column)
{
	const unsigned char *text = sqlite3_column_text(row, column);

	return text ? (const char *)text : "";
}

/* ---- tables side by side ---- */

static int advance(struct cursor *cursor, const struct summarize *s)
{
	const int rc = sqlite3_step(cursor->rows);

	if (rc == SQLITE_ROW) {
		cursor->id = sqlite3_column_int64(cursor->rows, 0);
		return 0;
	}
	if (rc != SQLITE_DONE)
		return database_fail(s->database);
	cursor_close(cursor);
	return 0;
}

int cursor_open(struct cursor *cursor, const struct summarize *s, const char *table,
		const char *sql)
{
	const int has = database_has_table(s->database, table);

	*cursor = (struct cursor){NULL, 0};
	if (has <= 0)
		return has;
	cursor->rows = database_prepare(s->database, sql);
	return cursor->rows ? advance(cursor, s) : -1;
}

bool cursor_find(struct cursor *cursor, const struct summarize *s, sqlite3_int64 id, int *error)
{
	while (cursor->rows && cursor->id < id && !*error)
		*error = advance(cursor, s);
	return cursor->rows && cursor->id == id && !*error;
}

void cursor_close(struct cursor *cursor)
{
	sqlite3_finalize(cursor->rows);
	cursor->rows = NULL;
}

char *summarize_text(sqlite3_stmt *texts, sqlite3_int64 id)
{
	char *copy;

	sqlite3_bind_int64(texts, 1, id);
	copy = strdup(sqlite3_step(texts) == SQLITE_ROW ? text_of(texts, 0) : "");
	sqlite3_reset(texts);
	return copy;
}

/* ---- processes ---- */

struct summary_process *summarize_process(struct summarize *s, sqlite3_int64 number)
{
	struct summary_process *process =
		(struct summary_process *)(uintptr_t)map_get(&s->processes, (uint64_t)number);

	if (process)
		return process;
	process = summary_process(s->summary, (uint64_t)number);
	if (!process || !map_set(&s->processes, (uint64_t)number, (uintptr_t)process)) {
		summarize_out_of_memory();
		return NULL;
	}
	return process;
}

/* row: process, pid, host, program, rank */
static void describe_process(void *user, const char *const *row)
{
	struct summarize *s = user;
	struct summary_process *process = summarize_process(s, strtoll(row[0], NULL, 10));

	if (process && row[1])
		summary_process_describe(process, (int32_t)strtol(row[1], NULL, 10),
					 row[4] ? (int32_t)strtol(row[4], NULL, 10) : -1, row[2],
					 row[3]);
}

static void note_some(void *user, const char *const *row)
{
	(void)row;
	*(bool *)user = true;
}

int summarize_ask(const struct summarize *s, const char *sql, bool *some)
{
	*some = false;
	return database_query(s->database, sql, note_some, some);
}

static int describe_processes(struct summarize *s)
{
	bool has_rank;
	const int error = summarize_ask(
		s, "SELECT 1 FROM pragma_table_info('rtl_process') WHERE name = 'rank'", &has_rank);

	return error ? error
		     : database_query(s->database,
				      has_rank ? "SELECT process, pid, host_name, program, rank"
						 " FROM rtl_process"
					       : "SELECT process, pid, host_name, program, NULL"
						 " FROM rtl_process",
				      describe_process, s);
}

/* ---- copies ---- */

/* As kernels are counted by rocpd_op: without those that were removed from it (database_removed). */
static const char copies[] = "SELECT direction, bytes, begin_ns, end_ns, status, process,"
			     " correlation, flags FROM rtl_copy"
			     " WHERE op_id IS NULL OR op_id IN (SELECT id FROM rocpd_op)";

static int add_copy(void *user, sqlite3_stmt *row)
{
	struct summarize *s = user;
	struct summary_section *section =
		summary_section(s->summary, RTL_STREAM_HSA_COPY, "transfer", "GPU copies");
	const sqlite3_int64 begin = sqlite3_column_int64(row, 2),
			    end = sqlite3_column_int64(row, 3);
	const uint64_t duration = end > begin ? (uint64_t)(end - begin) : 0;
	struct summary_process *process;
	struct summary_group *group;

	if (!section)
		return summarize_out_of_memory();
	if (sqlite3_column_int64(row, 4)) {
		summary_section_add_refused(section, 1);
		return 0;
	}
	if (s->has_hip && !sqlite3_column_int64(row, 6) &&
	    !(sqlite3_column_int64(row, 7) & RTL_HSA_COPY_FAILED))
		summary_section_add_unlinked(section, 1);
	/* Named as its tracepoint: live and from a file they are the same. */
	group = summary_group(section,
			      rtl_hsa_copy_direction_text((uint32_t)sqlite3_column_int(row, 0)));
	process = summarize_process(s, sqlite3_column_int64(row, 5));
	if (!group || !process)
		return group ? -1 : summarize_out_of_memory();
	summary_group_add_bytes(group, (uint64_t)sqlite3_column_int64(row, 1), begin && end);
	if (begin && end)
		summary_group_add(group, duration);
	else
		summary_group_add_untimed(group);
	summary_process_add(process, SUMMARY_COPIES, begin && end ? duration : 0);
	return 0;
}

int summarize_rows(const struct summarize *s, const char *sql,
		   int (*add)(void *user, sqlite3_stmt *row), void *user)
{
	sqlite3_stmt *statement = database_prepare(s->database, sql);
	int rc = SQLITE_DONE, error = 0;

	if (!statement)
		return -1;
	while (!error && (rc = sqlite3_step(statement)) == SQLITE_ROW)
		error = add(user, statement);
	if (!error && rc != SQLITE_DONE)
		error = database_fail(s->database);
	sqlite3_finalize(statement);
	return error;
}

int summarize_copies(struct summarize *s)
{
	return s->database->has_copies ? summarize_rows(s, copies, add_copy, s) : 0;
}

/* ---- the ledger ---- */

static int add_ledger_row(void *user, sqlite3_stmt *row)
{
	struct summarize *s = user;
	const struct rtl_ledger ledger = {
		.struct_size = sizeof(ledger),
		.published = (uint64_t)sqlite3_column_int64(row, 1),
		.delivered = (uint64_t)sqlite3_column_int64(row, 2),
		.discarded = (uint64_t)sqlite3_column_int64(row, 3),
		.abandoned = (uint64_t)sqlite3_column_int64(row, 4),
		.missed = (uint64_t)sqlite3_column_int64(row, 5),
	};

	return summary_add_ledger(s->summary, text_of(row, 0), &ledger) ? summarize_out_of_memory()
									: 0;
}

static int add_left_out_row(void *user, sqlite3_stmt *row)
{
	struct summarize *s = user;
	const struct rtl_ledger ledger = {
		.struct_size = sizeof(ledger),
		.left_out = (uint64_t)sqlite3_column_int64(row, 1),
	};

	return summary_add_ledger(s->summary, text_of(row, 0), &ledger) ? summarize_out_of_memory()
									: 0;
}

static int add_loss_row(void *user, sqlite3_stmt *row)
{
	struct summarize *s = user;

	return summary_add_loss(s->summary, text_of(row, 0), text_of(row, 1),
				(uint64_t)sqlite3_column_int64(row, 2))
		       ? summarize_out_of_memory()
		       : 0;
}

static int add_ledger(struct summarize *s)
{
	char *writer = database_fact(s->database, "writer");
	int error;

	if (writer)
		summary_set_unfinished(s->summary);
	free(writer);
	if (!s->database->has_ledger)
		return 0;
	error = summarize_rows(s,
			       "SELECT stream, sum(published), sum(delivered), sum(discarded), "
			       "sum(abandoned), sum(missed) FROM rtl_ledger GROUP BY stream",
			       add_ledger_row, s);
	if (!error)
		error = summarize_rows(s,
				       "SELECT stream, cause, sum(count) FROM rtl_loss "
				       "GROUP BY stream, cause",
				       add_loss_row, s);
	if (!error && database_has_table(s->database, "rtl_left_out") > 0)
		error = summarize_rows(
			s, "SELECT stream, sum(count) FROM rtl_left_out GROUP BY stream",
			add_left_out_row, s);
	return error;
}

/* ---- all of it ---- */

/* A file may have no table of arguments: recordings of RPD's first versions. */
static int prepare(struct summarize *s)
{
	const int has_ustring = database_has_table(s->database, "rocpd_ustring");

	if (has_ustring < 0 ||
	    database_query(
		    s->database,
		    "SELECT 1 FROM rtl_ledger WHERE stream LIKE 'rtl.hip.call%' AND published",
		    note_some, &s->has_hip))
		return -1;
	s->string = database_prepare(s->database, "SELECT string FROM rocpd_string WHERE id = ?");
	s->ustring = database_prepare(s->database,
				      has_ustring ? "SELECT string FROM rocpd_ustring WHERE id = ?"
						  : "SELECT string FROM rocpd_string WHERE id = ?");
	return s->string && s->ustring ? 0 : -1;
}

int database_summarize(struct database *database, struct summary *summary)
{
	struct summarize s = {.database = database, .summary = summary};
	int error = prepare(&s);

	if (!error)
		error = describe_processes(&s);
	if (!error)
		error = summarize_operations(&s);
	if (!error)
		error = summarize_copies(&s);
	if (!error && summary_find_gaps(summary))
		error = summarize_out_of_memory();
	if (!error)
		error = summarize_calls(&s);
	if (!error)
		error = summarize_counters(&s);
	if (!error)
		error = database_name_gpus(database, summary);
	if (!error)
		error = add_ledger(&s);
	sqlite3_finalize(s.string);
	sqlite3_finalize(s.ustring);
	map_fini(&s.processes);
	return error;
}
