/* SPDX-License-Identifier: MIT */
/*
 * The functions behind those that this library exports in their place. What they are in is never
 * loaded, only looked for.
 *
 * Threads: any. No lock is held while the loader is called. Not from a signal handler.
 */
#ifndef STREAMS_COMMON_NEXT_H
#define STREAMS_COMMON_NEXT_H

/*
 * The function of that name behind us in the search order, or in one of the libraries if it is
 * loaded: their names' beginnings, NULL at the end. A library that was found stays loaded.
 * Returns NULL if it is nowhere.
 */
void *next_function(const char *symbol, const char *const *libraries);

#endif
