/* SPDX-License-Identifier: MIT */
/*
 * From traces in SQLite to files that people open. For timelines rows are read in the order of their
 * ends, of several databases at once; other formats are written kind by kind (convert_rows.h). Rows
 * go on as they come, so memory does not depend on how many there are. One thread.
 */
#ifndef RTL_CLI_CONVERT_H
#define RTL_CLI_CONVERT_H

#include <sqlite3.h>

#include "pairing.h"
#include "part.h"
#include "work.h"

/** For lines: what a format can be called, and the suffixes. */
#define CONVERT_FORMATS  "perfetto, rocprofv3, hta, rocpd7, rpd"
#define CONVERT_SUFFIXES ".csv, " TIMELINE_SUFFIXES ", .db, .rpd"

/** In SQL, of a row of rtl_type t and of rtl_field: the view of its events, and the column there. */
#define CONVERT_VIEW "'rtl_e_' || substr(t.table_name, 7)"
#define CONVERT_COLUMN                                                                             \
	"CASE kind WHEN 'time' THEN substr(column_name, 1, length(column_name) - 4)"               \
	" ELSE column_name END"

enum convert_format {
	CONVERT_PERFETTO,
	CONVERT_ROCPROFV3,
	CONVERT_HTA,
	CONVERT_ROCPD7,
	CONVERT_RPD
};

/** What is shown; all zeros is all. */
struct convert_selection {
	uint64_t from_ns, to_ns; /**< since the first process's start; 0: no limit */
	const char *process;     /**< its pid, or a pattern for its program's name */
	const char *name;        /**< a pattern for the names of what is shown */
	const char *gpu;         /**< KFD node */
	bool unfinished;         /**< what there is so far of a trace that is being written */
};

/** What is to be made, of what. */
struct convert_job {
	const char *output;
	enum convert_format format;
	size_t suffix; /* which one, to convert_format.c */
	bool has_rank; /* for formats that tell it; else it is the process's, or 0 */
	uint32_t rank;
	struct convert_selection selection;
	char *const *inputs;
	size_t count;
};

/** Sets the format, by its name (NULL: by the suffix of the output). An exit status; it has said
 *  why. */
int convert_choose(struct convert_job *job, const char *format);
/** Makes it. An exit status; it has said why. */
int convert_run(const struct convert_job *job);

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
	const struct convert_job *job;
	struct convert_selection selection;
	const struct part *part;
	const struct convert_input *only_input; /* NULL: all processes; else one of it */
	int64_t only_process;
	uint64_t first_ns; /* when the first process started */
	uint64_t selected; /* rows */
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

/* Each makes an output of traces. CLI_OK, or CLI_FAILED after a line. */

/** A timeline, of all inputs. */
int convert_timeline(const struct part *part, enum timeline_format format,
		     const struct convert_job *job, uint64_t *slices);
/** rocprofv3's JSON. */
int convert_rocprofv3(const struct part *part, bool compressed, const char *input,
		      const struct convert_selection *selection);
/** The rocpd schema of ROCm 7. */
int convert_rocpd7(const struct part *part, const char *input,
		   const struct convert_selection *selection);
/** RPD's schema as tables. */
int convert_rpd(const char *output, const char *input, bool unfinished);
/** Whether one may be made there: there is nothing, or a trace. CLI_OK, or CLI_FAILED after a line. */
int convert_check_rpd(const char *output);
/** Whether one for ROCm 7 may be made there: there is nothing, or one that rtl made. */
bool convert_rocpd7_replaceable(const char *path);
/** A folder of that name with tables as rocprofv3's, and one for each type of programs' own events. One
 *  without rows is not made, nor a folder without tables, which is refused. */
int convert_csv(const char *output, const char *input, const struct convert_selection *selection);
/** Whether there would be no table. */
bool convert_csv_is_empty(const char *input);
/** Whether there is nothing, or what convert_csv has left. CLI_OK, or CLI_FAILED after a line. */
int convert_check_csv(const char *output);
/** Sees to it that such a folder can be made there; what convert_csv left there before goes. */
int convert_prepare_csv(const char *output);
/** Removes what convert_csv may have left there, and the folder if nothing else is in it. */
void convert_drop_csv(const char *output);

/* Between the parts. */

/** Adds rows, none if the table is not there. CLI_OK, or CLI_FAILED after a line. */
int convert_add(struct convert *convert, struct convert_input *input, convert_take take, void *what,
		const char *sql);
/** The name for a string of rocpd_string. */
struct timeline_name *convert_string(struct convert *convert, struct convert_input *input,
				     int64_t id);
/** Whether a process is selected; program: its path, or NULL. */
bool convert_wants_process(const struct convert_selection *selection, int64_t pid,
			   const char *program);
/** Whether a row of that name is selected, which is counted; to be asked last. */
bool convert_wants(struct convert *convert, const char *name);
/** Says that no row is selected; CLI_FAILED. */
int convert_refuse_empty(const struct convert_selection *selection);
/** Whether something is left out. */
bool convert_selects(const struct convert_selection *selection);
/** Whether a trace has that GPU; db: one to which it is attached will do. */
bool convert_has_gpu(sqlite3 *db, const char *gpu);
/** Says that there is none of that number; CLI_FAILED. */
int convert_refuse_gpu(const char *gpu);
/** Says that a database cannot be read; CLI_FAILED. */
int convert_refuse(struct convert_input *input);
/** Says that a database is not rtl's; CLI_FAILED. */
int convert_refuse_foreign(const char *path);
static inline uint64_t convert_uint(const struct convert_source *source, int column)
{
	return (uint64_t)sqlite3_column_int64(source->rows, column);
}

/* convert_process.c: whose rows they are. */

/** Finds the one process that a file of --format hta is of. CLI_OK, or CLI_FAILED after a line. */
int convert_find_only_process(struct convert *convert);
/** Tells of the processes of a trace. CLI_OK, or CLI_FAILED after a line. */
int convert_add_processes(struct convert *convert, struct convert_input *input);
/** Tells what GPUs are called. */
void convert_name_gpus(struct convert *convert, struct convert_input *input);
/** A process by its number in the trace; NULL: it is not selected. */
struct work_process *convert_find_process(const struct convert_input *input, uint64_t number);
bool convert_wants_gpu(const struct convert *convert, uint32_t gpu);
/** The ledgers of all inputs, for the end of the timeline. */
void convert_add_ledgers(struct convert *convert);

/* convert_generic.c: streams that have tables by their description. */
int convert_generic(struct convert *convert, struct convert_input *input);
/** What has begun and not ended. */
void convert_generic_end(struct convert *convert);
void convert_generic_fini(struct convert *convert);

#endif
