/* SPDX-License-Identifier: MIT */
/* The files that the user names with -o: by which subscriber each is written, and what stands in their names for other
 * things. One thread. */
#pragma once

#include "timeline.h"

#define OUTPUTS_MOST 16u

/** The suffixes that say what is written, for a line. */
#define OUTPUTS_SUFFIXES ".db, .rpd, .csv, " TIMELINE_SUFFIXES

struct outputs {
	const char *names[OUTPUTS_MOST];
	size_t count;
	size_t taken; /* by subscribers, from the first */
	/* Folders of tables and RPD's files, which are made of a database when that is complete. */
	struct outputs_tables {
		char *folder, *database;
	} tables[OUTPUTS_MOST];
	size_t table_count;
	bool makes_tables; /* whoever asks completes the database himself */
};

/** One more, for an option that may come again. An exit status; it has said why. */
int outputs_add(void *outputs, const char *name);
/** Those who write them, as RTL_SUBSCRIBERS names them without settings; to be freed. A name
 *  without a suffix is a database. NULL: after a line, with the exit status. */
char *outputs_subscribers(const struct outputs *outputs, int *status);
/** A name as the pattern of a subscriber that comes with rtl. What is known by now (%h, %r, %q{NAME}) is put in, %p and
 * %e stay, any other percent sign stands for itself.
 * @param[out] pattern  to be freed
 * @return an exit status; it has said why */
int outputs_pattern(const char *name, char **pattern);

/** Where the database goes for an absolute path: there, or, for what is made of it, beside that.
 * @param[in,out] path  to be freed
 * @return an exit status; it has said why */
int outputs_place(struct outputs *outputs, char **path);
/** The name by which the user knows a database; NULL: its tables, which would be none. */
const char *outputs_shown(const struct outputs *outputs, const char *database);
/** Makes the tables, and removes their databases; says where they are unless `quiet`, or `said` is
 *  their database (NULL: none), of which the caller has told whether it is there. CLI_OK, or
 *  CLI_FAILED after a line: those databases stay, but for such of which there would be no table. */
int outputs_make_tables(const struct outputs *outputs, const char *said, bool quiet);
/** Says which databases outputs_make_tables has left. */
void outputs_say_left(const struct outputs *outputs);
/** Removes databases of which no tables are to be made. */
void outputs_drop_tables(const struct outputs *outputs);
void outputs_fini(struct outputs *outputs);
