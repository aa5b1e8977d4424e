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
#include "convert_rows.h"
#include "part.h"

#define TELL_EVERY 4096u

/* Numbers from 1 for what has none, in the order in which it comes. */
static const struct table {
	const char *name, *sql;
} tables[] = {
	{"kernel_trace",
	 "SELECT 'KERNEL_DISPATCH' AS Kind, 'Agent ' || d.gpu AS Agent_Id, d.queue AS Queue_Id,"
	 " d.stream AS Stream_Id, d.tid AS Thread_Id, d.id AS Dispatch_Id, d.name_id AS Kernel_Id,"
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
	 " 'MEMORY_COPY_DEVICE_TO_DEVICE' END AS Direction, stream AS Stream_Id,"
	 " 'Agent ' || src_gpu AS Source_Agent_Id, 'Agent ' || dst_gpu AS Destination_Agent_Id,"
	 " correlation AS Correlation_Id, begin_ns AS Start_Timestamp, end_ns AS End_Timestamp"
	 " FROM c_copy WHERE kind <> 4 ORDER BY id"},
	{"memory_allocation_trace",
	 "SELECT 'MEMORY_ALLOCATION' AS Kind, CASE WHEN is_release THEN 'MEMORY_ALLOCATION_FREE'"
	 " ELSE 'MEMORY_ALLOCATION_ALLOCATE' END AS Operation, 'Agent ' || node AS Agent_Id,"
	 " bytes AS Allocation_Size, printf('0x%x', address) AS Address, correlation AS"
	 " Correlation_Id, begin_ns AS Start_Timestamp, end_ns AS End_Timestamp FROM c_mem"
	 " ORDER BY id"},
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
static int write_table(struct convert_rows *rows, const char *folder, const struct table *table)
{
	sqlite3_stmt *row = NULL;
	struct part part;
	char *path = NULL;
	int result, status = CLI_OK;

	if (sqlite3_prepare_v2(rows->db, table->sql, -1, &row, NULL) != SQLITE_OK)
		return convert_rows_missing(rows) ? CLI_OK : convert_rows_refuse(rows);
	result = sqlite3_step(row);
	if (result == SQLITE_ROW && asprintf(&path, "%s/%s.csv", folder, table->name) < 0) {
		path = NULL;
		status = cli_failed("out of memory");
	} else if (result == SQLITE_ROW) {
		status = part_begin(&part, path);
		if (!status)
			status = part_end(&part, write_rows(rows, &part, row));
	} else if (result != SQLITE_DONE) {
		status = convert_rows_refuse(rows);
	}
	sqlite3_finalize(row);
	free(path);
	return status;
}

/* A table, or a part of one that a killed conversion has left. */
static bool is_ours(const char *name)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		const size_t n = strlen(tables[i].name);

		if (strncmp(name, tables[i].name, n) == 0 &&
		    (strcmp(name + n, ".csv") == 0 || strcmp(name + n, ".csv.part") == 0))
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
	char *path;

	for (size_t i = 0; i < 2 * sizeof(tables) / sizeof(*tables); i++)
		if (asprintf(&path, "%s/%s.csv%s", folder, tables[i / 2].name,
			     i % 2 ? ".part" : "") >= 0) {
			unlink(path);
			free(path);
		}
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

int convert_csv(const char *output, const char *input, const struct convert_selection *selection)
{
	struct convert_rows rows;
	int status = convert_rows_open(&rows, input, selection);

	if (!status)
		status = convert_rows_objects(&rows);
	if (!status && !(status = convert_prepare_csv(output))) {
		for (size_t i = 0; !status && i < sizeof(tables) / sizeof(*tables); i++)
			status = write_table(&rows, output, &tables[i]);
		if (status)
			convert_drop_csv(output);
	}
	convert_rows_close(&rows);
	return status;
}
