/* SPDX-License-Identifier: MIT */
/* From traces in SQLite to files that people open. For timelines they are replayed; other formats are written kind by
 * kind (convert_rows.h). Events and rows go on as they come, so memory does not depend on how many there are. One
 * thread. */
#pragma once

#include <sqlite3.h>

#include "part.h"
#include "work.h"

/** For lines: what a format can be called, and the suffixes. */
#define CONVERT_FORMATS  "perfetto, rocprofv3, hta, rocpd7, rpd"
#define CONVERT_SUFFIXES ".csv, " TIMELINE_SUFFIXES ", .db, .rpd"

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

/** Sets the format, by its name (NULL: by the suffix of the output). An exit status; it has said why. */
int convert_choose(struct convert_job *job, const char *format);
/** Makes it. An exit status; it has said why. */
int convert_run(const struct convert_job *job);

/* Each makes an output of traces. CLI_OK, or CLI_FAILED after a line. */

/** A timeline, of all inputs. */
int convert_timeline(const struct part *part, enum timeline_format format,
		     const struct convert_job *job, uint64_t *slices);
struct event_sink;
struct summary;
/** Replays traces into a timeline that has been begun, into a summary as the statistics subscriber does, or into
 *  both (NULL: not): then the summary is filled before the timeline ends. An exit status after a line. */
int convert_feed(const struct part *part, char *const *inputs, size_t count,
		 struct event_sink *sink, struct summary *summary);
/** rocprofv3's JSON. */
int convert_rocprofv3(const struct part *part, bool compressed, const char *input,
		      const struct convert_selection *selection);
/** The rocpd schema of ROCm 7. */
int convert_rocpd7(const struct part *part, const char *input,
		   const struct convert_selection *selection);
/** RPD's schema as tables. */
int convert_rpd(const char *output, const char *input, bool unfinished);
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

/** Whether a process is selected; program: its path, or NULL. */
bool convert_wants_process(const struct convert_selection *selection, int64_t pid,
			   const char *program);
/** Says that no row is selected; CLI_FAILED. */
int convert_refuse_empty(const struct convert_selection *selection);
/** The same for what is known of one event: of a trace whose first process started then. */
struct work_selection convert_select(const struct convert_selection *selection, uint64_t first_ns);
/** Whether something is left out. */
bool convert_selects(const struct convert_selection *selection);
/** Whether a trace has that GPU; db: one to which it is attached will do. */
bool convert_has_gpu(sqlite3 *db, const char *gpu);
/** Says that there is none of that number; CLI_FAILED. */
int convert_refuse_gpu(const char *gpu);
/** Says that a database is not rtl's; CLI_FAILED. */
int convert_refuse_foreign(const char *path);
