/* SPDX-License-Identifier: MIT */
/* See summarize.h: hardware counters by kernel. */
#include "cli.h"
#include "summarize.h"

/* Kernels in the order of their names, with how many of their dispatches have a value. */
static const char counted[] =
	"WITH kernels AS (SELECT description_id AS id, count(*) AS dispatches FROM rocpd_op"
	" GROUP BY description_id), counts AS (SELECT o.description_id AS kernel, c.name_id AS "
	"name,"
	" count(c.value) AS n, avg(c.value) AS mean, min(c.value) AS least, max(c.value) AS most"
	" FROM (SELECT op_id, name_id, value FROM rocpd_counter%s) AS c"
	" JOIN rocpd_op AS o ON o.id = c.op_id GROUP BY 1, 2)"
	" SELECT k.string, n.string, %s, c.n, kernels.dispatches, c.mean, c.least, c.most"
	" FROM counts AS c JOIN kernels ON kernels.id = c.kernel"
	" JOIN rocpd_string AS k ON k.id = c.kernel JOIN rocpd_string AS n ON n.id = c.name"
	" ORDER BY 1, 2";

/* Metrics without a value have no row of RPD's. */
static const char without_value[] =
	" UNION ALL SELECT d.op_id, c.name_id, NULL FROM rtl_counter AS c JOIN rtl_dispatch AS d"
	" ON d.process = c.process AND d.instance = c.dispatch WHERE c.value IS NULL";

/* Where a file of rtl says it; RPD's do not. */
static const char unit[] =
	"(SELECT m.value FROM rtl_tracepoint AS t JOIN rtl_tracepoint_metadata AS m"
	" ON m.process = t.process AND m.uid = t.uid WHERE t.kind = 'counter'"
	" AND t.name = n.string AND m.key = 'unit' LIMIT 1)";

static int add_counter(void *user, sqlite3_stmt *row)
{
	struct summarize *s = user;
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

static int add_ledger(void *user, sqlite3_stmt *row)
{
	struct summarize *s = user;
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

	return has > 0 ? summarize_rows(s, ledger, add_ledger, s) : has;
}

static int add_sampled(void *user, sqlite3_stmt *row)
{
	struct summarize *s = user;
	const struct summary_sampled values = {
		.gpu = (uint32_t)sqlite3_column_int64(row, 2),
		.is_metric = sqlite3_column_int(row, 3),
		.count = (uint64_t)sqlite3_column_int64(row, 4),
		.of = (uint64_t)sqlite3_column_int64(row, 5),
		.sum = sqlite3_column_double(row, 6),
		.min = sqlite3_column_double(row, 7),
		.max = sqlite3_column_double(row, 8),
	};

	return summary_add_sampled(s->summary, (const char *)sqlite3_column_text(row, 0),
				   (const char *)sqlite3_column_text(row, 1), &values)
		       ? summarize_out_of_memory()
		       : 0;
}

static const char sampled[] =
	"SELECT counter, max(unit), gpu, max(derived), count(value), count(*), total(value),"
	" min(value), max(value) FROM rtl_counter_intervals GROUP BY gpu, counter ORDER BY 3, 1";

static int summarize_sampled(struct summarize *s)
{
	const int has = database_has_table(s->database, "rtl_counter_interval");

	return has > 0 ? summarize_rows(s, sampled, add_sampled, s) : has;
}

int summarize_counters(struct summarize *s)
{
	const int has_units = database_has_table(s->database, "rtl_tracepoint_metadata");
	const int has_ours = database_has_table(s->database, "rtl_counter");
	bool has_counters, has_nulls = false;
	char *sql;
	int error;

	/* dispatches are counted only where there is something to say of them */
	if (has_units < 0 || has_ours < 0 || summarize_ledger(s) || summarize_sampled(s) ||
	    summarize_ask(s, "SELECT 1 FROM rocpd_counter LIMIT 1", &has_counters) ||
	    (has_ours &&
	     summarize_ask(s, "SELECT 1 FROM rtl_counter WHERE value IS NULL LIMIT 1", &has_nulls)))
		return -1;
	if (!has_counters && !has_nulls)
		return 0;
	sql = sqlite3_mprintf(counted, has_nulls ? without_value : "", has_units ? unit : "NULL");
	error = sql ? summarize_rows(s, sql, add_counter, s) : summarize_out_of_memory();
	sqlite3_free(sql);
	return error;
}
