/* SPDX-License-Identifier: MIT */
/* check.c: see check.h. */
#include "check.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const event_tables[RECOVER_STREAMS] = {
	/* thread, number, id */
	[RECOVER_NOTES] = "(SELECT thread, number, id FROM " RECOVER_NOTE_TABLE ")",
	[RECOVER_DISPATCHES] =
		"(SELECT tid AS thread, instance AS number, op_id AS id FROM rtl_dispatch)",
};

/* Questions whose answer must be "0" or "ok". */
static const char *const questions[] = {
	"PRAGMA integrity_check",
	"SELECT count(*) FROM pragma_foreign_key_check",
	("SELECT count(*) FROM rtl_meta WHERE key = 'state'"
	 " AND value NOT IN ('complete', 'recovered')"),
	"SELECT (SELECT count(*) FROM rocpd_op) - (SELECT count(*) FROM rtl_dispatch)",
	"SELECT (SELECT count(*) FROM rocpd_op) - (SELECT count(*) FROM rocpd_api_ops)",
	"SELECT (SELECT count(*) FROM rocpd_op) - (SELECT count(*) FROM rocpd_kernelapi)",
	"SELECT (SELECT count(*) FROM rocpd_api) - (SELECT count(*) FROM rocpd_op)"
	" - 2 * (SELECT count(*) FROM rtl_process)",
	"SELECT max(count(*) - 1, 0) FROM rtl_process",
	"SELECT max(count(*) - 2, 0) FROM rtl_stream WHERE name <> 'rtl.diagnostics'",
	"SELECT count(*) - count(DISTINCT queue) FROM rtl_queue",
	"SELECT count(*) FROM rtl_ledger"
	" WHERE published <> delivered + discarded + abandoned OR abandoned NOT BETWEEN 0 AND 4",
	"SELECT count(*) FROM rtl_ledger WHERE stream = 'rtl.hsa'"
	" AND delivered <> (SELECT count(*) FROM rtl_dispatch)",
};

/* The same, where there were notes. */
static const char *const note_questions[] = {
	"SELECT count(*) FROM " RECOVER_NOTE_TABLE " WHERE name IS NOT 'name-' || (number / 512)",
	("SELECT count(*) FROM rtl_ledger WHERE stream LIKE 'recover.%'"
	 " AND delivered <> (SELECT count(*) FROM " RECOVER_NOTE_TABLE ")"),
};

_Static_assert(RECOVER_NAME_EVENTS == 512, "in the question above");

static bool ask(sqlite3 *db, const char *sql, char *answer, size_t size)
{
	sqlite3_stmt *stmt = NULL;
	bool found = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
		     sqlite3_step(stmt) == SQLITE_ROW;

	if (found)
		snprintf(answer, size, "%s", (const char *)sqlite3_column_text(stmt, 0));
	else
		snprintf(answer, size, "%s", sqlite3_errmsg(db));
	sqlite3_finalize(stmt);
	return found;
}

static void show(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return;
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(stmt); i++)
			fprintf(stderr, "%s%s", i ? "|" : "    ", sqlite3_column_text(stmt, i));
		fputc('\n', stderr);
	}
	sqlite3_finalize(stmt);
}

static bool fine(sqlite3 *db, const char *sql)
{
	char answer[512];

	if (ask(db, sql, answer, sizeof(answer)) &&
	    (strcmp(answer, "0") == 0 || strcmp(answer, "ok") == 0))
		return true;
	fprintf(stderr, "  %s: %s\n", sql, answer);
	if (strstr(sql, "rtl_ledger"))
		show(db, "SELECT * FROM rtl_ledger");
	return false;
}

static uint64_t number(sqlite3 *db, const char *sql)
{
	char answer[512];

	return ask(db, sql, answer, sizeof(answer)) ? strtoull(answer, NULL, 10) : 0;
}

/* One thread's events of one stream: 1 to what was counted, perhaps the one under way, in order,
 * each once. */
static bool check_thread(sqlite3 *db, enum recover_stream stream, uint32_t thread, uint64_t counted,
			 uint64_t *events)
{
	char sql[1024];
	uint64_t rows, last, wrong;

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s WHERE thread = %u",
		 event_tables[stream], thread);
	rows = number(db, sql);
	snprintf(sql, sizeof(sql), "SELECT max(number) FROM %s WHERE thread = %u",
		 event_tables[stream], thread);
	last = number(db, sql);
	snprintf(sql, sizeof(sql),
		 "SELECT count(*) FROM (SELECT number, row_number() OVER (ORDER BY id) AS place"
		 " FROM %s WHERE thread = %u) WHERE number <> place",
		 event_tables[stream], thread);
	wrong = number(db, sql);
	*events += rows;
	if (rows == last && !wrong && (last == counted || last == counted + 1))
		return true;
	fprintf(stderr,
		"  stream %d, thread %u: %" PRIu64 " counted, %" PRIu64 " rows, last %" PRIu64
		", %" PRIu64 " not in their place\n",
		(int)stream, thread, counted, rows, last, wrong);
	return false;
}

bool check_database(const char *file, const struct recover_counts *counts, uint64_t *events)
{
	bool good = true, notes;
	sqlite3 *db;

	if (sqlite3_open_v2(file, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
		fprintf(stderr, "  %s: %s\n", file, sqlite3_errmsg(db));
		sqlite3_close(db);
		return false;
	}
	notes = number(db, "SELECT count(*) FROM sqlite_master WHERE name = '" RECOVER_NOTE_TABLE
			   "'") > 0;
	for (uint32_t thread = 0; thread < RECOVER_THREADS; thread++) {
		good &= check_thread(db, RECOVER_NOTES, thread,
				     counts->published[RECOVER_NOTES][thread], events);
		good &= check_thread(db, RECOVER_DISPATCHES, thread,
				     counts->published[RECOVER_DISPATCHES][thread], events);
	}
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		good &= fine(db, questions[i]);
	for (size_t i = 0; notes && i < sizeof(note_questions) / sizeof(note_questions[0]); i++)
		good &= fine(db, note_questions[i]);
	sqlite3_close(db);
	return good;
}
