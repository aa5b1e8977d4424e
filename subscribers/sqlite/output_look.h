/* SPDX-License-Identifier: MIT */
/*
 * output_look.h: what is at the path of an output: whether it may be replaced, or continued. What a
 * dead writer left half done is undone by looking (SQLite's recovery), nothing else is changed.
 */
#ifndef RTL_SQLITE_OUTPUT_LOOK_H
#define RTL_SQLITE_OUTPUT_LOOK_H

#include <stdbool.h>
#include <stddef.h>

#include "compat.h"

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

struct refusal {
	int result;
	const char *why;
	char which[COMPAT_NAME_SIZE]; /* why ends with it */
};

/* Why a host that recovers may not go on with that file; `why` NULL: it may. *empty: nothing is in
 * it yet. */
struct refusal output_may_continue(const char *path, bool *empty);

#endif
