/* SPDX-License-Identifier: MIT */
/*
 * From traces in SQLite to files that people open: rows are read in the order of their ends, of
 * several databases at once, and go on as they come, so memory does not depend on how many there
 * are. One thread.
 */
#ifndef RTL_CLI_CONVERT_H
#define RTL_CLI_CONVERT_H

#include <sqlite3.h>

#include "pairing.h"
#include "work.h"

/** What is shown; all zeros is all. */
struct convert_selection {
	uint64_t from_ns, to_ns; /**< since the first process's start; 0: no limit */
	const char *process;     /**< its pid, or a pattern for its program's name */
	const char *name;        /**< a pattern for the names of what is shown */
	const char *gpu;         /**< KFD node */
};

struct convert;
struct convert_source;

/** A database that is read. */
struct convert_input {
	sqlite3 *db;
	const char *path;
	struct map names;       /* id of a string -> struct timeline_name * */
	struct map kernels;     /* hash of uid and name -> struct work_kernel * */
	struct map processes;   /* number -> struct work_process *, or 1: not selected */
	struct map tracepoints; /* hash of process and uid -> struct timeline_name *, or 1: none */
};

typedef void (*convert_take)(struct convert *convert, struct convert_source *source,
			     struct work_process *process);

/** Rows of one kind, in the order of their ends; columns 0 to 2: process, begin, end. */
struct convert_source {
	struct convert_input *input;
	sqlite3_stmt *rows;
	convert_take take;
	void *what; /* of the taker */
	uint64_t end_ns;
};

struct convert {
	struct timeline timeline;
	struct work work;
	struct convert_selection selection;
	uint64_t first_ns; /* when the first process started */
	struct convert_input *inputs;
	size_t input_count;
	struct convert_source *sources;
	size_t source_count;
	struct pairing pairing; /* of convert_generic.c */
	struct convert_type *types;
	struct timeline_ledger *ledgers;
	struct timeline_loss *losses;
	size_t ledger_count, loss_count;
};

/**
 * Converts traces to a timeline; the suffix of the output says which.
 * @return an exit status; it has said why
 */
int convert_traces(const char *output, char *const *inputs, size_t count,
		   const struct convert_selection *selection);
/** One trace as CSV, to a folder of that name, with the names and columns of rocprofv3. */
int convert_csv(const char *output, const char *input);
/** Sees to it that such a folder can be made there; what convert_csv left there before goes. */
int convert_prepare_csv(const char *output);

/* Between the parts. */

/** Adds rows, none if the table is not there. CLI_OK, or CLI_FAILED after a line. */
int convert_add(struct convert *convert, struct convert_input *input, convert_take take, void *what,
		const char *sql);
/** The name for a string of rocpd_string. */
struct timeline_name *convert_string(struct convert *convert, struct convert_input *input,
				     int64_t id);
/** Whether a name is selected. */
bool convert_wants(const struct convert *convert, const char *name);
/** Says that a database cannot be read; CLI_FAILED. */
int convert_refuse(struct convert_input *input);
static inline uint64_t convert_uint(const struct convert_source *source, int column)
{
	return (uint64_t)sqlite3_column_int64(source->rows, column);
}

/* convert_generic.c: streams that have tables by their description. */
int convert_generic(struct convert *convert, struct convert_input *input);
/** What has begun and not ended. */
void convert_generic_end(struct convert *convert);
void convert_generic_fini(struct convert *convert);

#endif
