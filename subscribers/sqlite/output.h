/* SPDX-License-Identifier: MIT */
/*
 * output.h: which file is written: its name from a pattern, and what happens to a file that is
 * there already. Nothing but a trace is ever replaced, and no trace that still grows or that
 * belongs to the same session; a host that recovers continues what is there.
 *
 * Several processes may choose at the same moment: from output_choose to output_release the
 * folder is locked (flock) against other outputs.
 */
#ifndef RTL_SQLITE_OUTPUT_H
#define RTL_SQLITE_OUTPUT_H

#include <rtl/subscriber.h>

#include <stdbool.h>

#include "output_name.h"

/* Version of the tables named rtl_, in rtl_meta: raised when a column changes its meaning, comes
 * or goes. */
#define SCHEMA_RTL_VERSION "2"

struct output {
	char *path;  /* the file, empty and ours after output_choose */
	int lock_fd; /* the folder; -1: not locked */
};

/* Chooses and creates the file. What is wrong or unusual is reported to the host.
 * 0; RTL_EINVAL: the pattern; RTL_EIO; RTL_ENOMEM */
int output_choose(struct output *output, const struct rtl_host *host, const char *pattern,
		  const struct output_names *names);
/* Finds the file that another host has left, to be continued. *empty: nothing is in it yet. What is
 * wrong is reported. 0; RTL_EINVAL: the pattern; RTL_ENOENT; RTL_EFORMAT: not one of ours, or of an
 * older version; RTL_EBUSY: somebody writes it; RTL_ENOMEM */
int output_continue(struct output *output, const struct rtl_host *host, const char *pattern,
		    const struct output_names *names, bool *empty);
/* Whether what SQLite has beside it is not somebody else's: before and after SQLite has made that.
 * 0, or RTL_EIO after it was reported. */
int output_check(const struct output *output, const struct rtl_host *host);
void output_release(struct output *output);
/* Forgets the file; with `remove`, deletes it: nothing came of it. */
void output_fini(struct output *output, bool remove);

/* ---- output_look.c: what is at the path of an output: whether it may be replaced, or continued. What a
 * dead writer left half done is undone by looking (SQLite's recovery), nothing else is changed. */

/* Key in rtl_meta: who writes, as output_writer says; gone when the output is complete. */
#define OUTPUT_WRITER_KEY  "writer"
#define OUTPUT_SESSION_KEY "session"

enum found {
	FOUND_NOTHING,
	FOUND_OLD,     /* a trace that may be replaced */
	FOUND_SESSION, /* a trace of this session */
	FOUND_LIVE,    /* a trace that somebody is writing */
	FOUND_FOREIGN, /* something else: hands off */
};

/* `session`: of this host, or NULL. */
enum found output_look(const char *path, const char *session);

/* Whether a host that recovers may go on with that file: 0, or an enum rtl_error, said. *empty: nothing is in
 * it yet. */
int output_may_continue(const struct rtl_host *host, const char *path, bool *empty);

#endif
