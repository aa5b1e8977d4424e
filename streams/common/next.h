/* SPDX-License-Identifier: MIT */
/*
 * The functions behind those that this library exports in their place. Their libraries are never loaded, only looked
 * for.
 *
 * Threads: any. Not from a signal handler.
 */
#pragma once

#include <link.h>

/* dl_iterate_phdr(3). A fork waits for it, a second at most: glibc does not reset its lock in the child, whose first
 * look would wait for ever. */
int loaded_iterate(int (*look)(struct dl_phdr_info *info, size_t size, void *user), void *user);

/* The function of that name behind us in the search order, or in a loaded library whose name begins so (NULL ends the
 * list), which then stays loaded. NULL: it is nowhere. */
void *next_function(const char *symbol, const char *const *libraries);

/* When this library is preloaded, its dlsym replaces what the program finds by name in a library of HIP or roctx that
 * it has loaded itself (Triton, ctypes). The rest goes to the loader's dlsym by a jump, as RTLD_NEXT depends on the
 * caller. On x86-64 with glibc only; elsewhere there is no such dlsym. No locks of ours. */

/* What replaces what the loader finds; NULL: nothing does. Called by dlsym. */
void *lookup_replacement(void *handle, const char *name);

/* roctx's part in that: ours for a function of that name that was found there, if it is the one that ours passes on to;
 * else NULL. HIP's is hip_ours. */
void *roctx_ours(const char *name, const void *found);

/* The loader's dlsym with a handle of dlopen. For this library itself: its own would call us. */
void *lookup_symbol(void *handle, const char *name);

/* The loader's dlsym: set by the first lookup_replacement. */
extern void *(*lookup_next)(void *handle, const char *name);
