/* SPDX-License-Identifier: MIT */
/*
 * convert_rocpd7.c: the rocpd schema of ROCm 7, which its tools read and merge: for each process a
 * set of tables, filled by SQL of what is selected (convert_rows.h), and views of all sets.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "convert.h"
#include "convert_args.h"
#include "convert_rows.h"
#include "embed.h"
#include "hash.h"

EMBED(convert_rocpd7_sql, RTL_CLI "/collect/convert_rocpd7.sql");
EMBED(convert_rocpd7_views_sql, RTL_CLI "/collect/convert_rocpd7_views.sql");
extern const char convert_rocpd7_sql[], convert_rocpd7_views_sql[];

#define APPLICATION_ID 0x72746c37u
/* A view joins so many tables at most. */
#define PROCESSES_MOST 400u

struct rocpd7 {
	struct convert_rows rows;
	const struct part *part;
	const char *guid;  /* of the process that is written */
	sqlite3_stmt *add; /* an argument of it */
};

/* A statement of it failed. */
static int refuse(const struct rocpd7 *out)
{
	return convert_rows_failed(&out->rows, out->part);
}

/* SQL with the names of a process's tables, to be freed; NULL: out of memory. */
static char *named(const char *sql, const char *guid)
{
	sqlite3_str *out = sqlite3_str_new(NULL);
	char suffix[40];

	snprintf(suffix, sizeof(suffix), "%s", guid);
	for (char *c = suffix; *c; c++)
		if (*c == '-')
			*c = '_';
	for (const char *at; (at = strchr(sql, '@')); sql = at) {
		const size_t length = strspn(++at, "abcdefghijklmnopqrstuvwxyz_");

		sqlite3_str_append(out, sql, (int)(at - 1 - sql));
		if (length)
			sqlite3_str_appendf(out, "\"rocpd_%.*s_%s\"", (int)length, at, suffix);
		else
			sqlite3_str_appendall(out, guid);
		at += length;
	}
	sqlite3_str_appendall(out, sql);
	return sqlite3_str_finish(out);
}

/* ---- arguments ---- */

static void bind_text(sqlite3_stmt *statement, int place, struct convert_text text)
{
	sqlite3_bind_text(statement, place, text.text ? text.text : "", (int)text.length,
			  SQLITE_STATIC);
}

/* Of "*ptr=1" declared as "int *ptr" the value is an int. */
static struct convert_text type_of(const struct convert_arg *arg)
{
	struct convert_text type = arg->type;

	for (unsigned i = 0; i < arg->pointed && type.length; i++)
		if (type.text[type.length - 1] == '*')
			type.length--;
	while (type.length && type.text[type.length - 1] == ' ')
		type.length--;
	return type;
}

static int begin_args(struct rocpd7 *out)
{
	char *sql = named("INSERT INTO @arg (event_id, position, type, name, value) VALUES (?1, ?2,"
			  " ?3, ?4, ?5)",
			  out->guid);
	int status = sql ? CLI_OK : cli_failed("out of memory");

	if (sql && sqlite3_prepare_v2(out->rows.db, sql, -1, &out->add, NULL) != SQLITE_OK)
		status = refuse(out);
	sqlite3_free(sql);
	return status;
}

/* Of a call; columns: its number, the arguments, what its function declares. */
static int add_args(void *user, sqlite3_stmt *call, uint64_t before)
{
	struct rocpd7 *out = user;
	const char *line = (const char *)sqlite3_column_text(call, 1);
	const char *declared = (const char *)sqlite3_column_text(call, 2);
	struct convert_arg args[CONVERT_ARGS_MOST];
	const size_t count = convert_args(declared ? declared : "", line, args);

	if (!before && begin_args(out))
		return CLI_FAILED;
	for (size_t i = 0; i < count; i++) {
		sqlite3_bind_int64(out->add, 1, sqlite3_column_int64(call, 0));
		sqlite3_bind_int64(out->add, 2, (int64_t)args[i].position);
		bind_text(out->add, 3, type_of(&args[i]));
		bind_text(out->add, 4, args[i].name);
		bind_text(out->add, 5, args[i].value);
		if (sqlite3_step(out->add) != SQLITE_DONE)
			return refuse(out);
		sqlite3_reset(out->add);
	}
	return CLI_OK;
}

/* ---- processes and machines ---- */

/* systemd's, if the process ran on this machine; else a number made of its host's name. */
static void machine_id(const char *host, char id[33])
{
	char here[256] = "";
	FILE *file = gethostname(here, sizeof(here) - 1) == 0 && strcmp(here, host) == 0
			     ? fopen("/etc/machine-id", "re")
			     : NULL;
	const uint64_t hash = hash_text(host, strlen(host));

	if (!file || fread(id, 1, 32, file) != 32 || !isxdigit((unsigned char)id[31]))
		snprintf(id, 33, "%016llx%016llx", (unsigned long long)hash,
			 (unsigned long long)hash_number(hash));
	id[32] = '\0';
	if (file)
		fclose(file);
}

/* rtl_machine(host) */
static void machine(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *host = (const char *)sqlite3_value_text(values[0]);
	char id[33];

	(void)count;
	machine_id(host ? host : "", id);
	sqlite3_result_text(context, id, 32, SQLITE_TRANSIENT);
}

/* rtl_hash(text) */
static void hash(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *text = (const char *)sqlite3_value_text(values[0]);

	(void)count;
	sqlite3_result_int64(context, (int64_t)(hash_text(text, strlen(text)) >> 1));
}

/* rtl_guid(ms, number): as of version 7: begins with the time, so that files sort by it. The same
 * process has the same. */
static void guid(sqlite3_context *context, int count, sqlite3_value **values)
{
	const uint64_t ms = (uint64_t)sqlite3_value_int64(values[0]);
	const uint64_t some = hash_number((uint64_t)sqlite3_value_int64(values[1]));
	const uint64_t more = hash_number(some);
	char id[40];

	(void)count;
	snprintf(id, sizeof(id), "%08x-%04x-7%03x-%04x-%012llx", (unsigned)(ms >> 16 & 0xffffffff),
		 (unsigned)(ms & 0xffff), (unsigned)(some & 0xfff),
		 (unsigned)(0x8000 | (some >> 12 & 0x3fff)),
		 (unsigned long long)(more & 0xffffffffffff));
	sqlite3_result_text(context, id, -1, SQLITE_TRANSIENT);
}

static int add_process(struct rocpd7 *out, sqlite3_stmt *process)
{
	const struct convert_taker taker = {add_args, out};
	char *sql;
	int status;

	out->guid = (const char *)sqlite3_column_text(process, 0);
	sql = named(convert_rocpd7_sql, out->guid);
	status = sql ? convert_rows_script(&out->rows, out->part, sql, process, &taker)
		     : cli_failed("out of memory");
	sqlite3_finalize(out->add);
	out->add = NULL;
	sqlite3_free(sql);
	return status;
}

static int add_processes(struct rocpd7 *out)
{
	static const char sql[] =
		"SELECT rtl_guid((c.start_ns + ifnull((SELECT k.realtime_ns - k.time_ns FROM"
		" i.rtl_clock AS k WHERE k.process = c.process AND k.realtime_ns IS NOT NULL LIMIT"
		" 1), 0)) / 1000000, ifnull(nullif(p.spool, 0), c.start_ns * 31 + c.pid)) AS guid,"
		" c.process, c.pid, c.host_name AS host, rtl_machine(c.host_name) AS machine,"
		" rtl_hash(rtl_machine(c.host_name)) AS hash, rtl_hash(rtl_machine(c.host_name)) %"
		" 4294967295 AS node, a.ops, a.ops + o.ops AS copies, a.ops + o.ops + m.copies AS"
		" mems FROM c_process AS c JOIN i.rtl_process AS p USING (process), (SELECT"
		" ifnull(max(id), 0) AS ops FROM i.rocpd_api) AS a, (SELECT ifnull(max(id), 0) AS"
		" ops FROM i.rocpd_op) AS o, (SELECT ifnull(max(id), 0) AS copies FROM i.rtl_copy)"
		" AS m ORDER BY c.process";
	sqlite3_stmt *process = NULL;
	unsigned count = 0;
	int status = CLI_OK, result = SQLITE_DONE;

	if (sqlite3_prepare_v2(out->rows.db, sql, -1, &process, NULL) != SQLITE_OK)
		return refuse(out);
	while (!status && (result = sqlite3_step(process)) == SQLITE_ROW)
		status = count++ == PROCESSES_MOST
				 ? cli_failed("there are more than %u processes, which the views "
					      "of this format cannot join; choose some with "
					      "--process",
					      PROCESSES_MOST)
				 : add_process(out, process);
	if (!status && result != SQLITE_DONE)
		status = refuse(out);
	sqlite3_finalize(process);
	return status;
}

/* ---- the file ---- */

static int run_row(void *user, sqlite3_stmt *row, uint64_t count)
{
	struct rocpd7 *out = user;

	(void)count;
	return sqlite3_exec(out->rows.db, (const char *)sqlite3_column_text(row, 0), NULL, NULL,
			    NULL) == SQLITE_OK
		       ? CLI_OK
		       : refuse(out);
}

static int write_all(struct rocpd7 *out)
{
	const struct convert_taker runner = {run_row, out};
	struct convert_rows *rows = &out->rows;
	int status = convert_rows_begin(rows, out->part, APPLICATION_ID);

	convert_rows_function(rows, "rtl_machine", 1, machine);
	convert_rows_function(rows, "rtl_hash", 1, hash);
	convert_rows_function(rows, "rtl_guid", 2, guid);
	rows->all *= 2; /* a row and its event */
	if (!status)
		status = convert_rows_objects(rows);
	if (!status)
		status = add_processes(out);
	if (!status)
		status = convert_rows_script(rows, out->part, convert_rocpd7_views_sql, NULL,
					     &runner);
	return status ? status
		      : convert_rows_script(rows, out->part, "COMMIT;\nDETACH o", NULL, NULL);
}

int convert_rocpd7(const struct part *part, const char *input,
		   const struct convert_selection *selection)
{
	struct rocpd7 out = {.part = part};
	int status = convert_rows_open(&out.rows, input, selection);

	if (!status)
		status = convert_rows_check(&out.rows);
	if (!status)
		status = write_all(&out);
	convert_rows_close(&out.rows);
	return status;
}

bool convert_rocpd7_replaceable(const char *path)
{
	unsigned char header[72];
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const ssize_t n = fd >= 0 ? read(fd, header, sizeof(header)) : -1;
	const bool absent = fd < 0 && errno == ENOENT;

	if (fd >= 0)
		close(fd);
	if (absent || n == 0)
		return true;
	return n == (ssize_t)sizeof(header) && memcmp(header, "SQLite format 3", 16) == 0 &&
	       ((unsigned)header[68] << 24 | (unsigned)header[69] << 16 |
		(unsigned)header[70] << 8 | header[71]) == APPLICATION_ID;
}
