/* SPDX-License-Identifier: MIT */
/*
 * The collector that this process has joined, if any.
 *
 * Threads: session_join and session_leave while the bus starts, the rest from any.
 */
#ifndef RTL_CORE_SESSION_H
#define RTL_CORE_SESSION_H

#include "session_page.h"

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
/* Tells it that this process cannot make a spool, if it has been joined. */
void session_count_refused(void);
/* Whether the user's selection leaves out what happens now. */
bool session_is_outside(void);
/* Whether it wants that type from the beginning. */
bool session_wants(const char *stream, uint16_t type);

#endif
