/* SPDX-License-Identifier: MIT */
/*
 * What is selected of one trace, for conversions that read it kind by kind: views and small tables
 * of a connection of its own, to which the trace is attached as `i`, read only.
 *
 *   c_process   process, pid, parent_pid, start_ns, end_ns, program, command, host_name
 *   c_dispatch  id (of rocpd_op), process, uid, name_id, name, begin_ns, end_ns, gpu, queue, tid,
 *               grid_x.., workgroup_x.., lds_bytes, scratch_bytes, stream (0: the null stream),
 *               correlation
 *   c_copy      id, process, name, begin_ns, end_ns, tid, bytes, src, dst, src_gpu, dst_gpu, stream,
 *               correlation, kind, direction
 *   c_call      id (of rocpd_api), process, uid, is_hip, name_id, name, begin_ns, end_ns, tid,
 *               instance, correlation, args
 *   c_marker    id (of rocpd_api), process, is_range, started, name, begin_ns, end_ns, tid, instance
 *   c_span      id (of rocpd_api), process, stream, name_id, name, shown, text, begin_ns,
 *               end_ns, tid, instance, correlation
 *   c_counter   id (of rocpd_counter), process, op_id, gpu, name_id, name, value
 *   c_mem       id, process, is_release, begin_ns, end_ns, tid, node, on_gpu, is_virtual, bytes,
 *               address, correlation
 *
 * and, of what is in these, made by convert_rows_objects:
 *
 *   c_kernel    id, process, uid, name_id, name, symbol, code (its hash), object, vgprs, agprs, sgprs,
 *               lds_bytes, scratch_bytes, kernarg_bytes
 *   c_agent     process, id, is_gpu, place (among its kind, from 0), name, product, uuid, bus_id,
 *               compute_units, wavefront_size, clock_mhz, memory_bytes
 *   c_host      process, agent: the agent that stands for the processors
 *   c_stream    process, stream, number (0: the null stream)
 *   c_queue     process, queue
 *   c_pmc       id, process, gpu, name_id, name, derived, unit, block, description: counters
 *
 * A view of a table that the trace does not have is there and cannot be read: convert_rows_missing.
 * One thread.
 */
#pragma once

#include <sqlite3.h>

#include "convert.h"
#include "progress.h"

struct convert_rows {
	sqlite3 *db;
	const char *path;
	const struct convert_selection *selection;
	struct progress progress;
	uint64_t done, all;           /* rows, for the bar */
	struct work_selection chosen; /* the same, in the trace's time */
	int64_t most;                 /* number of a row, once it is known */
};

/** Opens a trace. CLI_OK, or CLI_FAILED after a line. To be closed in either case. */
int convert_rows_open(struct convert_rows *rows, const char *path,
		      const struct convert_selection *selection);
/** Whether nothing is selected of the views. */
bool convert_rows_are_none(struct convert_rows *rows);
/** Says so if a selection selects nothing of the views; CLI_OK, or CLI_FAILED. */
int convert_rows_check(struct convert_rows *rows);
/** The tables of what is in the views. CLI_OK, or CLI_FAILED after a line. */
int convert_rows_objects(struct convert_rows *rows);
void convert_rows_close(struct convert_rows *rows);

/** A function for SQL, whose user data are the rows. */
void convert_rows_function(struct convert_rows *rows, const char *name, int arguments,
			   void (*function)(sqlite3_context *, int, sqlite3_value **));
/** Says that the trace cannot be read; CLI_FAILED. */
int convert_rows_refuse(const struct convert_rows *rows);
/** The same, unless a statement is of a table that the trace does not have: CLI_OK. */
int convert_rows_refuse_sql(const struct convert_rows *rows);
/** Says that the last statement failed: where it was to be written, or what was read; CLI_FAILED. */
int convert_rows_failed(const struct convert_rows *rows, const struct part *part);
/** So many more rows are done; to be told by so many. */
void convert_rows_tell(struct convert_rows *rows, uint64_t count);
#define CONVERT_TELL_EVERY 4096u
/** A number; 0 if there is none. */
int64_t convert_rows_number(struct convert_rows *rows, const char *sql);

/** Who takes the rows of statements; `count`: those before, of the statement. An exit status. */
struct convert_taker {
	int (*take)(void *user, sqlite3_stmt *row, uint64_t count);
	void *user;
};

/**
 * Runs statements, each of which ends with a line; one of a table that is not there is none. Parameters
 * have the values of the columns of their names in `of` (or NULL). One with :from and :to is run for a
 * range of numbers after the other. CLI_OK, or CLI_FAILED after a line.
 */
int convert_rows_script(struct convert_rows *rows, const struct part *part, const char *sql,
			sqlite3_stmt *of, const struct convert_taker *taker);
/** Begins a database `o`; scripts fill it, and "COMMIT;\nDETACH o" ends it. As above. */
int convert_rows_begin(struct convert_rows *rows, const struct part *part, unsigned application);
