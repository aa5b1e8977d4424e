/* SPDX-License-Identifier: MIT */
/* Room on the disk for files that are mapped: a full disk is an error here, and no SIGBUS later.
 * Any thread. */
#ifndef RTL_CORE_BLOCKS_H
#define RTL_CORE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a file may be that large: the kernel kills a process that makes it larger. */
bool blocks_allowed(uint64_t size);
/* Gives a part of a file its blocks; an errno. Without the program's signals, which would interrupt
 * it again and again. */
int blocks_reserve(int fd, uint64_t from, uint64_t size);
/* Fills a part of a file with zeros, where the file's blocks are pages in memory: then they are there to be
 * mapped. Likewise; an errno if they are not. */
int blocks_fill(int fd, uint64_t from, uint64_t size);

#endif
