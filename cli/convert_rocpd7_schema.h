/* SPDX-License-Identifier: MIT */
/*
 * convert_rocpd7_schema.h: the rocpd schema of ROCm 7, version 3.0.0: its tables, of which each
 * process has a set, and its views of them. Names of tables and columns are facts of the format
 * (rocprofiler-sdk, share/rocprofiler-sdk-rocpd). One thread.
 *
 * In SQL here @name stands for the table rocpd_name of the process that is being written.
 */
#ifndef RTL_CLI_CONVERT_ROCPD7_SCHEMA_H
#define RTL_CLI_CONVERT_ROCPD7_SCHEMA_H

#include <sqlite3.h>

#define ROCPD7_SCHEMA_VERSION "3.0.0"
/** Processes in a file: a view joins so many tables at most. */
#define ROCPD7_PROCESSES_MOST 400u

/** What a process's tables are called by. */
struct rocpd7_id {
	char guid[40];   /**< 8-4-4-4-12 */
	char suffix[48]; /**< of its tables: "_" and that with "_" for "-" */
};

/** SQL with the names of the tables; to be freed with sqlite3_free. NULL: out of memory. */
char *rocpd7_sql(const struct rocpd7_id *id, const char *sql);
/** SQL that makes the tables of a process in the database `o`. To be freed, as above. */
char *rocpd7_tables(const struct rocpd7_id *id);
/** SQL that makes the views of all of them, in `o`. To be freed, as above. */
char *rocpd7_views(const struct rocpd7_id *ids, unsigned count);

#endif
