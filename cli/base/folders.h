/* SPDX-License-Identifier: MIT */
/* The folders in which processes keep their events for a collector: finding them, looking into them. One thread. */
#pragma once

#include <time.h>

#include <rtl/collector.h>

struct folder {
	char *path;
	struct rtl_folder is;
	time_t changed;
	uint64_t bytes; /* on the disk, or in memory */
	int collector;  /* sleepers_find: who is attached; 0: nobody */
};

struct folders {
	struct folder *items;
	size_t count;
	/* Folders whose process died while it made or removed them: nothing is to be had there. */
	char **debris;
	size_t debris_count;
};

/** Finds those of this user, where they are made if nothing else is asked for; newest first. */
void folders_find(struct folders *folders);
/** And those of processes that somebody is attached to. */
void sessions_find(struct folders *folders);
void folders_fini(struct folders *folders);
/** The same for those of processes that can be attached to, which `is` tells of; removes what dead ones have left. */
void sleepers_find(struct folders *folders);
/** Removes the debris; how many folders. */
size_t folders_clean(const struct folders *folders);
/** Removes one if that is what it is; whether it did. */
bool folder_clean(const char *path);
/** One line if killed processes of this user have left events where spools are made, once for each: cheap. */
void folders_mention(void);

/** Looks at one that the user has named. CLI_OK, or an exit status after a line that begins with
 *  the verb: it is not there, or none of rtl's. */
int folder_look(const char *verb, const char *path, struct rtl_folder *is);

/** Whether a folder is there. */
bool folder_is(const char *path);
/** Calls fn for each entry but `.` and `..`. */
void folder_each_entry(const char *path, void (*fn)(void *user, const char *path), void *user);
/** Calls fn for each process's spool in it, or for itself if it is one; returns their number. */
size_t folder_visit_spools(const char *path,
			   void (*fn)(void *user, const char *path, const struct rtl_folder *is),
			   void *user);

/* ---- the running rtl that the user means: `rtl start`, `rtl stop`, `rtl snapshot` ---- */

struct running {
	char *folder; /**< to be freed */
	int pid;      /**< 0: the user has named the folder */
	bool found;   /**< the user has not named it */
};

/** Finds it: by the number of its process, by its folder (with a slash in it), or, without a name, the only one of the
 * user's. CLI_OK, or an exit status after a line that begins with the verb. */
int running_find(const char *verb, const char *name, struct running *running);

/** What commands that do so say of it. */
#define RUNNING_DETAILS                                                                            \
	"SESSION is the process of `rtl trace`, or its folder; it may be left out if only one\n"   \
	"of yours runs."
