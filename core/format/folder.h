/* SPDX-License-Identifier: MIT */
/* Looks at the folder of a process or of a collector from outside. Any thread. */
#pragma once

#include <rtl/collector.h>
#include <sys/types.h>

/* Whether a spool's process is dead. One that has closed our lock on its spool without ending counts as alive. */
bool folder_process_is_gone(int dir_fd, int pid);

/* Whether a spool's folder can hold no event that is still wanted: never used, or being removed. */
bool folder_holds_no_events(const char *path);

/* Whether a folder is a collector's and has no spools any more: any other is the user's. `untold`: nor what the
 * collector notes before it starts a program: that is not there, or empty. */
bool folder_is_done(const char *path, bool untold);

/* Whether a folder has a file of that name; `flags`: O_NOFOLLOW or 0, for opening the folder. */
bool folder_has(const char *path, const char *name, int flags);

/* Calls fn with the path of each spool in a folder, as far as the names say. An errno: the folder cannot be read. */
int folder_each_spool(const char *folder, void (*fn)(void *user, const char *path), void *user);

/* ---- a collector's folder. The collector makes it, names it in RTL_COLLECTOR, and drains the spools that processes
 * make there. It also has one file, `session`, which the collector locks (flock) as long as it lives, and all
 * map. Anybody may truncate it: programs look at it by system calls only (futex.h), the collector guards its
 * mapping (guard.h). Any thread.
 *
 * A process that sleeps until a collector comes (RTL_ATTACHABLE) makes its folder itself, and the collector locks the
 * page as long as it is there. */

#define SESSION_MAGIC   "RTLSESSN"
#define SESSION_VERSION 3u
#define SESSION_FILE    "session"

struct session_page {
	char magic[8];
	uint32_t version;
	uint32_t asleep; /* the collector's bell, as spool_control.asleep */
	/* When the collector was last at work, for those who find it dead: CLOCK_BOOTTIME and time of day. */
	uint64_t seen_ns;
	uint64_t seen_realtime_ns;
	/* What is wanted, for processes that begin: lines "STREAM TYPE TYPE...", ended by a NUL. Other streams are
	 * wanted as a whole until the collector has met them. Written before any process starts. */
	char wants[65536 - 72];
	uint32_t refused; /* processes that could make no spool here; relaxed, read at the end */
	uint32_t ended;   /* 1: the collector has ended in order; release by it, acquire by all */
	uint32_t paused;  /* 1: nothing is wanted for now; written by rtl_collector_set_paused */
	int32_t pid;      /* of the collector; 0: none has come yet */
	uint32_t outside; /* 1: the user's selection leaves out what happens now; the collector's */
	/* Snapshots asked for (with the bell) and made (futex); release by the collector, acquire by who asked.
	 * Number N is in the folder FOLDER-snapshot-N. */
	uint32_t snapshots_asked, snapshots_made;
	uint32_t snapshot_error;   /* of the last one: 0, or an rtl_error with the sign changed */
	uint32_t snapshot_kept_ms; /* how far it reaches back, if less than asked for */
	uint32_t reserved;
};

/* Makes the page in a new folder; its file, -1 with errno. *out: to be unmapped, NULL: it is not mapped. */
int session_make_page(const char *folder, struct session_page **out);
/* Maps the page of a collector's folder. RTL_ENOENT, RTL_EABI (not one, or of another version), RTL_EIO, RTL_ENOMEM. */
int session_map(const char *folder, struct session_page **out);
/* The file, opened for reading and writing; -1 with errno. */
int session_open_page(const char *folder);
/* Maps the one that a variable names, which must be the user's own; else says why nothing is recorded. *fd: to
 * read it by; the caller closes it. Errors as session_map's. */
int session_join_page(const char *variable, const char *folder, struct session_page **out, int *fd);
/* Wakes its collector. */
void session_ring(struct session_page *page);
/* Whether the collector of a folder lives. */
bool session_folder_is_alive(const char *folder);

/* Says in a folder, which is then removed, that the collector has ended in order. */
void session_end(const char *folder);
