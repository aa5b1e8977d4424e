/* SPDX-License-Identifier: MIT */
/*
 * descriptors.h: the numbers under which SQLite has our files open. In somebody's process, which
 * may close any number and open a file of its own under it: SQLite would write into that. One
 * thread.
 */
#ifndef RTL_SQLITE_DESCRIPTORS_H
#define RTL_SQLITE_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define DESCRIPTORS_MAX 8

struct descriptors {
	struct {
		int fd;
		dev_t device;
		ino_t inode;
	} list[DESCRIPTORS_MAX];
	size_t count;
};

/* Finds those of a database and its write-ahead log among the process's; none without /proc. */
void descriptors_find(struct descriptors *descriptors, const char *path);
/* Whether each still is what it was. */
bool descriptors_are_ours(const struct descriptors *descriptors);

#endif
