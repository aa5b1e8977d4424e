/* SPDX-License-Identifier: MIT */
/* What `rtl trace` and `rtl env` have in common: from mode, subscribers and output to the environment of a program to
 * trace. All that can be wrong is found here, before a program starts. One thread. */
#pragma once

#include "child.h"
#include "outputs.h"

struct rtl_plugin;

struct session {
	/* As the user gave them; NULL: not given. */
	const char *mode;
	const char *source;
	/** The command's, if neither mode nor RTL_MODE names one. It may fall back, but for a shell's,
	 * where other commands get other modes. NULL: none. */
	const char *default_mode;
	bool for_shell;
	const char *subscribers; /* colon-separated */
	struct outputs outputs;
	bool takes_operations; /* the result: a subscriber wants dispatches and copies, for all that is known */
	bool prints_statistics; /* the result: a subscriber prints them, losses too */
	bool summarizes; /* where nothing writes a database, statistics are printed at the end */
	/* Name of the database if neither output nor a subscriber's setting gives one, and, with another
	 * suffix, that of the timeline. NULL: the subscriber's own. */
	const char *default_output;
	bool has_default_database, has_default_timeline; /* one subscriber has that name */

	/* Of hardware counters, as RTL_COUNTERS and its like. */
	const char *counters, *counters_passes, *counters_kernels, *counters_sample;

	bool xpti; /* the command's SYCL runtime finds rtl as its framework */

	bool output_to_stderr; /* of the command: its standard output */

	/* The result. */
	char *no_rocm;  /* why there are no interceptors for ROCm; NULL: there are */
	char *list;     /* of subscribers, as RTL_SUBSCRIBERS */
	char *database; /* absolute path of what the SQLite subscriber writes; NULL: none, or not
			 * known */
	/* If its name has the number or name of a process in it: a pattern for session_find_file. */
	char *database_glob;
	/* The same of timelines. */
	char **timelines;
	size_t timeline_count;
	struct session_variable *variables;
	size_t variable_count;
	/* Subscribers that were loaded to look at them; they stay, so that a collector in this
	 * process need not load them again. */
	struct rtl_plugin **plugins;
	size_t plugin_count;
};

void session_fini(struct session *session);

/** Sets a variable. */
void session_set(struct session *session, const char *name, const char *value);

/** The variables that make the runtime load rtl's interceptors. Where these are not installed that is no failure
 * (`no_rocm` tells), unless a mode was asked for: programs can have streams of their own. An exit status; it has said
 * why. */
int session_prepare_runtime(struct session *session);
/** The same, and the variables that make SYCL's runtimes find rtl's framework of XPTI: where it was asked for, or by
 * mode full, which goes without it where it is not installed. And RTL_SESSION; id NULL: none. An exit status; it has
 * said why. */
int session_prepare_programs(struct session *session, const char *id);
/** The mode that was given, else that of RTL_MODE, else the default; NULL: none of them. */
const char *session_mode(const struct session *session);
/** RTL_SOURCE, or NULL: none is named; and what the sources of work need of the program's environment.
 * An exit status; it has said why. */
int session_prepare_source(struct session *session);
const char *session_source(const struct session *session);
/** RTL_MODE, if a mode was given, or the default. And the source. */
int session_prepare_mode(struct session *session);
/** The variables that have hardware counters collected; after session_prepare_mode. */
int session_prepare_counters(struct session *session);
/** The list of subscribers, after having loaded each of them once. */
int session_prepare_subscribers(struct session *session);
/** The first of the files that match a pattern for glob(3), or NULL, for which `is_it` says so; NULL: none. To
 * be freed. */
char *session_find_file(const char *pattern, bool (*is_it)(const char *path, void *user),
			void *user);
/** A path that holds wherever the program goes; to be freed; NULL with errno. */
char *session_absolute_path(const char *path);

/** Options for counters, which fill a session at that offset of what a command reads into. */
#define SESSION_COUNTER_OPTIONS(at)                                                                \
	CLI_VALUE(0, "counters", "LIST", (at) + offsetof(struct session, counters),                \
		  "count these for each dispatch: names separated by commas\n"                     \
		  "(`rtl list counters`). Each GPU then runs one dispatch at a\n"                  \
		  "time. Not verified on hardware"),                                               \
		CLI_VALUE(0, "counters-passes", "HOW",                                             \
			  (at) + offsetof(struct session, counters_passes),                        \
			  "when a GPU cannot count all at once: rotate from dispatch to\n"         \
			  "dispatch of a kernel (default), or fail"),                              \
		CLI_VALUE(0, "counters-kernels", "REGEX",                                          \
			  (at) + offsetof(struct session, counters_kernels),                       \
			  "count only kernels whose readable name matches"),                       \
		CLI_VALUE(0, "counters-sample", "MS",                                              \
			  (at) + offsetof(struct session, counters_sample),                        \
			  "count each GPU as a whole, in intervals of MS milliseconds\n"           \
			  "(1 to 60000); dispatches are not serialised")

/** The option for the source of work, likewise. */
#define SESSION_SOURCE_OPTION(at)                                                                  \
	CLI_VALUE(0, "source", "SOURCE", (at) + offsetof(struct session, source),                  \
		  "how rtl observes the GPU: queue (intercepts queues;\n"                          \
		  "default), runtime (takes HIP's own activity records), auto\n"                   \
		  "(runtime where that is safe: so far never)")

/** Names of the modes, for help. */
#define SESSION_MODES "lite, standard, hip (default), full"
