/* SPDX-License-Identifier: MIT */
/* See merge.h. */
#include "merge.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "database.h"
#include "part.h"

/* Clocks of one boot differ by what NTP has set the time of day by; of two boots by more. */
#define SAME_BOOT_NS 10000000000ll

struct merge {
	sqlite3 *db; /* main: the output; i: the input at hand */
	const char *input;
	char *columns, *values; /* of an INSERT */
	bool has_rtl;
};

/* ---- SQL ---- */

static int fail(const struct merge *merge)
{
	cli_error("%s: %s", merge->input, sqlite3_errmsg(merge->db));
	return -1;
}

static int run_sql(const struct merge *merge, const char *sql)
{
	return sqlite3_exec(merge->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(merge);
}

static int run_format(const struct merge *merge, const char *format, ...)
{
	va_list arguments;
	char *sql;
	int rc;

	va_start(arguments, format);
	sql = sqlite3_vmprintf(format, arguments);
	va_end(arguments);
	if (!sql) {
		cli_error("out of memory");
		return -1;
	}
	rc = run_sql(merge, sql);
	sqlite3_free(sql);
	return rc;
}

/* Calls fn with each row; its first column as text. */
static int each(struct merge *merge, const char *sql, const char *argument,
		int (*fn)(struct merge *merge, const char *text, void *user), void *user)
{
	sqlite3_stmt *statement;
	int rc, status = 0;

	if (sqlite3_prepare_v2(merge->db, sql, -1, &statement, NULL) != SQLITE_OK)
		return fail(merge);
	if (argument)
		sqlite3_bind_text(statement, 1, argument, -1, SQLITE_STATIC);
	while (!status && (rc = sqlite3_step(statement)) == SQLITE_ROW)
		status = fn(merge, (const char *)sqlite3_column_text(statement, 0), user);
	if (!status && rc != SQLITE_DONE)
		status = fail(merge);
	sqlite3_finalize(statement);
	return status;
}

static int note(struct merge *merge, const char *text, void *user)
{
	char **kept = user;

	(void)merge;
	free(*kept);
	*kept = strdup(text ? text : "");
	return *kept ? 0 : -1;
}

/* The one value that a query answers with, "" for none; to be freed. NULL: after a line. */
static char *ask(struct merge *merge, const char *sql)
{
	char *value = strdup("");

	if (!value || each(merge, sql, NULL, note, &value)) {
		free(value);
		return NULL;
	}
	return value;
}

/* ---- what numbers and texts of the input become: tables in temp ---- */

/*
 * m: one row of numbers to add. gpus, strings, ustrings, streams, queues: what was, what it is.
 * A process of 0 stands for all of them, and a queue of 0 for none.
 */
static const char make_maps[] =
	"CREATE TEMP TABLE m AS SELECT"
	" (SELECT ifnull(max(id), 0) FROM main.rocpd_api) AS api,"
	" (SELECT ifnull(max(id), 0) FROM main.rocpd_op) AS op,"
	" (SELECT ifnull(max(queueId), 0) FROM main.rocpd_op) AS queue, 0 AS process, 0 AS copy,"
	" 0 AS mem, 0 AS shift, 0 AS pid, 0 AS node;"
	"INSERT INTO main.rocpd_string (string) SELECT DISTINCT string FROM i.rocpd_string"
	" WHERE string NOT IN (SELECT string FROM main.rocpd_string);"
	"CREATE TEMP TABLE strings AS SELECT x.id AS was, min(y.id) AS id FROM i.rocpd_string AS x"
	" JOIN main.rocpd_string AS y USING (string) GROUP BY x.id;"
	"CREATE UNIQUE INDEX temp.strings_was ON strings (was, id);"
	"INSERT INTO main.rocpd_ustring (string) SELECT DISTINCT string FROM i.rocpd_ustring"
	" WHERE string NOT IN (SELECT string FROM main.rocpd_ustring);"
	"CREATE TEMP TABLE ustrings AS SELECT x.id AS was, min(y.id) AS id FROM i.rocpd_ustring AS "
	"x"
	" JOIN main.rocpd_ustring AS y USING (string) GROUP BY x.id;"
	"CREATE UNIQUE INDEX temp.ustrings_was ON ustrings (was, id);"
	"CREATE TEMP TABLE gpus (was INTEGER PRIMARY KEY, id INTEGER);";

static const char make_rtl_maps[] =
	"UPDATE m SET process = (SELECT ifnull(max(process), 0) FROM main.rtl_process),"
	" copy = (SELECT ifnull(max(id), 0) FROM main.rtl_copy),"
	" mem = (SELECT ifnull(max(id), 0) FROM main.rtl_mem),"
	" queue = max(queue, (SELECT ifnull(max(queueId), 0) FROM main.rtl_queue));"
	"INSERT INTO main.rtl_stream (name, version_major, version_minor, description)"
	" SELECT name, version_major, version_minor, description FROM i.rtl_stream"
	" WHERE name NOT IN (SELECT name FROM main.rtl_stream);"
	"CREATE TEMP TABLE streams AS SELECT x.stream AS was, y.stream AS id FROM i.rtl_stream AS x"
	" JOIN main.rtl_stream AS y USING (name);";

/*
 * The clocks. Both count from the start of their machine (CLOCK_BOOTTIME): what they differ by is
 * known by the times of day that both have noted.
 */
static const char find_shift[] =
	"UPDATE m SET shift = ifnull((SELECT x.realtime_ns - x.time_ns FROM i.rtl_clock AS x"
	" WHERE x.realtime_ns NOT NULL ORDER BY x.error_ns LIMIT 1)"
	" - (SELECT y.realtime_ns - y.time_ns FROM main.rtl_clock AS y"
	" WHERE y.realtime_ns NOT NULL AND y.process = 1 ORDER BY y.error_ns LIMIT 1), 0);";

/* A host that is there keeps its node, another one gets the next. */
static const char find_node[] =
	"CREATE TEMP TABLE IF NOT EXISTS hosts (name TEXT PRIMARY KEY, node INTEGER);"
	"INSERT OR IGNORE INTO hosts SELECT p.host_name, a.pid / (SELECT cast(value AS INTEGER) "
	"FROM"
	" main.rocpd_metadata WHERE tag = 'pid_stride') FROM main.rtl_process AS p JOIN "
	"main.rocpd_api"
	" AS a ON a.id = p.api_id WHERE NOT EXISTS (SELECT 1 FROM hosts);"
	"INSERT OR IGNORE INTO hosts SELECT DISTINCT host_name,"
	" (SELECT max(node) + 1 FROM hosts) FROM i.rtl_process;"
	"UPDATE m SET node = ifnull((SELECT node FROM hosts WHERE name IS"
	" (SELECT min(host_name) FROM i.rtl_process)), 0);"
	"UPDATE m SET pid = node * (SELECT cast(value AS INTEGER) FROM main.rocpd_metadata"
	" WHERE tag = 'pid_stride');";

/* A GPU whose UUID is there is that one; another one keeps its number, with its node's stride. */
static const char find_gpus[] =
	"CREATE TEMP TABLE known AS SELECT u.value AS uuid, min(cast(n.value AS INTEGER)) AS id"
	" FROM main.rtl_tracepoint_metadata AS u JOIN main.rtl_tracepoint_metadata AS n"
	" USING (process, uid) WHERE u.key = 'uuid' AND n.key = 'node' GROUP BY u.value;"
	"INSERT OR IGNORE INTO gpus SELECT cast(n.value AS INTEGER), k.id"
	" FROM i.rtl_tracepoint_metadata AS u JOIN i.rtl_tracepoint_metadata AS n USING (process, "
	"uid)"
	" JOIN known AS k ON k.uuid = u.value WHERE u.key = 'uuid' AND n.key = 'node';"
	"DROP TABLE known;";

static const char find_other_gpus[] =
	"INSERT OR IGNORE INTO gpus SELECT gpu, gpu + (SELECT node FROM m) * (SELECT cast(value AS"
	" INTEGER) FROM main.rocpd_metadata WHERE tag = 'gpu_stride')"
	" FROM (SELECT DISTINCT gpuId AS gpu FROM i.rocpd_op";

static const char drop_maps[] =
	"DROP TABLE IF EXISTS m; DROP TABLE IF EXISTS strings; DROP TABLE IF EXISTS ustrings;"
	"DROP TABLE IF EXISTS gpus; DROP TABLE IF EXISTS streams;";

static int check_shift(struct merge *merge)
{
	char *shift = ask(merge, "SELECT shift FROM m");
	char *same = ask(merge, "SELECT node = 0 FROM m");
	const long long ns = shift ? llabs(atoll(shift)) : 0;
	int rc = shift && same ? 0 : -1;

	/* The same clock. */
	if (!rc && *same == '1' && ns < SAME_BOOT_NS)
		rc = run_sql(merge, "UPDATE m SET shift = 0");
	free(shift);
	free(same);
	return rc;
}

static int make_all_maps(struct merge *merge)
{
	if (run_sql(merge, drop_maps) || run_sql(merge, make_maps))
		return -1;
	if (merge->has_rtl &&
	    (run_sql(merge, make_rtl_maps) || run_sql(merge, find_shift) ||
	     run_sql(merge, find_node) || run_sql(merge, find_gpus) || check_shift(merge)))
		return -1;
	return run_format(merge, "%s%s)", find_other_gpus,
			  merge->has_rtl ? " UNION SELECT cast(value AS INTEGER)"
					   " FROM i.rtl_tracepoint_metadata WHERE key = 'node'"
					   " UNION SELECT gpu FROM i.rtl_queue"
					   " UNION SELECT gpu FROM i.rtl_copy"
					   " UNION SELECT src_gpu FROM i.rtl_copy"
					   " UNION SELECT dst_gpu FROM i.rtl_copy"
					   " UNION SELECT gpu FROM i.rtl_dispatch"
					 : "");
}

/* ---- rows ---- */

/* Of a copy 0 is the host. */
#define HOST_OR(gpu) "CASE %s WHEN 0 THEN 0 ELSE " gpu " END"

/* What a column becomes; the first that fits. */
static const struct rule {
	const char *table, *column; /* NULL: any; * stands for anything */
	const char *value;          /* of %s, the column; NULL: left out, a new one is given */
} rules[] = {
	{"rocpd_api", "id", "%s + (SELECT api FROM m)"},
	{"rocpd_op", "id", "%s + (SELECT op FROM m)"},
	{"rtl_copy", "id", "%s + (SELECT copy FROM m)"},
	{"rtl_mem", "id", "%s + (SELECT mem FROM m)"},
	{"rtl_marker", "id", "%s"},
	{"rtl_node", "id", "%s"},
	{"rtl_edge", "id", "%s"},
	{NULL, "id", NULL},
	{"rocpd_api", "pid", "%s + (SELECT pid FROM m)"},
	{"rocpd_api", "tid", "%s + (SELECT pid FROM m)"},
	{"rocpd_*", "start", "%s + (SELECT shift FROM m)"},
	{"rocpd_*", "end", "%s + (SELECT shift FROM m)"},
	{NULL, "queueId", "CASE %s WHEN 0 THEN 0 ELSE %s + (SELECT queue FROM m) END"},
	{NULL, "api_id", "%s + (SELECT api FROM m)"},
	{NULL, "end_api_id", "%s + (SELECT api FROM m)"},
	{NULL, "api_ptr_id", "%s + (SELECT api FROM m)"},
	{NULL, "op_id", "%s + (SELECT op FROM m)"},
	{NULL, "args_id", "(SELECT id FROM ustrings WHERE was = %s)"},
	{"rocpd_*", "*_id", "(SELECT id FROM strings WHERE was = %s)"},
	{"rtl_counter*", "name_id", "(SELECT id FROM strings WHERE was = %s)"},
	{"rtl_call", "status_id", "(SELECT id FROM strings WHERE was = %s)"},
	{NULL, "process", "CASE %s WHEN 0 THEN 0 ELSE %s + (SELECT process FROM m) END"},
	{"rocpd_monitor", "deviceId", "ifnull((SELECT id FROM gpus WHERE was = %s), %s)"},
	{NULL, "gpuId", "(SELECT id FROM gpus WHERE was = %s)"},
	{"rtl_copy", "gpu", HOST_OR("(SELECT id FROM gpus WHERE was = %s)")},
	{NULL, "gpu", "ifnull((SELECT id FROM gpus WHERE was = %s), %s)"},
	{NULL, "src_gpu", HOST_OR("(SELECT id FROM gpus WHERE was = %s)")},
	{NULL, "dst_gpu", HOST_OR("(SELECT id FROM gpus WHERE was = %s)")},
	{NULL, "srcDevice", HOST_OR("ifnull((SELECT id FROM gpus WHERE was = %s), 0)")},
	{NULL, "dstDevice", HOST_OR("ifnull((SELECT id FROM gpus WHERE was = %s), 0)")},
	{"rtl_mem", "node",
	 "CASE WHEN flags & 1 THEN ifnull((SELECT id FROM gpus WHERE was = %s), %s) ELSE %s END"},
	{"rtl_tracepoint_metadata", "value",
	 "CASE WHEN key IN ('node', 'gpu') THEN ifnull((SELECT id FROM gpus"
	 " WHERE was = cast(%s AS INTEGER)), %s) ELSE %s END"},
	{"rtl_type", "stream", "(SELECT id FROM streams WHERE was = %s)"},
	{"rtl_field", "stream", "(SELECT id FROM streams WHERE was = %s)"},
	{"rtl_span", "stream", "(SELECT id FROM streams WHERE was = %s)"},
	{NULL, "realtime_ns", "%s"},
	{NULL, "error_ns", "%s"},
	{NULL, "tick_error_ns", "%s"},
	{NULL, "duration_ns", "%s"},
	{"rtl_*", "*_ns", "%s + (SELECT shift FROM m)"},
	{NULL, NULL, "%s"},
};

static bool fits(const char *pattern, const char *name)
{
	return !pattern || !sqlite3_strglob(pattern, name);
}

static const struct rule *find_rule(const char *table, const char *column)
{
	const struct rule *rule = rules;

	while (!fits(rule->table, table) || !fits(rule->column, column))
		rule++;
	return rule;
}

/* Appends to a list with commas, "column" for each %s. */
static int append(char **list, const char *format, const char *column)
{
	char *quoted = sqlite3_mprintf("\"%w\"", column);
	char *value = quoted ? sqlite3_mprintf(format, quoted, quoted, quoted) : NULL;
	char *longer = value ? sqlite3_mprintf("%z%s%s", *list, *list ? ", " : "", value) : NULL;

	sqlite3_free(quoted);
	sqlite3_free(value);
	if (!longer) {
		cli_error("out of memory");
		return -1;
	}
	*list = longer;
	return 0;
}

static int add_column(struct merge *merge, const char *column, void *user)
{
	const struct rule *rule = find_rule(*(const char *const *)user, column);

	if (!rule->value)
		return 0;
	return append(&merge->columns, "%s", column) || append(&merge->values, rule->value, column);
}

/* Tables that count become sums, those that say what there is do so once. */
static const char *on_conflict(const char *table)
{
	if (!strcmp(table, "rtl_ledger"))
		return " ON CONFLICT DO UPDATE SET published = published + excluded.published,"
		       " delivered = delivered + excluded.delivered,"
		       " discarded = discarded + excluded.discarded,"
		       " abandoned = abandoned + excluded.abandoned,"
		       " missed = missed + excluded.missed";
	if (!strcmp(table, "rtl_loss") || !strcmp(table, "rtl_left_out"))
		return " ON CONFLICT DO UPDATE SET count = count + excluded.count";
	if (!strcmp(table, "rtl_type") || !strcmp(table, "rtl_field"))
		return " ON CONFLICT DO NOTHING";
	return "";
}

static int copy_rows(struct merge *merge, const char *table, const char *into)
{
	char *sql = sqlite3_mprintf("SELECT x.name FROM pragma_table_info(%Q, 'i') AS x"
				    " JOIN pragma_table_info(%Q, 'main') AS y USING (name)",
				    table, into);
	int rc = -1;

	merge->columns = merge->values = NULL;
	if (sql && !each(merge, sql, NULL, add_column, &table) && merge->columns)
		rc = run_format(merge,
				"INSERT INTO main.\"%w\" (%s) SELECT %s FROM i.\"%w\" WHERE true%s",
				into, merge->columns, merge->values, table, on_conflict(table));
	sqlite3_free(sql);
	sqlite3_free(merge->columns);
	sqlite3_free(merge->values);
	return rc;
}

/* The output knows the type and has had no events of it so far: now its table is that one. */
static int name_table(struct merge *merge, const char *table)
{
#define TYPE_OF(row)                                                                               \
	" FROM i.rtl_type AS x JOIN streams AS s ON s.was = x.stream JOIN i.rtl_field AS f ON"     \
	" f.stream = x.stream AND f.type = x.type WHERE x.table_name = %Q AND s.id = " row         \
	".stream AND x.type = " row ".type"
	return run_format(merge,
			  "UPDATE main.rtl_type SET table_name = %Q WHERE EXISTS (SELECT 1" TYPE_OF(
				  "rtl_type") ");"
					      "UPDATE main.rtl_field SET column_name = "
					      "ifnull((SELECT f.column_name" TYPE_OF(
						      "rtl_field") " AND f.name = rtl_field.name), "
								   "column_name)",
			  table, table, table);
#undef TYPE_OF
}

/* A table with events of one type: the output's may have another name. */
static int copy_events(struct merge *merge, const char *table, void *user)
{
	char *sql =
		sqlite3_mprintf("SELECT o.table_name FROM i.rtl_type AS x JOIN streams AS s"
				" ON s.was = x.stream JOIN main.rtl_type AS o ON o.stream = s.id"
				" AND o.type = x.type WHERE x.table_name = %Q",
				table);
	char *into = sql ? ask(merge, sql) : NULL;
	const char *name = into && *into ? into : table;
	char *make = sqlite3_mprintf(
		"SELECT sql FROM i.sqlite_master WHERE name = %Q"
		" AND NOT EXISTS (SELECT 1 FROM main.sqlite_master WHERE name = %Q)",
		table, name);
	char *ddl = into && make ? ask(merge, make) : NULL;
	int rc = ddl ? 0 : -1;

	(void)user;
	/* The first with this name: it is made as it was there. */
	if (!rc && *ddl)
		rc = run_sql(merge, ddl);
	if (!rc && !*into)
		rc = name_table(merge, table);
	if (!rc)
		rc = copy_rows(merge, table, name);
	sqlite3_free(sql);
	sqlite3_free(make);
	free(into);
	free(ddl);
	return rc;
}

static int copy_table(struct merge *merge, const char *table, void *user)
{
	(void)user;
	return copy_rows(merge, table, table);
}

/* Those whose rows are not simply added are merged elsewhere. */
static const char list_tables[] =
	"SELECT name FROM i.sqlite_master WHERE type = 'table' AND name IN"
	" (SELECT name FROM main.sqlite_master WHERE type = 'table') AND"
	" (name LIKE 'rocpd\\_%' ESCAPE '\\' OR name LIKE 'rtl\\_%' ESCAPE '\\') AND name NOT IN"
	" ('rocpd_string', 'rocpd_ustring', 'rocpd_metadata', 'rtl_meta', 'rtl_stream') AND"
	" name NOT LIKE 'rtl\\_e\\_%' ESCAPE '\\' ORDER BY name <> 'rtl_type'";
static const char list_events[] = "SELECT name FROM i.sqlite_master WHERE type = 'table' AND name "
				  "LIKE 'rtl\\_e\\_%' ESCAPE '\\'";

/* What the first trace had nothing of. Tables of events have names of their own in each file. */
static const char list_missing[] =
	"SELECT sql FROM i.sqlite_master WHERE type IN ('table', 'view') AND name NOT IN"
	" (SELECT name FROM main.sqlite_master) AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND"
	" name NOT LIKE 'rtl\\_e\\_%' ESCAPE '\\' ORDER BY type";

static int make_missing(struct merge *merge, const char *sql, void *user)
{
	(void)user;
	return run_sql(merge, sql);
}

/* Facts of both: one of them, or a list. */
static const char join_facts[] =
	"UPDATE main.rtl_meta SET value = (SELECT CASE WHEN x.value = rtl_meta.value THEN x.value"
	" WHEN rtl_meta.key = 'state' AND rtl_meta.value = 'complete' THEN x.value"
	" WHEN rtl_meta.key = 'state' THEN rtl_meta.value ELSE rtl_meta.value || ', ' || x.value "
	"END"
	" FROM i.rtl_meta AS x WHERE x.key = rtl_meta.key)"
	" WHERE key IN ('state', 'mode', 'where', 'session', 'version')"
	" AND key IN (SELECT key FROM i.rtl_meta);"
	"INSERT OR IGNORE INTO main.rtl_meta SELECT * FROM i.rtl_meta"
	" WHERE key IN ('interrupted', 'recovered', 'writer');";

/* ---- one input ---- */

static int refuse(const struct merge *merge, const char *why)
{
	cli_error("%s: %s", merge->input, why);
	return -1;
}

/* What both must agree in. */
static int check(struct merge *merge)
{
	char *same, *twice, *hosts;
	char *has = ask(merge, "SELECT count(*) FROM i.sqlite_master WHERE name = 'rtl_process'");
	int rc = 0;

	if (!has)
		return -1;
	if (merge->has_rtl != (*has == '1'))
		rc = refuse(merge, merge->has_rtl ? "written by RPD, the first trace by rtl: merge"
						    " those of one kind"
						  : "written by rtl, the first trace by RPD: merge"
						    " those of one kind");
	free(has);
	if (rc || !merge->has_rtl)
		return rc;
	same = ask(merge, "SELECT count(*) FROM i.rtl_meta AS x JOIN main.rtl_meta AS y"
			  " USING (key, value) WHERE key IN ('schema', 'gpu', 'clock')");
	twice = ask(merge, "SELECT count(*) FROM i.rtl_process WHERE spool IN"
			   " (SELECT spool FROM main.rtl_process)");
	hosts = ask(merge, "SELECT count(DISTINCT host_name) > 1 FROM i.rtl_process");
	if (!same || !twice || !hosts)
		rc = -1;
	else if (*hosts == '1')
		rc = refuse(merge, "merged of several hosts: give it as the first, or what it was"
				   " merged of");
	else if (strcmp(same, "3") != 0)
		rc = refuse(merge,
			    "its schema, its clock or its numbers of GPUs are of another kind"
			    " than the first trace's (rtl_meta)");
	else if (strcmp(twice, "0") != 0)
		rc = refuse(merge, "holds a process that is in a trace before it");
	free(same);
	free(twice);
	free(hosts);
	return rc;
}

static int add_input(struct merge *merge)
{
	if (run_format(merge, "ATTACH %Q AS i", merge->input))
		return -1;
	if (check(merge) || run_sql(merge, "BEGIN") ||
	    each(merge, list_missing, NULL, make_missing, NULL) || make_all_maps(merge) ||
	    each(merge, list_tables, NULL, copy_table, NULL))
		return -1;
	if (merge->has_rtl &&
	    (each(merge, list_events, NULL, copy_events, NULL) || run_sql(merge, join_facts)))
		return -1;
	if (run_sql(merge,
		    "UPDATE main.rocpd_metadata SET value = value + ifnull((SELECT value FROM"
		    " i.rocpd_metadata WHERE tag = 'session_count'), 1)"
		    " WHERE tag = 'session_count'; COMMIT; DETACH i"))
		return -1;
	return 0;
}

/* ---- the output ---- */

/* CLI_OK: it is a trace that can be merged. */
static int check_trace(const char *path, bool unfinished)
{
	struct database *database = database_open(path, false);
	const int status = database ? database_refuse_unfinished(database, unfinished) : CLI_FAILED;

	database_close(database);
	return status;
}

/* Begins with the first input's rows. */
static int open_output(struct merge *merge, const struct part *part, const char *first)
{
	const char *path = part->path;
	sqlite3 *from = NULL;
	sqlite3_backup *copy = NULL;
	char *has;
	int rc = -1;

	merge->input = path;
	if (sqlite3_open(path, &merge->db) != SQLITE_OK) {
		part_failed(part, merge->db ? sqlite3_system_errno(merge->db) : ENOMEM);
		return -1;
	}
	/* Nobody reads it before it is whole: no journal, no waiting for the disk. */
	if (run_sql(merge, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF"))
		return -1;
	if (sqlite3_open_v2(first, &from, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK)
		copy = sqlite3_backup_init(merge->db, "main", from, "main");
	if (copy && sqlite3_backup_step(copy, -1) == SQLITE_DONE)
		rc = 0;
	if (copy && sqlite3_backup_finish(copy) != SQLITE_OK)
		rc = -1;
	if (rc)
		cli_error("%s: %s", path, sqlite3_errmsg(merge->db));
	sqlite3_close(from);
	if (rc || run_sql(merge, "PRAGMA journal_mode = OFF; PRAGMA temp_store = MEMORY"))
		return -1;
	has = ask(merge, "SELECT count(*) FROM main.sqlite_master WHERE name = 'rtl_process'");
	merge->has_rtl = has && *has == '1';
	free(has);
	return has ? 0 : -1;
}

static int write_output(struct merge *merge, const struct part *part, char *const *inputs,
			size_t count)
{
	if (open_output(merge, part, inputs[0]))
		return -1;
	for (size_t i = 1; i < count; i++) {
		merge->input = inputs[i];
		if (add_input(merge))
			return -1;
	}
	merge->input = part->path;
	/* What had a writer is not complete, and nobody writes the whole. */
	if (merge->has_rtl &&
	    run_sql(merge, "UPDATE main.rtl_meta SET value = 'merged' WHERE key = 'writer'"))
		return -1;
	return run_sql(merge, "ANALYZE");
}

int merge_traces(const char *output, char *const *inputs, size_t count, bool unfinished)
{
	struct merge merge = {0};
	struct part part;
	int status = CLI_OK;

	for (size_t i = 0; !status && i < count; i++)
		status = check_trace(inputs[i], unfinished);
	if (status || (status = part_begin(&part, output)))
		return status;
	status = write_output(&merge, &part, inputs, count) ? CLI_FAILED : CLI_OK;
	if (sqlite3_close(merge.db) != SQLITE_OK)
		status = CLI_FAILED;
	return part_end(&part, status);
}
