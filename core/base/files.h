/* SPDX-License-Identifier: MIT */
/* Files and descriptors in somebody else's process. Threads: any; a kept descriptor as its owner says. */
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- descriptors that we keep open. The program may close and reuse any number: each use checks that it is ours. */

struct kept_fd {
	int fd; /* -1: none */
	dev_t device;
	ino_t inode;
};

/* openat() that avoids the numbers 0 to 2: a program that has closed its stdout prints all the same. */
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

/* The beginning of a small file, terminated; its length, -1: not readable, empty. No stdio: maybe before main. */
ssize_t read_text(const char *path, char *text, size_t size);

/* Makes room in an array (malloc) of *room elements for at least `need`; false: no memory. `array`: its address. */
bool array_grow(void *array, uint32_t *room, size_t need, size_t element);

/* ---- room on the disk for files that are mapped: a full disk is an error here, and no SIGBUS later. */

/* Whether a file may be that large: the kernel kills a process that makes it larger. */
bool blocks_allowed(uint64_t size);
/* Gives a part of a file its blocks, with signals blocked, which would interrupt it; an errno. */
int blocks_reserve(int fd, uint64_t from, uint64_t size);
/* Likewise fills a part of a file with zeros where its blocks are memory, ready to be mapped; else an errno. */
int blocks_fill(int fd, uint64_t from, uint64_t size);
