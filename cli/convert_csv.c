/* SPDX-License-Identifier: MIT */
/*
 * convert_csv.c: tables as text, in the files and with the columns of rocprofv3. Headers and texts
 * are in quotes (a quote in a text is doubled), numbers bare. What rtl does not know is 0.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "convert.h"
#include "database.h"

#define REGISTER(key)                                                                              \
	"ifnull((SELECT CAST(value AS INTEGER) FROM rtl_tracepoint_metadata AS x WHERE"            \
	" x.process = d.process AND x.uid = d.uid AND x.key = '" key "'), 0)"

/* Numbers from 1 for what has none, in the order in which it comes. */
static const struct table {
	const char *name, *sql;
} tables[] = {
	{"kernel_trace",
	 "SELECT 'KERNEL_DISPATCH' AS Kind, 'Agent ' || d.gpu AS Agent_Id, d.queue AS Queue_Id,"
	 " ifnull(d.stream, 0) AS Stream_Id, d.tid AS Thread_Id, d.op_id AS Dispatch_Id,"
	 " o.description_id AS Kernel_Id, s.string AS Kernel_Name,"
	 " d.correlation AS Correlation_Id, o.start AS Start_Timestamp, o.end AS End_Timestamp,"
	 " d.lds_bytes AS LDS_Block_Size, d.scratch_bytes AS Scratch_Size,"
	 " " REGISTER("vgprs") " AS VGPR_Count, " REGISTER(
		 "agprs") " AS Accum_VGPR_Count,"
			  " " REGISTER("sgprs") " AS SGPR_Count,"
						" d.workgroup_x AS Workgroup_Size_X, d.workgroup_y "
						"AS Workgroup_Size_Y,"
						" d.workgroup_z AS Workgroup_Size_Z, d.grid_x AS "
						"Grid_Size_X, d.grid_y AS Grid_Size_Y,"
						" d.grid_z AS Grid_Size_Z FROM rtl_dispatch AS d "
						"JOIN rocpd_op AS o ON o.id = d.op_id"
						" JOIN rocpd_string AS s ON s.id = "
						"o.description_id ORDER BY d.op_id"},
#define CALLS(domain, condition)                                                                   \
	"SELECT '" domain "' AS Domain, s.string AS Function, a.pid AS Process_Id,"                \
	" a.tid AS Thread_Id, c.correlation AS Correlation_Id, a.start AS Start_Timestamp,"        \
	" a.end AS End_Timestamp FROM rtl_call AS c JOIN rocpd_api AS a ON a.id = c.api_id"        \
	" JOIN rocpd_string AS s ON s.id = a.apiName_id WHERE c.flags IS " condition               \
	" ORDER BY a.id"
	{"hip_api_trace", CALLS("HIP_RUNTIME_API_EXT", "NOT NULL")},
	{"hsa_api_trace", CALLS("HSA_CORE_API", "NULL")},
	{"marker_api_trace",
	 "SELECT CASE m.is_range WHEN 0 THEN 'MARKER_CORE_API' ELSE 'MARKER_CORE_RANGE_API' END"
	 " AS Domain, u.string AS Function, a.pid AS Process_Id, a.tid AS Thread_Id,"
	 " m.instance AS Correlation_Id, a.start AS Start_Timestamp, a.end AS End_Timestamp"
	 " FROM rtl_marker AS m JOIN rocpd_api AS a ON a.id = m.api_id"
	 " LEFT JOIN rocpd_ustring AS u ON u.id = a.args_id ORDER BY a.id"},
	{"memory_copy_trace",
	 "SELECT 'MEMORY_COPY' AS Kind, CASE direction WHEN 1 THEN 'MEMORY_COPY_HOST_TO_DEVICE'"
	 " WHEN 2 THEN 'MEMORY_COPY_DEVICE_TO_HOST' WHEN 5 THEN 'MEMORY_COPY_HOST_TO_HOST'"
	 " ELSE 'MEMORY_COPY_DEVICE_TO_DEVICE' END AS Direction, ifnull(stream, 0) AS Stream_Id,"
	 " 'Agent ' || src_gpu AS Source_Agent_Id, 'Agent ' || dst_gpu AS Destination_Agent_Id,"
	 " correlation AS Correlation_Id, ifnull(begin_ns, submit_ns) AS Start_Timestamp,"
	 " ifnull(end_ns, submit_ns) AS End_Timestamp FROM rtl_copy WHERE kind <> 4 ORDER BY id"},
	{"memory_allocation_trace",
	 "SELECT 'MEMORY_ALLOCATION' AS Kind, CASE is_release WHEN 0 THEN"
	 " 'MEMORY_ALLOCATION_ALLOCATE' ELSE 'MEMORY_ALLOCATION_FREE' END AS Operation,"
	 " 'Agent ' || node AS Agent_Id, bytes AS Allocation_Size, printf('0x%x', address) AS"
	 " Address, correlation AS Correlation_Id, begin_ns AS Start_Timestamp,"
	 " end_ns AS End_Timestamp FROM rtl_mem ORDER BY id"},
};

static void write_text(FILE *out, const char *text)
{
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

static void write_row(FILE *out, sqlite3_stmt *row, bool header)
{
	const int columns = sqlite3_column_count(row);

	for (int i = 0; i < columns; i++) {
		if (i)
			putc(',', out);
		if (header)
			write_text(out, sqlite3_column_name(row, i));
		else if (sqlite3_column_type(row, i) == SQLITE_INTEGER)
			fprintf(out, "%" PRId64, (int64_t)sqlite3_column_int64(row, i));
		else
			write_text(out, sqlite3_column_text(row, i)
						? (const char *)sqlite3_column_text(row, i)
						: "");
	}
	putc('\n', out);
}

/* A table with no rows has no file, as with rocprofv3. */
static int write_table(sqlite3 *db, const char *input, const char *folder,
		       const struct table *table)
{
	sqlite3_stmt *rows = NULL;
	char *path = NULL;
	FILE *out = NULL;
	int result, status = CLI_OK;

	if (sqlite3_prepare_v2(db, table->sql, -1, &rows, NULL) != SQLITE_OK) {
		if (strncmp(sqlite3_errmsg(db), "no such table", 13) == 0)
			return CLI_OK;
		return cli_failed("%s: %s", input, sqlite3_errmsg(db));
	}
	while ((result = sqlite3_step(rows)) == SQLITE_ROW) {
		if (!out) {
			if (asprintf(&path, "%s/%s.csv", folder, table->name) < 0 ||
			    !(out = fopen(path, "we")))
				break;
			write_row(out, rows, true);
		}
		write_row(out, rows, false);
	}
	if (result == SQLITE_ROW || (out && (ferror(out) | fclose(out))))
		status = cli_failed("output %s: %s", path ? path : folder, strerror(errno));
	else if (result != SQLITE_DONE)
		status = cli_failed("%s: %s", input, sqlite3_errmsg(db));
	sqlite3_finalize(rows);
	free(path);
	return status;
}

static bool is_ours(const char *name)
{
	const size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (length > 4 && strncmp(name, tables[i].name, length - 4) == 0 &&
		    !tables[i].name[length - 4] && strcmp(name + length - 4, ".csv") == 0)
			return true;
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Whether nothing else is there than files of an earlier conversion. */
static bool holds_ours_alone(const char *folder)
{
	DIR *dir = opendir(folder);
	bool alone = dir != NULL;

	for (struct dirent *e; alone && (e = readdir(dir));)
		alone = is_ours(e->d_name);
	if (dir)
		closedir(dir);
	return alone;
}

/* Files of an earlier conversion are replaced; nothing else may be there. */
int convert_prepare_csv(const char *folder)
{
	char *path;

	if (mkdir(folder, 0777) == 0)
		return CLI_OK;
	if (errno != EEXIST)
		return cli_failed("output %s: %s; choose another folder with -o", folder,
				  strerror(errno));
	if (!holds_ours_alone(folder))
		return cli_failed("output %s exists and holds something else, so it is not written "
				  "to; choose another folder with -o",
				  folder);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (asprintf(&path, "%s/%s.csv", folder, tables[i].name) >= 0) {
			unlink(path);
			free(path);
		}
	return CLI_OK;
}

int convert_csv(const char *output, const char *input)
{
	struct database *database = database_open(input, false);
	sqlite3 *db = NULL;
	int status;

	if (!database)
		return CLI_FAILED;
	database_close(database);
	if (sqlite3_open_v2(input, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		status = cli_failed("%s: %s", input, sqlite3_errmsg(db));
	else
		status = convert_prepare_csv(output);
	for (size_t i = 0; !status && i < sizeof(tables) / sizeof(*tables); i++)
		status = write_table(db, input, output, &tables[i]);
	sqlite3_close(db);
	return status;
}
