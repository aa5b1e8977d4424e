/* SPDX-License-Identifier: MIT */
/* rtl merge: traces of several processes, ranks or hosts in one database: their sources feed one subscriber that writes
 * it. Of another host a copy is read, in which pids and numbers of GPUs got the stride that rocpd_metadata names, by
 * which RPD's views napi and nop tell nodes apart, and times were moved by what the clocks of the hosts differ. GPUs
 * are the same if their UUIDs are. */
#include <stdarg.h>
#include <unistd.h>

#include "cli.h"
#include "collect.h"
#include "database.h"
#include "embed.h"
#include "part.h"
#include "sqlite_open.h"

EMBED(merge_sql, RTL_CLI "/read/merge.sql");

struct merge {
	/* in memory: what is known of the inputs before; i: the one at hand; o: the output */
	sqlite3 *db;
	const char *input;
	const char *output; /* while it is made */
	char **traces; /* what is read: inputs, or copies beside the output; each to be freed */
	size_t count;
	bool has_rtl, align;
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
	rc = run_sql(merge, cli_need(sql));
	sqlite3_free(sql);
	return rc;
}

/* The one value that a query answers with, "" for none; to be freed. NULL: after a line. */
static char *ask(const struct merge *merge, const char *sql)
{
	char *value;
	const int rc = sqlite_ask(merge->db, sql, NULL, NULL, &value);

	if (rc == SQLITE_ROW || rc == SQLITE_DONE)
		return value ? value : cli_need(strdup(""));
	fail(merge);
	return NULL;
}

/* Whether the answer is 1; -1 after a line. */
static int is_so(const struct merge *merge, const char *sql)
{
	char *answer = ask(merge, sql);
	const int so = answer ? !strcmp(answer, "1") : -1;

	free(answer);
	return so;
}

/* What stands behind "-- @NAME" in merge.sql, and more. */
static const char *section(const char *name)
{
	const char *at = merge_sql;

	while ((at = strstr(at, "-- @") + 4) && strncmp(at, name, strlen(name)) != 0)
		;
	return strchr(at, '\n') + 1;
}

/* Runs it, up to the next section. */
static int run_section(const struct merge *merge, const char *name)
{
	const char *sql = section(name), *end = strstr(sql, "-- @");

	return run_format(merge, "%.*s", end ? (int)(end - sql) : -1, sql);
}

/* Runs the SQL that it answers with, if any. */
static int run_answer(const struct merge *merge, const char *name)
{
	char *sql = ask(merge, section(name));
	const int rc = sql ? run_sql(merge, sql) : -1;

	free(sql);
	return rc;
}

/* ---- moving an input: a copy of it is changed ---- */

static int move_input(struct merge *merge, size_t number)
{
	char *path = cli_format("%s.%zu", merge->output, number);

	unlink(path); /* what one that was killed has left */
	free(merge->traces[number]);
	merge->traces[number] = path;
	return run_format(merge, "VACUUM i INTO %Q", path) || run_sql(merge, "DETACH i") ||
			       run_format(merge, "ATTACH %Q AS i; PRAGMA i.journal_mode = OFF",
					  path) ||
			       run_section(merge, "same") || run_answer(merge, "list") ||
			       run_section(merge, "move")
		       ? -1
		       : 0;
}

/* ---- one input ---- */

static int refuse(const struct merge *merge, const char *why)
{
	cli_error("%s: %s", merge->input, why);
	return -1;
}

static int check(const struct merge *merge)
{
	char *why = ask(merge, section("check"));
	const int rc = !why ? -1 : *why ? refuse(merge, why) : 0;

	free(why);
	return rc;
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
	if (run_answer(merge, "collectives") || (number && check(merge)))
		return -1;
	if (run_section(merge, number ? "other" : "first"))
		return -1;
	moves = is_so(merge, "SELECT node OR shift FROM move");
	if (moves < 0 || (moves && move_input(merge, number)))
		return -1;
	return run_section(merge, "rest");
}

static int add_input(struct merge *merge, size_t number, const char *path)
{
	merge->input = path;
	merge->traces[number] = cli_need(strdup(path));
	merge->count = number + 1;
	return run_format(merge, "ATTACH %Q AS i", path) || look_at(merge, number) ||
			       run_sql(merge, "DETACH i")
		       ? -1
		       : 0;
}

/* ---- the output ---- */

static int write_facts(struct merge *merge)
{
	merge->input = merge->output;
	if (run_format(merge, "ATTACH %Q AS o", merge->output))
		return -1;
	for (size_t i = 0; i < merge->count; i++) {
		merge->input = merge->traces[i];
		if (run_format(merge, "ATTACH %Q AS i", merge->input) ||
		    run_section(merge, i ? "join" : "take") || run_section(merge, "add") ||
		    run_sql(merge, "DETACH i"))
			return -1;
	}
	return 0;
}

static int write_output(struct merge *merge, char *const *inputs, size_t count)
{
	char *list;
	int status;

	if (run_section(merge, "make") ||
	    run_format(merge, "INSERT INTO known_fact VALUES ('output', %Q)%s", merge->output,
		       merge->align ? ", ('align', NULL)" : ""))
		return CLI_FAILED;
	for (size_t i = 0; i < count; i++)
		if (add_input(merge, i, inputs[i]))
			return CLI_FAILED;
	list = ask(merge, section("subscriber"));
	collect_set_properties(NULL, NULL);
	status = list ? collect_feed(merge->traces, merge->count, NULL, list, NULL) : CLI_FAILED;
	free(list);
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

struct request {
	struct cli_operands files;
	const char *output;
	bool unfinished, align;
};

static int merge_traces(const struct request *request)
{
	const char *output = request->output;
	char *const *inputs = request->files.list;
	const size_t count = request->files.count;
	struct merge merge = {.traces = cli_need(calloc(count, sizeof(*merge.traces))),
			      .align = request->align};
	struct part part;
	int status = CLI_OK;

	for (size_t i = 0; !status && i < count; i++)
		status = check_trace(inputs[i], request->unfinished);
	if (!status)
		status = part_begin(&part, output);
	if (!status) {
		merge.output = part.path;
		merge.input = output;
		sqlite3_open(":memory:", &merge.db);
		status = write_output(&merge, inputs, count);
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

/* ---- the command ---- */

static const struct cli_option options[] = {
	CLI_VALUE('o', "output", "FILE", offsetof(struct request, output),
		  "the database to write; replaces a trace"),
	CLI_FLAG(0, "align-collectives", offsetof(struct request, align),
		 "align the clocks of hosts by when RCCL's collectives end"),
	DATABASE_UNFINISHED(offsetof(struct request, unfinished)),
};

static int merge(void *user)
{
	const struct request *request = user;
	const char *output = request->output;
	const size_t count = request->files.count;
	int status;

	if (!output)
		return cli_usage("merge: give the output with -o FILE");
	if (count < 2)
		return cli_usage("merge: give two traces or more: rtl merge -o FILE TRACE...");
	for (size_t i = 0; i < count; i++) {
		if (database_same_file(output, request->files.list[i]))
			return cli_usage("merge: %s is one of the traces: give -o another name",
					 output);
	}
	status = database_check_replaceable(output);
	if (!status)
		status = merge_traces(request);
	if (status)
		return status;
	cli_line("%s: %zu traces", output, count);
	return cli_finish_output();
}

const struct cli_command cmd_merge = {
	.name = "merge",
	.operands = "TRACE...",
	.purpose = "Joins traces: processes, ranks, hosts",
	.details = "Traces are SQLite databases that rtl or RPD wrote.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct request, files, SIZE_MAX, NULL),
	.run = merge,
};
