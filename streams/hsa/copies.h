/* SPDX-License-Identifier: MIT */
/*
 * Hooks of the copy functions: a copy may use a signal that a dispatch has used before, and
 * leaves its own times in it (watch.h).
 *
 * Threads: the application's. Locks: watch.h's.
 */
#ifndef STREAMS_HSA_COPIES_H
#define STREAMS_HSA_COPIES_H

#include "table.h"

/* Puts the hooks into the runtime's table, where it has these functions. */
void copies_hook(struct root_table *root);

#endif
