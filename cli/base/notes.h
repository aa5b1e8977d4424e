/* SPDX-License-Identifier: MIT */
/* What `rtl trace` leaves in its collector's folder, so that `rtl recover` can complete the output
 * if rtl dies: a file of `KEY VALUE`, each with a zero behind it. It goes with the folder. One thread. */
#pragma once

#include <sys/types.h>

struct notes {
	char *session;     /* RTL_SESSION */
	char *mode;        /* RTL_MODE; NULL: none was given */
	char *subscribers; /* the list, with absolute names and outputs */
	char *database;    /* the SQLite subscriber's output; NULL: it has none, or chose itself */
	char *command;
	char *recording; /* `rtl record`: the folder that it writes; NULL otherwise */
	uid_t owner;     /* of the file, once read: who says all this */
};

/** Writes them. 0, or errno. */
int notes_write(const char *folder, const struct notes *notes);
/** Reads them; without a file all are NULL, and the owner is the caller. 0, or errno; a link is
 *  none, nor what is no regular file (EINVAL). */
int notes_read(const char *folder, struct notes *notes);
void notes_fini(struct notes *notes);
