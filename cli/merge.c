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
#include <unistd.h>

#include "cli.h"
#include "collect.h"
#include "database.h"
#include "part.h"

/* Clocks of one boot differ by what NTP has set the time of day by; of two boots by more. */
#define SAME_BOOT_NS "10000000000"
/* Beyond, pids of hosts have no room in an int32_t. */
#define HOSTS_MOST "213"

struct merge {
	sqlite3 *
		db; /* in memory: what is known of the inputs before; i: the one at hand; o: the output */
	const char *input;
	const char *output; /* while it is made */
	char **traces; /* what is read: inputs, or copies beside the output; each to be freed */
	size_t count;
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

/* The one value that a query answers with, "" for none; to be freed. NULL: after a line. */
static char *ask(const struct merge *merge, const char *sql)
{
	sqlite3_stmt *statement;
	const char *text = NULL;
	char *value;
	int rc;

	if (sqlite3_prepare_v2(merge->db, sql, -1, &statement, NULL) != SQLITE_OK) {
		fail(merge);
		return NULL;
	}
	rc = sqlite3_step(statement);
	if (rc == SQLITE_ROW)
		text = (const char *)sqlite3_column_text(statement, 0);
	value = rc == SQLITE_ROW || rc == SQLITE_DONE ? strdup(text ? text : "") : NULL;
	if (!value)
		fail(merge);
	sqlite3_finalize(statement);
	return value;
}

/* Whether the answer is 1; -1 after a line. */
static int is_so(const struct merge *merge, const char *sql)
{
	char *answer = ask(merge, sql);
	const int so = answer ? !strcmp(answer, "1") : -1;

	free(answer);
	return so;
}

/* ---- what is known of inputs ---- */

static const char make_known[] =
	"CREATE TABLE known_host (name TEXT, node INTEGER);"
	"CREATE TABLE known_gpu (uuid TEXT PRIMARY KEY, id INTEGER);"
	"CREATE TABLE known_spool (spool INTEGER);"
	"CREATE TABLE known_fact (key TEXT, value TEXT);"
	/* what becomes of the input at hand, and of the GPUs that are known under another number */
	"CREATE TABLE move (node INTEGER, shift INTEGER);"
	"CREATE TABLE same_gpu (was INTEGER PRIMARY KEY, id INTEGER);";

#define PID_STRIDE "10000000"
#define GPU_STRIDE "1000"

/* A clock counts from the start of its machine (CLOCK_BOOTTIME): how two differ is known by the times of day
 * that both have noted. */
#define CLOCK "(SELECT realtime_ns - time_ns FROM i.rtl_clock WHERE realtime_ns NOT NULL"

static const char learn_first[] = "INSERT INTO known_fact SELECT key, value FROM i.rtl_meta WHERE "
				  "key IN ('schema', 'gpu', 'clock',"
				  " 'links') UNION ALL SELECT 'of the first', " CLOCK
				  " AND process = 1 ORDER BY error_ns LIMIT 1);"
				  "INSERT INTO known_host SELECT host_name, min(pid) / " PID_STRIDE
				  " FROM i.rtl_process GROUP BY host_name;"
				  "INSERT INTO move VALUES (0, 0);";

/* A host that is there keeps its node, another one gets the next. */
static const char learn_other[] =
	"INSERT INTO known_host SELECT DISTINCT host_name, (SELECT max(node) + 1 FROM known_host)"
	" FROM i.rtl_process WHERE host_name NOT IN (SELECT name FROM known_host);"
	"DELETE FROM move;"
	"INSERT INTO move SELECT (SELECT node FROM known_host WHERE name IS (SELECT min(host_name)"
	" FROM i.rtl_process)), ifnull(" CLOCK " ORDER BY error_ns LIMIT 1)"
	" - (SELECT value FROM known_fact WHERE key = 'of the first'), 0);"
	/* the same clock */
	"UPDATE move SET shift = 0 WHERE node = 0 AND abs(shift) < " SAME_BOOT_NS ";";

#define UUIDS                                                                                      \
	" FROM i.rtl_tracepoint_metadata AS u JOIN i.rtl_tracepoint_metadata AS n"                 \
	" USING (process, uid) WHERE u.key = 'uuid' AND n.key = 'node'"

static const char learn_rest[] =
	"INSERT OR IGNORE INTO known_gpu SELECT u.value, CAST(n.value AS INTEGER)" UUIDS ";"
	"INSERT INTO known_spool SELECT spool FROM i.rtl_process;";

/* ---- moving an input: a copy of it is changed ---- */

/* A GPU whose UUID is known is that one; another one keeps its number, with its node's stride. */
#define MOVED(gpu)                                                                                 \
	"ifnull((SELECT id FROM same_gpu WHERE was = " gpu "), " gpu                               \
	" + (SELECT node FROM move) * " GPU_STRIDE ")"
#define SHIFTED(column) column " = " column " + (SELECT shift FROM move)"
#define PID_MOVED(pid)  pid " = " pid " + (SELECT node FROM move) * " PID_STRIDE

static const char find_same_gpus[] =
	"DELETE FROM same_gpu;"
	"INSERT OR IGNORE INTO same_gpu SELECT CAST(n.value AS INTEGER),"
	" (SELECT id FROM known_gpu WHERE uuid = u.value)" UUIDS
	" AND u.value IN (SELECT uuid FROM known_gpu);";

#define MOVE_PROCESSES                                                                             \
	SHIFTED("start_ns")                                                                        \
	", " SHIFTED("end_ns") ", " SHIFTED("first_ns") ", " SHIFTED("last_ns")
#define MOVE_PIDS   PID_MOVED("pid") ", " PID_MOVED("parent_pid")
#define MOVE_CLOCKS SHIFTED("time_ns") ", " SHIFTED("first_ns") ", " SHIFTED("last_ns")

/* clang-format off */
static const char move_rest[] =
	"UPDATE i.rtl_process SET " MOVE_PROCESSES ", " MOVE_PIDS ";"
	"UPDATE i.rtl_clock SET " MOVE_CLOCKS ";"
	"UPDATE i.rtl_tracepoint_metadata SET value = " MOVED("CAST(value AS INTEGER)")
	" WHERE key IN ('node', 'gpu');";
/* clang-format on */

/* One UPDATE for each column of events with a time, all others are relative to it, or the number of a GPU.
 * Of a copy 0 is the host. */
/* clang-format off */
static const char list_moves[] =
	"SELECT group_concat(printf('UPDATE i.\"%w\" SET ', t.name) || CASE c.name"
	" WHEN 'time_ns' THEN '" SHIFTED("time_ns") "'"
	" WHEN 'node' THEN 'node = " MOVED("node") " WHERE flags & 1'"
	" ELSE c.name || ' = ' || replace('" MOVED("@") "', '@', c.name)"
	" || CASE WHEN t.name GLOB 'rtl_s_rtl_hsa_copy_*' THEN ' WHERE ' || c.name ELSE '' END END, ';')"
	" FROM i.sqlite_master AS t JOIN pragma_table_info(t.name, 'i') AS c"
	" WHERE t.type = 'table' AND t.name GLOB 'rtl_s_*'"
	" AND (c.name IN ('time_ns', 'gpu', 'src_gpu', 'dst_gpu')"
	" OR (c.name = 'node' AND t.name GLOB 'rtl_s_rtl_hsa_mem_*'))";
/* clang-format on */

static int copy_database(const struct merge *merge, const char *to)
{
	sqlite3 *db = NULL;
	sqlite3_backup *copy = NULL;
	int rc = -1;

	if (sqlite3_open(to, &db) == SQLITE_OK &&
	    sqlite3_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL,
			 NULL) == SQLITE_OK)
		copy = sqlite3_backup_init(db, "main", merge->db, "i");
	if (copy) {
		sqlite3_backup_step(copy, -1);
		rc = sqlite3_backup_finish(copy);
	}
	if (rc)
		cli_error("%s: %s", to, sqlite3_errmsg(db));
	sqlite3_close(db);
	return rc;
}

static int move_input(struct merge *merge, size_t number)
{
	char *path, *sql;
	int rc;

	if (asprintf(&path, "%s.%zu", merge->output, number) < 0) {
		cli_error("out of memory");
		return -1;
	}
	unlink(path); /* what one that was killed has left */
	free(merge->traces[number]);
	merge->traces[number] = path;
	if (copy_database(merge, path) || run_sql(merge, "DETACH i") ||
	    run_format(merge, "ATTACH %Q AS i; PRAGMA i.journal_mode = OFF", path) ||
	    !(sql = ask(merge, list_moves)))
		return -1;
	rc = run_sql(merge, find_same_gpus) || run_sql(merge, sql) || run_sql(merge, move_rest);
	free(sql);
	return rc ? -1 : 0;
}

/* ---- one input ---- */

static int refuse(const struct merge *merge, const char *why)
{
	cli_error("%s: %s", merge->input, why);
	return -1;
}

/* What all must agree in. */
static int check(const struct merge *merge)
{
	static const struct {
		const char *sql, *why;
	} faults[] = {
		{"SELECT count(DISTINCT host_name) > 1 FROM i.rtl_process",
		 "merged of several hosts: give it as the first, or what it was merged of"},
		{"SELECT count(*) <> 3 FROM i.rtl_meta JOIN known_fact USING (key, value)"
		 " WHERE key IN ('schema', 'gpu', 'clock')",
		 "its schema, its clock or its numbers of GPUs are of another kind than the first"
		 " trace's (rtl_meta)"},
		{"SELECT count(*) > 0 FROM i.rtl_process WHERE spool IN (SELECT spool FROM"
		 " known_spool)",
		 "holds a process that is in a trace before it"},
		{"SELECT max(node) >= " HOSTS_MOST " FROM known_host", "too many hosts"},
	};

	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		const int is = is_so(merge, faults[i].sql);

		if (is)
			return is < 0 ? -1 : refuse(merge, faults[i].why);
	}
	return 0;
}

static int look_at(struct merge *merge, size_t number)
{
	const int has_rtl =
		is_so(merge, "SELECT count(*) FROM i.sqlite_master WHERE name = 'rtl_process'");
	int moves;

	if (has_rtl < 0)
		return -1;
	if (!number)
		merge->has_rtl = has_rtl;
	if (merge->has_rtl != (bool)has_rtl)
		return refuse(merge, merge->has_rtl
					     ? "written by RPD, the first trace by rtl: merge"
					       " those of one kind"
					     : "written by rtl, the first trace by RPD: merge"
					       " those of one kind");
	if (!has_rtl)
		return 0;
	if (number && check(merge))
		return -1;
	if (run_sql(merge, number ? learn_other : learn_first))
		return -1;
	moves = is_so(merge, "SELECT node OR shift FROM move");
	if (moves < 0 || (moves && move_input(merge, number)))
		return -1;
	return run_sql(merge, learn_rest);
}

static int add_input(struct merge *merge, size_t number, const char *path)
{
	merge->input = path;
	merge->traces[number] = strdup(path);
	if (!merge->traces[number]) {
		cli_error("out of memory");
		return -1;
	}
	merge->count = number + 1;
	return run_format(merge, "ATTACH %Q AS i", path) || look_at(merge, number) ||
			       run_sql(merge, "DETACH i")
		       ? -1
		       : 0;
}

/* ---- the output ---- */

/* Facts of all: one of them, or a list. The time of day that was noted in each process. */
static const char take_facts[] = "INSERT OR REPLACE INTO o.rtl_meta SELECT * FROM i.rtl_meta"
				 " WHERE key IN ('state', 'mode', 'where', 'session', 'version');";
static const char join_facts[] =
	"UPDATE o.rtl_meta SET value = (SELECT CASE WHEN x.value = rtl_meta.value THEN x.value"
	" WHEN rtl_meta.key = 'state' AND rtl_meta.value = 'complete' THEN x.value"
	" WHEN rtl_meta.key = 'state' THEN rtl_meta.value ELSE rtl_meta.value || ', ' || x.value"
	" END FROM i.rtl_meta AS x WHERE x.key = rtl_meta.key)"
	" WHERE key IN ('state', 'mode', 'where', 'session', 'version')"
	" AND key IN (SELECT key FROM i.rtl_meta);"
	"UPDATE o.rocpd_metadata SET value = value + ifnull((SELECT value FROM i.rocpd_metadata"
	" WHERE tag = 'session_count'), 1) WHERE tag = 'session_count';";
static const char add_facts[] =
	"INSERT OR IGNORE INTO o.rtl_meta SELECT key, CASE key WHEN 'writer' THEN 'merged' ELSE "
	"value END"
	" FROM i.rtl_meta WHERE key IN ('interrupted', 'recovered', 'writer');"
	"INSERT INTO o.rtl_clock (process, time_ns, realtime_ns, error_ns) SELECT o.process, "
	"c.time_ns,"
	" c.realtime_ns, c.error_ns FROM i.rtl_clock AS c JOIN i.rtl_process AS p USING (process)"
	" JOIN o.rtl_process AS o ON o.spool = p.spool WHERE c.realtime_ns NOT NULL;";

static int write_facts(struct merge *merge)
{
	merge->input = merge->output;
	if (run_format(merge, "ATTACH %Q AS o", merge->output))
		return -1;
	for (size_t i = 0; i < merge->count; i++) {
		merge->input = merge->traces[i];
		if (run_format(merge, "ATTACH %Q AS i", merge->input) ||
		    run_sql(merge, i ? join_facts : take_facts) || run_sql(merge, add_facts) ||
		    run_sql(merge, "DETACH i"))
			return -1;
	}
	return 0;
}

/* The subscriber that writes it: in a list some characters mean something, and in a name "%". */
static char *list_of(const struct merge *merge)
{
	sqlite3_str *list = sqlite3_str_new(merge->db);

	sqlite3_str_appendall(list, "libsqlite_sub.so?output=");
	for (const char *at = merge->output; *at; at++) {
		if (*at == '%')
			sqlite3_str_appendall(list, "%25%25");
		else if (*at == '&' || *at == ':')
			sqlite3_str_appendf(list, "%%%02X", (unsigned char)*at);
		else
			sqlite3_str_appendchar(list, 1, *at);
	}
	if (is_so(merge, "SELECT count(*) FROM known_fact WHERE key = 'gpu' AND value = 'index'"))
		sqlite3_str_appendall(list, "&gpu=index");
	if (is_so(merge, "SELECT count(*) FROM known_fact WHERE key = 'links' AND value = 'no'"))
		sqlite3_str_appendall(list, "&links=no");
	return sqlite3_str_finish(list);
}

static int write_output(struct merge *merge, char *const *inputs, size_t count)
{
	char *list;
	int status;

	if (run_sql(merge, make_known))
		return CLI_FAILED;
	for (size_t i = 0; i < count; i++)
		if (add_input(merge, i, inputs[i]))
			return CLI_FAILED;
	list = list_of(merge);
	status = list ? collect_set_properties(NULL, NULL) : cli_failed("out of memory");
	if (!status)
		status = collect_feed(merge->traces, merge->count, NULL, list, NULL);
	sqlite3_free(list);
	return !status && merge->has_rtl && write_facts(merge) ? CLI_FAILED : status;
}

/* CLI_OK: it is a trace that can be merged. */
static int check_trace(const char *path, bool unfinished)
{
	struct database *database = database_open(path, false);
	const int status = database ? database_refuse_unfinished(database, unfinished) : CLI_FAILED;

	database_close(database);
	return status;
}

int merge_traces(const char *output, char *const *inputs, size_t count, bool unfinished)
{
	struct merge merge = {.traces = calloc(count, sizeof(*merge.traces))};
	struct part part;
	int status = merge.traces ? CLI_OK : cli_failed("out of memory");

	for (size_t i = 0; !status && i < count; i++)
		status = check_trace(inputs[i], unfinished);
	if (!status)
		status = part_begin(&part, output);
	if (!status) {
		merge.output = part.path;
		merge.input = output;
		status = sqlite3_open(":memory:", &merge.db) == SQLITE_OK
				 ? write_output(&merge, inputs, count)
				 : cli_failed("out of memory");
		sqlite3_close(merge.db);
		for (size_t i = 0; i < merge.count; i++) {
			if (strcmp(merge.traces[i], inputs[i]) != 0)
				unlink(merge.traces[i]);
			free(merge.traces[i]);
		}
		status = part_end(&part, status);
	}
	free(merge.traces);
	return status;
}
