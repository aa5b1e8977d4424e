/* SPDX-License-Identifier: MIT */
/*
 * convert_csv.c: tables as text, in the files and with the columns of rocprofv3. Headers and texts
 * are in quotes (a quote in a text is doubled), numbers bare. What rtl does not know is 0. Streams of
 * programs have a file for each type, as they have a table in the database.
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
#include "convert_rows.h"
#include "part.h"

#define TELL_EVERY 4096u

/* Numbers from 1 for what has none, in the order in which it comes. */
struct table {
	const char *name, *sql;
};

static const struct table tables[] = {
	{"kernel_trace",
	 "SELECT 'KERNEL_DISPATCH' AS Kind, 'Agent ' || d.gpu AS Agent_Id, d.queue AS Queue_Id,"
	 " (SELECT s.number FROM c_stream AS s WHERE s.process = d.process AND s.stream = d.stream)"
	 " AS Stream_Id, d.tid AS Thread_Id, d.id AS Dispatch_Id, d.name_id AS Kernel_Id,"
	 " d.name AS Kernel_Name, d.correlation AS Correlation_Id, d.begin_ns AS Start_Timestamp,"
	 " d.end_ns AS End_Timestamp, d.lds_bytes AS LDS_Block_Size, d.scratch_bytes AS"
	 " Scratch_Size, k.vgprs AS VGPR_Count, k.agprs AS Accum_VGPR_Count, k.sgprs AS SGPR_Count,"
	 " d.workgroup_x AS Workgroup_Size_X, d.workgroup_y AS Workgroup_Size_Y,"
	 " d.workgroup_z AS Workgroup_Size_Z, d.grid_x AS Grid_Size_X, d.grid_y AS Grid_Size_Y,"
	 " d.grid_z AS Grid_Size_Z FROM c_dispatch AS d CROSS JOIN c_kernel AS k"
	 " ON k.process = d.process AND k.uid = d.uid AND k.name_id = d.name_id ORDER BY d.id"},
	{"counter_collection",
	 "SELECT d.correlation AS Correlation_Id, d.id AS Dispatch_Id, 'Agent ' || d.gpu AS"
	 " Agent_Id, d.queue AS Queue_Id, p.pid AS Process_Id, d.tid AS Thread_Id,"
	 " d.grid_x * d.grid_y * d.grid_z AS Grid_Size, d.name_id AS Kernel_Id, d.name AS"
	 " Kernel_Name, d.workgroup_x * d.workgroup_y * d.workgroup_z AS Workgroup_Size,"
	 " d.lds_bytes AS LDS_Block_Size, d.scratch_bytes AS Scratch_Size, k.vgprs AS VGPR_Count,"
	 " k.agprs AS Accum_VGPR_Count, k.sgprs AS SGPR_Count, n.string AS Counter_Name, c.value AS"
	 " Counter_Value, d.begin_ns AS Start_Timestamp, d.end_ns AS End_Timestamp"
	 " FROM i.rocpd_counter AS c CROSS JOIN c_dispatch AS d ON d.id = c.op_id"
	 " CROSS JOIN c_kernel AS k ON k.process = d.process AND k.uid = d.uid AND"
	 " k.name_id = d.name_id JOIN c_process AS p ON p.process = d.process"
	 " JOIN i.rocpd_string AS n ON n.id = c.name_id ORDER BY c.id"},
	/* rtl's own: rocprofv3 has no such table. */
	{"counter_intervals",
	 "SELECT 'Agent ' || c.gpu AS Agent_Id, c.pid AS Process_Id, c.name AS Counter_Name, "
	 "c.value"
	 " AS Counter_Value, c.begin_ns AS Start_Timestamp, c.end_ns AS End_Timestamp FROM"
	 " c_interval AS c ORDER BY c.end_ns, c.id"},
#define CALLS(domain, condition)                                                                   \
	"SELECT '" domain "' AS Domain, name AS Function, pid AS Process_Id, tid AS Thread_Id,"    \
	" correlation AS Correlation_Id, begin_ns AS Start_Timestamp, end_ns AS End_Timestamp"     \
	" FROM c_call WHERE " condition " ORDER BY id"
	{"hip_api_trace", CALLS("HIP_RUNTIME_API_EXT", "is_hip")},
	{"hsa_api_trace", CALLS("HSA_CORE_API", "NOT is_hip")},
	{"marker_api_trace",
	 "SELECT CASE WHEN is_range THEN 'MARKER_CORE_RANGE_API' ELSE 'MARKER_CORE_API' END AS"
	 " Domain, name AS Function, pid AS Process_Id, tid AS Thread_Id, instance AS"
	 " Correlation_Id, begin_ns AS Start_Timestamp, end_ns AS End_Timestamp FROM c_marker"
	 " ORDER BY id"},
	/* What fills memory is no copy to rocprofv3. */
	{"memory_copy_trace",
	 "SELECT 'MEMORY_COPY' AS Kind, CASE WHEN direction THEN name ELSE"
	 " 'MEMORY_COPY_DEVICE_TO_DEVICE' END AS Direction, (SELECT s.number FROM c_stream AS s"
	 " WHERE s.process = c_copy.process AND s.stream = c_copy.stream) AS Stream_Id,"
	 " 'Agent ' || src_gpu AS Source_Agent_Id, 'Agent ' || dst_gpu AS Destination_Agent_Id,"
	 " correlation AS Correlation_Id, begin_ns AS Start_Timestamp, end_ns AS End_Timestamp"
	 " FROM c_copy WHERE kind <> 4 ORDER BY id"},
	{"memory_allocation_trace",
	 "SELECT 'MEMORY_ALLOCATION' AS Kind, CASE WHEN is_release THEN 'MEMORY_ALLOCATION_FREE'"
	 " ELSE 'MEMORY_ALLOCATION_ALLOCATE' END AS Operation, 'Agent ' || node AS Agent_Id,"
	 " bytes AS Allocation_Size, printf('0x%x', address) AS Address, correlation AS"
	 " Correlation_Id, begin_ns AS Start_Timestamp, end_ns AS End_Timestamp FROM c_mem"
	 " ORDER BY id"},
	/* rtl's own: what has a begin and an end in streams of programs. */
	{"region_trace",
	 "SELECT c.stream AS Stream, c.shown AS Name, p.pid AS Process_Id, c.tid AS Thread_Id,"
	 " c.instance AS Instance, c.correlation AS Correlation_Id, c.begin_ns AS Start_Timestamp,"
	 " c.end_ns AS End_Timestamp FROM c_span AS c CROSS JOIN c_process AS p"
	 " ON p.process = c.process ORDER BY c.id"},
};

/* Of a table of events by their description: what its file's name begins with. */
#define OWN_PREFIX "rtl_e_"

/* What rtl itself publishes there is described by it, too, but stands in the tables above. */
#define OWN_TYPES                                                                                  \
	"SELECT t.stream, t.type, ifnull(t.name, 'event'), " CONVERT_VIEW " FROM i.rtl_type AS t"  \
	" JOIN i.rtl_stream AS s USING (stream) WHERE t.table_name GLOB 'rtl_s_*' AND"             \
	" t.table_name NOT GLOB '*[^A-Za-z0-9_]*' AND (s.name NOT GLOB 'rtl.*' OR"                 \
	" s.name = 'rtl.default') GROUP BY t.table_name ORDER BY t.stream, t.type"

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
		else if (sqlite3_column_type(row, i) == SQLITE_FLOAT)
			fprintf(out, "%.6f", sqlite3_column_double(row, i));
		else
			write_text(out, sqlite3_column_text(row, i)
						? (const char *)sqlite3_column_text(row, i)
						: "");
	}
	putc('\n', out);
}

/* The rows from the first one on, at which the statement stands. */
static int write_rows(struct convert_rows *rows, const struct part *part, sqlite3_stmt *row)
{
	FILE *out = fopen(part->path, "we");
	uint64_t count = 0;
	int result = SQLITE_ROW, status = CLI_OK;

	if (!out)
		return part_failed(part, errno);
	write_row(out, row, true);
	for (; result == SQLITE_ROW && !ferror(out); result = sqlite3_step(row)) {
		write_row(out, row, false);
		if (++count % TELL_EVERY == 0)
			convert_rows_tell(rows, TELL_EVERY);
	}
	if (ferror(out) | fclose(out))
		status = part_failed(part, errno ? errno : ENOSPC);
	else if (result != SQLITE_DONE)
		status = convert_rows_refuse(rows);
	return status;
}

/* A table with no rows has no file, as with rocprofv3. */
static int write_table(struct convert_rows *rows, const char *folder, const struct table *table,
		       unsigned *files)
{
	sqlite3_stmt *row = NULL;
	struct part part;
	char *path = NULL;
	int result, status = CLI_OK;

	if (sqlite3_prepare_v2(rows->db, table->sql, -1, &row, NULL) != SQLITE_OK)
		return convert_rows_missing(rows) ? CLI_OK : convert_rows_refuse(rows);
	result = sqlite3_step(row);
	/* what is there stays where there is nothing to put into its place */
	if (result == SQLITE_ROW && !*files)
		status = convert_prepare_csv(folder);
	if (status)
		goto out;
	if (result == SQLITE_ROW && asprintf(&path, "%s/%s.csv", folder, table->name) < 0) {
		path = NULL;
		status = cli_failed("out of memory");
	} else if (result == SQLITE_ROW) {
		++*files;
		status = part_begin(&part, path);
		if (!status)
			status = part_end(&part, write_rows(rows, &part, row));
	} else if (result != SQLITE_DONE) {
		status = convert_rows_refuse(rows);
	}
out:
	sqlite3_finalize(row);
	free(path);
	return status;
}

/* ---- streams of programs ---- */

static const char *text_at(sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return text ? text : "";
}

/* Expressions of a type's rows. */
struct own {
	sqlite3_str *columns, *name;
	bool has_begin, has_end, has_gpu;
};

static void add_field(struct own *own, const char *name, const char *column, const char *kind)
{
	const bool is_time = !strcmp(kind, "time");

	own->has_begin |= is_time && !strcmp(column, "begin_ns");
	own->has_end |= is_time && !strcmp(column, "end_ns");
	own->has_gpu |= !strcmp(column, "gpu");
	if (!strcmp(kind, "string") || !strcmp(kind, "text"))
		sqlite3_str_appendf(own->name, "nullif(x.\"%w\", ''), ", column);
	sqlite3_str_appendf(own->columns,
			    ", CASE typeof(x.\"%w\") WHEN 'blob' THEN hex(x.\"%w\") ELSE x.\"%w\""
			    " END AS \"%w\"",
			    column, column, column, name);
}

/* The query for the selected rows of a type, at which the statement of OWN_TYPES stands; to be freed. */
static char *own_sql(const struct convert_rows *rows, const struct own *own, sqlite3_stmt *type)
{
	const char *columns = sqlite3_str_value(own->columns), *name = sqlite3_str_value(own->name);
	char *shown = sqlite3_mprintf("coalesce(nullif(t.name, ''), %s%Q)", name ? name : "",
				      text_at(type, 2));
	char *where =
		shown ? convert_rows_condition(
				rows, own->has_gpu ? "x.gpu" : NULL, shown,
				own->has_begin ? "ifnull(x.begin_ns, x.time_ns)" : "x.time_ns",
				own->has_end ? "ifnull(x.end_ns, x.time_ns)" : "x.time_ns")
		      : NULL;
	char *sql = where ? sqlite3_mprintf(
				    "SELECT p.pid AS Process_Id, x.tid AS Thread_Id, x.time_ns AS"
				    " Timestamp, %s AS Name, ifnull(x.instance, 0) AS Instance,"
				    " ifnull(x.correlation, 0) AS Correlation_Id%s FROM"
				    " i.\"%w\" AS x JOIN c_process AS p ON p.process = x.process"
				    " LEFT JOIN i.rtl_tracepoint AS t ON t.process = x.process AND"
				    " t.uid = x.uid WHERE %s ORDER BY x.id",
				    shown, columns ? columns : "", text_at(type, 3), where)
			  : NULL;

	sqlite3_free(where);
	sqlite3_free(shown);
	return sql;
}

static int write_own_table(struct convert_rows *rows, const char *folder, sqlite3_stmt *type,
			   unsigned *files)
{
	struct own own = {sqlite3_str_new(rows->db), sqlite3_str_new(rows->db), false, false,
			  false};
	struct table table = {.name = text_at(type, 3)};
	sqlite3_stmt *field = NULL;
	int status = CLI_OK;
	char *sql = NULL;

	if (sqlite3_prepare_v2(rows->db,
			       "SELECT name, " CONVERT_COLUMN
			       ", kind FROM i.rtl_field WHERE stream = ?1"
			       " AND type = ?2 AND column_name IS NOT NULL ORDER BY position",
			       -1, &field, NULL) == SQLITE_OK) {
		sqlite3_bind_int64(field, 1, sqlite3_column_int64(type, 0));
		sqlite3_bind_int64(field, 2, sqlite3_column_int64(type, 1));
		while (sqlite3_step(field) == SQLITE_ROW)
			add_field(&own, text_at(field, 0), text_at(field, 1), text_at(field, 2));
		sql = own_sql(rows, &own, type);
		if (!sql)
			status = cli_failed("out of memory");
	} else {
		status = convert_rows_refuse(rows);
	}
	sqlite3_finalize(field);
	table.sql = sql;
	if (!status)
		status = write_table(rows, folder, &table, files);
	sqlite3_free(sql);
	sqlite3_free(sqlite3_str_finish(own.columns));
	sqlite3_free(sqlite3_str_finish(own.name));
	return status;
}

static int write_own_tables(struct convert_rows *rows, const char *folder, unsigned *files)
{
	sqlite3_stmt *type = NULL;
	int status = CLI_OK;

	if (sqlite3_prepare_v2(rows->db, OWN_TYPES, -1, &type, NULL) != SQLITE_OK)
		return convert_rows_missing(rows) ? CLI_OK : convert_rows_refuse(rows);
	while (!status && sqlite3_step(type) == SQLITE_ROW)
		status = write_own_table(rows, folder, type, files);
	sqlite3_finalize(type);
	return status;
}

bool convert_csv_is_empty(const char *input)
{
	const struct convert_selection all = {.unfinished = true};
	struct convert_rows rows;
	/* a table is made with its first event */
	const bool empty = !convert_rows_open(&rows, input, &all) && convert_rows_are_none(&rows) &&
			   !convert_rows_number(&rows, "SELECT count(*) FROM (" OWN_TYPES ")");

	convert_rows_close(&rows);
	return empty;
}

/* ---- the folder ---- */

static bool ends_as_ours(const char *end)
{
	return strcmp(end, ".csv") == 0 || strcmp(end, ".csv.part") == 0;
}

/* A table, or a part of one that a killed conversion has left. */
static bool is_ours(const char *name)
{
	if (!strncmp(name, OWN_PREFIX, sizeof(OWN_PREFIX) - 1) && strchr(name, '.'))
		return ends_as_ours(strchr(name, '.'));
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		const size_t n = strlen(tables[i].name);

		if (strncmp(name, tables[i].name, n) == 0 && ends_as_ours(name + n))
			return true;
	}
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

static void remove_ours(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (is_ours(entry->d_name))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

int convert_check_csv(const char *folder)
{
	if (part_check_place(folder))
		return CLI_FAILED;
	if (access(folder, F_OK) || holds_ours_alone(folder))
		return CLI_OK; /* if it cannot be made, who makes it says so */
	return cli_failed("output %s exists and holds something else, so it is not written to; "
			  "choose another folder with -o",
			  folder);
}

/* Files of an earlier conversion are replaced; nothing else may be there. */
int convert_prepare_csv(const char *folder)
{
	if (convert_check_csv(folder))
		return CLI_FAILED;
	if (mkdir(folder, 0777) == 0)
		return CLI_OK;
	if (errno != EEXIST)
		return cli_failed("output %s: %s; choose another folder with -o", folder,
				  strerror(errno));
	remove_ours(folder);
	return CLI_OK;
}

/* Tables that are whole, but not all of them, would mislead. */
void convert_drop_csv(const char *folder)
{
	remove_ours(folder);
	rmdir(folder);
}

static int refuse_empty(const char *output, const char *input,
			const struct convert_selection *selection)
{
	if (convert_selects(selection))
		return convert_refuse_empty(selection);
	return cli_failed("%s is not made: %s has no rows for tables", output, input);
}

int convert_csv(const char *output, const char *input, const struct convert_selection *selection)
{
	struct convert_rows rows;
	int status = convert_rows_open(&rows, input, selection);
	unsigned files = 0;

	if (!status)
		status = convert_rows_objects(&rows);
	if (!status)
		status = convert_check_csv(output);
	for (size_t i = 0; !status && i < sizeof(tables) / sizeof(*tables); i++)
		status = write_table(&rows, output, &tables[i], &files);
	if (!status)
		status = write_own_tables(&rows, output, &files);
	if (status && files)
		convert_drop_csv(output);
	if (!status && !files)
		status = refuse_empty(output, input, selection);
	convert_rows_close(&rows);
	return status;
}
