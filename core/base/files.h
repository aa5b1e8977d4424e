/* SPDX-License-Identifier: MIT */
/* Files and descriptors in somebody else's process. Threads: any; a kept descriptor as its owner says. */
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- descriptors that we keep open. The program may close any number, and open something of its own under it:
 * before each use it is asked whether it is still ours. */

struct kept_fd {
	int fd; /* -1: none */
	dev_t device;
	ino_t inode;
};

/* openat() that passes over the numbers 0 to 2. A program that has closed its stdout prints all the
 * same: no file of ours may be there, even for a moment. */
int openat_high(int dir_fd, const char *name, int flags, mode_t mode);
/* -1 is none. */
static inline void fd_close(int fd)
{
	if (fd >= 0)
		close(fd);
}
void kept_fd_set(struct kept_fd *kept, int fd);
/* The descriptor, or -1 if there is none any more. */
int kept_fd_get(const struct kept_fd *kept);
void kept_fd_close(struct kept_fd *kept);

/* The beginning of a small file, terminated. Its length; -1: it cannot be read, the text is empty. No stdio:
 * this is in a program's process, maybe before its main. */
ssize_t read_text(const char *path, char *text, size_t size);

/* Makes room in an array (malloc) of *room elements for at least `need`; false: no memory. `array`: its address. */
bool array_grow(void *array, uint32_t *room, size_t need, size_t element);

/* ---- room on the disk for files that are mapped: a full disk is an error here, and no SIGBUS later. */

/* Whether a file may be that large: the kernel kills a process that makes it larger. */
bool blocks_allowed(uint64_t size);
/* Gives a part of a file its blocks; an errno. Without the program's signals, which would interrupt
 * it again and again. */
int blocks_reserve(int fd, uint64_t from, uint64_t size);
/* Fills a part of a file with zeros, where the file's blocks are pages in memory: then they are there to be
 * mapped. Likewise; an errno if they are not. */
int blocks_fill(int fd, uint64_t from, uint64_t size);
