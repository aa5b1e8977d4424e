/* SPDX-License-Identifier: MIT */
/* convert_database.c: databases for other tools. The rocpd schema of ROCm 7, which its tools read and merge: for each
 * process a set of tables, filled by SQL of what is selected (convert_rows.h), and views of all sets. And RPD's schema
 * as tables, for tools that change a file. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "cli.h"
#include "convert_rows.h"
#include "database.h"
#include "embed.h"
#include "hash.h"

EMBED(convert_rocpd7_sql, RTL_CLI "/collect/convert_rocpd7.sql");
EMBED(convert_rocpd7_processes_sql, RTL_CLI "/collect/convert_rocpd7_processes.sql");
EMBED(convert_rocpd7_views_sql, RTL_CLI "/collect/convert_rocpd7_views.sql");
EMBED(convert_rpd_sql, RTL_CLI "/collect/convert_rpd.sql");

#define APPLICATION_ID 0x72746c37u
/* A view joins so many tables at most. */
#define PROCESSES_MOST 400u

struct rocpd7 {
	struct convert_rows rows;
	const struct part *part;
};

/* SQL with the names of a process's tables, to be freed. */
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
	return cli_need(sqlite3_str_finish(out));
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

	machine_id(host ? host : "", id);
	sqlite3_result_text(context, id, 32, SQLITE_TRANSIENT);
}

/* rtl_hash(text) */
static void hash(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *text = (const char *)sqlite3_value_text(values[0]);

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

	snprintf(id, sizeof(id), "%08x-%04x-7%03x-%04x-%012llx", (unsigned)(ms >> 16 & 0xffffffff),
		 (unsigned)(ms & 0xffff), (unsigned)(some & 0xfff),
		 (unsigned)(0x8000 | (some >> 12 & 0x3fff)),
		 (unsigned long long)(more & 0xffffffffffff));
	sqlite3_result_text(context, id, -1, SQLITE_TRANSIENT);
}

/* The tables of a process. */
static int add_process(void *user, sqlite3_stmt *process, uint64_t before)
{
	struct rocpd7 *out = user;
	char *sql;
	int status;

	if (before == PROCESSES_MOST)
		return cli_failed("there are more than %u processes, which the views of this "
				  "format cannot join; choose some with --process",
				  PROCESSES_MOST);
	sql = named(convert_rocpd7_sql, (const char *)sqlite3_column_text(process, 0));
	status = convert_rows_script(&out->rows, out->part, sql, process, NULL);
	sqlite3_free(sql);
	return status;
}

/* ---- the file ---- */

static int run_row(void *user, sqlite3_stmt *row, uint64_t count)
{
	struct rocpd7 *out = user;

	return sqlite3_exec(out->rows.db, (const char *)sqlite3_column_text(row, 0), NULL, NULL,
			    NULL) == SQLITE_OK
		       ? CLI_OK
		       : convert_rows_failed(&out->rows, out->part);
}

static int write_all(struct rocpd7 *out)
{
	const struct convert_taker adder = {add_process, out}, runner = {run_row, out};
	struct convert_rows *rows = &out->rows;
	int status = convert_rows_begin(rows, out->part, APPLICATION_ID);

	convert_rows_function(rows, "rtl_machine", 1, machine);
	convert_rows_function(rows, "rtl_hash", 1, hash);
	convert_rows_function(rows, "rtl_guid", 2, guid);
	rows->all *= 2; /* a row and its event */
	if (!status)
		status = convert_rows_objects(rows);
	if (!status)
		status = convert_rows_script(rows, out->part, convert_rocpd7_processes_sql, NULL,
					     &adder);
	return status ? status
		      : convert_rows_script(rows, out->part, convert_rocpd7_views_sql, NULL,
					    &runner);
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

/* ---- RPD's schema as tables ---- */

static int make_rpd(const struct part *part, const char *input, bool unfinished)
{
	const struct convert_selection all = {.unfinished = unfinished};
	struct convert_rows rows;
	int status = convert_rows_open(&rows, input, &all);

	if (!status)
		status = convert_rows_begin(&rows, part, 0);
	if (!status)
		status = convert_rows_script(&rows, part, convert_rpd_sql, NULL, NULL);
	convert_rows_close(&rows);
	return status;
}

int convert_rpd(const char *output, const char *input, bool unfinished)
{
	struct part part;
	int status = database_check_replaceable(output);

	if (!status)
		status = part_begin(&part, output);
	return status ? status : part_end(&part, make_rpd(&part, input, unfinished));
}
