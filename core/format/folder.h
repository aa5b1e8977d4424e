/* SPDX-License-Identifier: MIT */
/* Looks at the folder of a process or of a collector from outside. Any thread. */
#ifndef RTL_CORE_FOLDER_H
#define RTL_CORE_FOLDER_H

#include <stdbool.h>

#include <rtl/collector.h>

/* Whether the process of a spool is dead. `dir_fd` is the spool's folder. One that has closed our
 * lock on its spool without ending counts as alive. */
bool folder_process_is_gone(int dir_fd, int pid);

/* Whether nothing in the folder of a spool can be an event that nobody has got: it was never used,
 * or its removal has begun. */
bool folder_holds_no_events(const char *path);

/* Whether there is a file of that name in a folder; `flags`: of opening the folder, O_NOFOLLOW or
 * 0. */
bool folder_has(const char *path, const char *name, int flags);

/* Calls fn with the path of each spool in a folder, as far as the names say. An errno: the folder
 * cannot be read. */
int folder_each_spool(const char *folder, void (*fn)(void *user, const char *path), void *user);

#endif
