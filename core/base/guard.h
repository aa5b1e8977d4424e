/* SPDX-License-Identifier: MIT */
/* Mappings of files that others may truncate while we read them. Touching what is beyond the end of the file is
 * a SIGBUS; between guard_start and guard_stop the handler replaces such a page by a private one of zeros and
 * notes it. For collectors: a traced program's signals are its own. Any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* In the child of a fork: another thread may have been in here. */
void guard_forked(void);
/* As often as guard_stop. */
void guard_start(void);
void guard_stop(void);
/* A mapping that is watched from now on; false: no memory. */
bool guard_add(void *at, size_t bytes);
/* Whether something of it was missing. */
bool guard_was_hit(const void *at);
/* Before it is unmapped. NULL, or one that is not watched, is fine. */
void guard_remove(const void *at);
