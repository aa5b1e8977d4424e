/* SPDX-License-Identifier: MIT */
/* See info.h: of a trace. What other writers of the rocpd schema do not have is not shown. */
#include "info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "database.h"
#include "database_sql.h"
#include "json.h"

/* ---- text ---- */

/* row: process, node, name, product, uuid, bus_id, compute_units, GiB; NULL where not known. */
static void print_gpu(const char *const *row)
{
	const char *before[8];

	for (int i = 3; i < 8; i++)
		before[i] = row[i] && *row[i] ? ", " : "";
	cli_line("GPU %s of process %s: %s%s%s%s%s%s%s%s%s%s%s%s%s", row[1], row[0],
		 cli_text(row[2]), before[3], cli_text(row[3]), before[4], cli_text(row[4]),
		 before[5], cli_text(row[5]), before[6], cli_text(row[6]),
		 row[6] ? " compute units" : "", before[7], cli_text(row[7]), row[7] ? " GiB" : "");
}

static const struct part {
	const char *name;
	const char *sql;
	const char *line;    /* of its columns; NULL: that of a GPU */
	const char *keys[8]; /* of the columns; those that begin with # are numbers */
	const char *table;   /* that may be missing: then there are no rows. NULL: none */
} parts[] = {
	{"processes",
	 "SELECT process, pid, parent_pid, command, host_name, "
	 "round((end_ns - start_ns) / 1e9, 3) FROM rtl_process ORDER BY process",
	 "process %1$s: pid %2$s of %3$s, host %5$s, %6$s s: %4$s",
	 {"#process", "#pid", "#parent_pid", "command", "host", "#seconds"},
	 NULL},
	{"gpus",
	 "SELECT process, max(v) FILTER (WHERE k = 'node'), name, "
	 "max(v) FILTER (WHERE k = 'product'), max(v) FILTER (WHERE k = 'uuid'), "
	 "max(v) FILTER (WHERE k = 'bus_id'), max(v) FILTER (WHERE k = 'compute_units'), "
	 "round(max(v) FILTER (WHERE k = 'memory_bytes') / 1073741824.0, 1) "
	 "FROM (SELECT t.process AS process, t.uid AS uid, t.name AS name, m.key AS k, m.value AS "
	 "v "
	 "FROM rtl_tracepoint AS t JOIN rtl_tracepoint_metadata AS m USING (process, uid) "
	 "WHERE t.kind = 'agent') GROUP BY process, uid ORDER BY process, 2",
	 NULL,
	 {"#process", "#node", "name", "product", "uuid", "bus_id", "#compute_units",
	  "#memory_gib"},
	 NULL},
	/* where that was not the intercepted queues that are the rule */
	{"sources",
	 "SELECT process, substr(text, 9) FROM rtl_e_rtl_diagnostics_diagnostics WHERE who = 'hsa' "
	 "AND "
	 "text LIKE 'source: %' ORDER BY process, id",
	 "source of process %s: %s",
	 {"#process", "source"},
	 "rtl_e_rtl_diagnostics_diagnostics"},
	{"streams",
	 "SELECT name, version_major, version_minor, description FROM rtl_stream ORDER BY stream",
	 "stream %s %s.%s: %s",
	 {"stream", "#version_major", "#version_minor", "description"},
	 NULL},
	{"ledger",
	 "SELECT stream, sum(published), sum(delivered), sum(discarded), sum(abandoned), "
	 "sum(missed) FROM rtl_ledger GROUP BY stream "
	 "HAVING sum(published + discarded + missed) > 0 ORDER BY stream",
	 "ledger of %s: %s published, %s delivered, %s discarded, %s abandoned, %s missed",
	 {"stream", "#published", "#delivered", "#discarded", "#abandoned", "#missed"},
	 NULL},
	{"losses",
	 "SELECT stream, cause, sum(count) FROM rtl_loss GROUP BY stream, cause "
	 "ORDER BY stream, cause",
	 "  lost of %s: %s: %s",
	 {"stream", "cause", "#count"},
	 NULL},
	{"left_out",
	 "SELECT stream, cause, sum(count) FROM rtl_left_out GROUP BY stream, cause "
	 "ORDER BY stream, cause",
	 "  left out of %s: %s: %s",
	 {"stream", "cause", "#count"},
	 NULL},
	{"waits",
	 "SELECT process, waits, round(waited_ns / 1e9, 3) FROM rtl_wait ORDER BY process",
	 "process %s: its threads waited %s times for room in their buffers, %s s in all",
	 {"#process", "#waits", "#seconds"},
	 NULL},
	{"clock",
	 "SELECT process, datetime(min(realtime_ns) / 1000000000, 'unixepoch') || ' UTC', "
	 "max(error_ns) FROM rtl_clock WHERE realtime_ns NOT NULL GROUP BY process",
	 "clock of process %s: %s, within %s ns of the day's time",
	 {"#process", "start", "#error_ns"},
	 NULL},
};

/* Its rows, one by one. */
static int query_part(struct database *database, const struct part *part,
		      void (*row)(void *user, const char *const *row), void *user)
{
	const int has = part->table ? database_has_table(database, part->table) : 1;

	return has > 0 ? database_query(database, part->sql, row, user) : has;
}

/* A number that is not known is a question mark. */
static void print_row(void *user, const char *const *row)
{
	const struct part *part = user;
	const char *c[8] = {NULL};

	for (size_t i = 0; i < 8 && part->keys[i]; i++)
		c[i] = row[i] ? row[i] : *part->keys[i] == '#' ? "?" : "";
	if (part->line)
		cli_line(part->line, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]);
	else
		print_gpu(row);
}

static const char *const facts[] = {"version",     "mode",    "where", "state",
				    "interrupted", "session", "clock"};

static void print_fact(struct database *database, const char *key)
{
	char *value = database_fact(database, key);

	if (value && *value)
		cli_line("%s: %s", key, value);
	free(value);
}

static int print(struct database *database, const char *path, int64_t operations)
{
	int error = 0;

	cli_line("%s: %" PRId64 " GPU operations", path, operations);
	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		print_fact(database, facts[i]);
	for (size_t i = 0; !error && i < sizeof(parts) / sizeof(*parts); i++)
		error = query_part(database, &parts[i], print_row, (void *)(uintptr_t)&parts[i]);
	return error;
}

/* ---- JSON ---- */

struct rows {
	struct json *json;
	const struct part *part;
};

static void print_row_json(void *user, const char *const *row)
{
	struct rows *rows = user;

	json_object(rows->json, NULL);
	for (size_t i = 0; i < 8 && rows->part->keys[i]; i++) {
		const char *key = rows->part->keys[i];
		if (*key == '#')
			json_value(rows->json, key + 1, row[i]);
		else
			json_text(rows->json, key, row[i]);
	}
	json_end(rows->json);
}

static int print_json(struct database *database, const char *path, int64_t operations)
{
	struct json json = {.file = stdout};
	int error = 0;

	json_object(&json, NULL);
	json_text(&json, "file", path);
	json_number(&json, "operations", (uint64_t)operations);
	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++) {
		char *value = database_fact(database, facts[i]);
		json_text(&json, strcmp(facts[i], "clock") ? facts[i] : "time", value);
		free(value);
	}
	for (size_t i = 0; !error && i < sizeof(parts) / sizeof(*parts); i++) {
		struct rows rows = {&json, &parts[i]};
		json_array(&json, parts[i].name);
		error = query_part(database, &parts[i], print_row_json, &rows);
		json_end(&json);
	}
	json_end(&json);
	return error;
}

int info_database(const char *path, bool json)
{
	struct database *database = database_open(path, false);
	int64_t operations = database ? database_operations(database) : -1;
	int error = -1, status;

	if (operations >= 0)
		error = json ? print_json(database, path, operations)
			     : print(database, path, operations);
	status = cli_finish_output();
	if (error)
		status = CLI_FAILED;
	if (!status)
		status = database_say_unfinished(database);
	database_close(database);
	return status;
}
