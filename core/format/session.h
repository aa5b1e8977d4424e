/* SPDX-License-Identifier: MIT */
/*
 * A collector's folder, seen from a traced process. The collector makes it, names it in
 * RTL_COLLECTOR, and drains the spools that processes make in it. Beside the spools it holds one
 * file, `session`: the collector has it locked (flock) as long as it lives, and all map it. Should
 * somebody cut it off, no program ends by that: they look at it by system calls alone.
 *
 * Threads: session_join and session_leave under the bus's start lock, the rest from any.
 */
#ifndef RTL_CORE_SESSION_H
#define RTL_CORE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <rtl/types.h>

#define SESSION_MAGIC   "RTLSESSN"
#define SESSION_VERSION 2u
#define SESSION_PREFIX  "rtl-" /* of the folders' names */
#define SESSION_FILE    "session"

struct session_page {
	char magic[8];
	uint32_t version;
	uint32_t asleep; /* the collector's bell, as spool_control.asleep */
	/* When the collector was last at work, for who finds it dead: CLOCK_BOOTTIME, and the time
	 * of day. */
	uint64_t seen_ns;
	uint64_t seen_realtime_ns;
	/*
	 * What is wanted, for processes that begin: lines "STREAM TYPE TYPE...", ended by a NUL.
	 * Streams that are not named are wanted as a whole until the collector has met them.
	 * Written before any process is started.
	 */
	char wants[65536 - 48];
	uint32_t refused; /* processes that could make no spool here; relaxed, read at the end */
	uint32_t ended;   /* 1: the collector has ended in order; release by it, acquire by all */
	uint32_t paused;  /* 1: nothing is wanted for now; written by rtl_collector_set_paused */
	int32_t pid;      /* of the collector */
};

/* Maps the page of a collector's folder. RTL_ENOENT, RTL_EABI (not one, or of another version),
 * RTL_EIO, RTL_ENOMEM. */
int session_map(const char *folder, struct session_page **out);
/* Whether the collector of a folder lives. */
bool session_folder_is_alive(const char *folder);

/* Joins the collector that RTL_COLLECTOR names. 0; RTL_ENOENT: none is named; RTL_ENOTSUP: it has
 * ended; else it cannot be joined, which has been said. */
int session_join(void);
/* In a child after fork: forget it. */
void session_leave(void);
/* Its folder; NULL: not joined. */
const char *session_folder(void);
/* Its bell. */
uint32_t *session_bell(void);
/* Whether it lives; asks the kernel. */
bool session_is_alive(void);
/* Why the collector cannot be asked, an errno; 0: it can. */
int session_look_error(void);
/* Its process. */
int session_pid(void);
/* Whether it has ended in order: nothing is left to recover. */
bool session_has_ended(void);
/* Says so in a folder, which is then removed, to processes that still run. */
void session_end(const char *folder);
/* Tells it that this process cannot make a spool, if it has been joined. */
void session_count_refused(void);
/* Whether it wants that type from the beginning. */
bool session_wants(const char *stream, uint16_t type);

#endif
