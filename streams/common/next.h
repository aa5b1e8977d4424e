/* SPDX-License-Identifier: MIT */
/*
 * The functions behind those that this library exports in their place. What they are in is never
 * loaded, only looked for.
 *
 * Threads: any. Not from a signal handler.
 */
#ifndef STREAMS_COMMON_NEXT_H
#define STREAMS_COMMON_NEXT_H

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

#endif
