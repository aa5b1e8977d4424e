/* SPDX-License-Identifier: MIT */
/* See summarize.h: hardware counters by kernel. */
#include "cli.h"
#include "summarize.h"

/* Kernels in the order of their names, with how many of their dispatches have a value. */
static const char counted[] =
	"WITH kernels AS (SELECT description_id AS id, count(*) AS dispatches FROM rocpd_op"
	" GROUP BY description_id), counts AS (SELECT o.description_id AS kernel, c.name_id AS "
	"name,"
	" count(*) AS n, avg(c.value) AS mean, min(c.value) AS least, max(c.value) AS most"
	" FROM rocpd_counter AS c JOIN rocpd_op AS o ON o.id = c.op_id GROUP BY 1, 2)"
	" SELECT k.string, n.string, %s, c.n, kernels.dispatches, c.mean, c.least, c.most"
	" FROM counts AS c JOIN kernels ON kernels.id = c.kernel"
	" JOIN rocpd_string AS k ON k.id = c.kernel JOIN rocpd_string AS n ON n.id = c.name"
	" ORDER BY 1, 2";

/* Where a file of rtl says it; RPD's do not. */
static const char unit[] =
	"(SELECT m.value FROM rtl_tracepoint AS t JOIN rtl_tracepoint_metadata AS m"
	" ON m.process = t.process AND m.uid = t.uid WHERE t.kind = 'counter'"
	" AND t.name = n.string AND m.key = 'unit' LIMIT 1)";

static int add_counter(struct summarize *s, sqlite3_stmt *row)
{
	const struct summary_counted values = {
		.count = (uint64_t)sqlite3_column_int64(row, 3),
		.of = (uint64_t)sqlite3_column_int64(row, 4),
		.mean = sqlite3_column_double(row, 5),
		.min = sqlite3_column_double(row, 6),
		.max = sqlite3_column_double(row, 7),
	};

	return summary_add_counter(s->summary, (const char *)sqlite3_column_text(row, 0),
				   (const char *)sqlite3_column_text(row, 1),
				   (const char *)sqlite3_column_text(row, 2), &values)
		       ? summarize_out_of_memory()
		       : 0;
}

/* The last of each process and GPU counts. */
static const char ledger[] =
	"SELECT sum(dispatches), sum(counted), sum(not_asked), sum(given_up), sum(refused)"
	" FROM rtl_e_rtl_hsa_counter_ledger WHERE id IN (SELECT max(id) FROM"
	" rtl_e_rtl_hsa_counter_ledger GROUP BY process, gpu)";

static int add_ledger(struct summarize *s, sqlite3_stmt *row)
{
	const struct summary_count_ledger counts = {
		.dispatches = (uint64_t)sqlite3_column_int64(row, 0),
		.counted = (uint64_t)sqlite3_column_int64(row, 1),
		.not_asked = (uint64_t)sqlite3_column_int64(row, 2),
		.given_up = (uint64_t)sqlite3_column_int64(row, 3),
		.refused = (uint64_t)sqlite3_column_int64(row, 4),
	};

	summary_add_count_ledger(s->summary, &counts);
	return 0;
}

static int summarize_ledger(struct summarize *s)
{
	const int has = database_has_table(s->database, "rtl_e_rtl_hsa_counter_ledger");

	return has > 0 ? summarize_rows(s, ledger, add_ledger) : has;
}

int summarize_counters(struct summarize *s)
{
	const int has_units = database_has_table(s->database, "rtl_tracepoint_metadata");
	bool has_counters;
	char *sql;
	int error;

	/* dispatches are counted only where there is something to say of them */
	if (has_units < 0 || summarize_ledger(s) ||
	    summarize_ask(s, "SELECT 1 FROM rocpd_counter LIMIT 1", &has_counters))
		return -1;
	if (!has_counters)
		return 0;
	sql = sqlite3_mprintf(counted, has_units ? unit : "NULL");
	error = sql ? summarize_rows(s, sql, add_counter) : summarize_out_of_memory();
	sqlite3_free(sql);
	return error;
}
