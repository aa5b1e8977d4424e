/* SPDX-License-Identifier: MIT */
/*
 * Taking the HSA runtime's tables over, and leaving them: by OnLoad and OnUnload (onload.c), or
 * handed over by librocprofiler-register (registration.c).
 *
 * Threads: in hsa_init and hsa_shut_down, under the runtime's own lock.
 */
#ifndef STREAMS_HSA_ONLOAD_H
#define STREAMS_HSA_ONLOAD_H

#include <stdbool.h>

struct root_table;

/* Hooks the tables, unless they are hooked or nobody listens. Returns whether it has hooked them.
 */
bool onload_take(struct root_table *root);

/* The runtime is about to end; it may begin anew. */
void onload_leave(void);

#endif
