/* SPDX-License-Identifier: MIT */
/* output.h: which file is written, and what happens to one that is there already: see output_place.h. A host that
 * recovers continues what is there. */
#pragma once

#include "output_place.h"

/* Version of the tables named rtl_, in rtl_meta: raised when a column changes its meaning, comes or goes. */
#define SCHEMA_RTL_VERSION "2"

/* Key in rtl_meta: who writes, as output_writer says; gone when the output is complete. */
#define OUTPUT_WRITER_KEY  "writer"
#define OUTPUT_SESSION_KEY "session"

/* Chooses the file and makes it, empty. 0 or an enum rtl_error, said. */
int output_choose(struct output_file *file, const char *pattern, const struct output_names *names);
/* Finds the file that another host has left, to be continued. *empty: nothing is in it yet. 0 or an error,
 * said: RTL_EINVAL: the pattern; RTL_ENOENT; RTL_EFORMAT: not one of ours, or of an older version; RTL_EBUSY:
 * somebody writes it; RTL_ENOMEM */
int output_continue(struct output_file *file, const char *pattern, const struct output_names *names,
		    bool *empty);
/* Whether what SQLite has beside it is not somebody else's: before and after SQLite has made that.
 * 0, or RTL_EIO after it was reported. */
int output_check(const struct output_file *file);
