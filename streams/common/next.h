/* SPDX-License-Identifier: MIT */
/*
 * The functions behind those that this library exports in their place. What they are in is never
 * loaded, only looked for.
 *
 * Threads: any. Not from a signal handler.
 */
#pragma once

#include <link.h>

/*
 * dl_iterate_phdr(3), of which no fork leaves a child the C library's lock: glibc does not open
 * that anew there, so a child's first look would wait for ever. A fork waits until whoever looks
 * has looked, for a second at most.
 */
int loaded_iterate(int (*look)(struct dl_phdr_info *info, size_t size, void *user), void *user);

/*
 * The function of that name behind us in the search order, or in one of the libraries if it is
 * loaded: their names' beginnings, NULL at the end. A library that was found stays loaded.
 * Returns NULL if it is nowhere.
 */
void *next_function(const char *symbol, const char *const *libraries);

/*
 * dlsym in the program's place, when this library is preloaded: what the program finds by name in a
 * library of HIP or roctx that it has loaded itself (Triton, ctypes) is replaced by our function
 * for it. Everything else goes to the loader's dlsym as it came, by a jump: for RTLD_NEXT that
 * looks at where it is called from. On x86-64 with glibc only; elsewhere there is no such dlsym.
 * No locks of ours.
 */

/* What replaces what the loader finds; NULL: nothing does. Called by dlsym. */
void *lookup_replacement(void *handle, const char *name);

/* roctx's part in that: ours for a function of that name that was found there, if it is the one that ours passes on to;
 * else NULL. HIP's is hip_ours. */
void *roctx_ours(const char *name, const void *found);

/* The loader's dlsym with a handle of dlopen. For this library itself: its own would call us. */
void *lookup_symbol(void *handle, const char *name);

/* The loader's dlsym: set by the first lookup_replacement. */
extern void *(*lookup_next)(void *handle, const char *name);
