/* SPDX-License-Identifier: MIT */
/*
 * dl_iterate_phdr(3), of which no fork leaves a child the C library's lock: glibc does not open
 * that anew there, so a child's first look would wait for ever. A fork waits until whoever looks
 * has looked, for a second at most.
 *
 * Threads: any. Not from a signal handler.
 */
#ifndef STREAMS_COMMON_LOADED_H
#define STREAMS_COMMON_LOADED_H

#include <link.h>

int loaded_iterate(int (*look)(struct dl_phdr_info *info, size_t size, void *user), void *user);

#endif
