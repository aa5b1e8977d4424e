/* SPDX-License-Identifier: MIT */
/*
 * A descriptor that we keep open in somebody else's process. The program may close any number, and
 * open something of its own under it: before each use it is asked whether it is still ours.
 *
 * Threads: as the owner says; looking only reads.
 */
#ifndef RTL_CORE_KEPT_FD_H
#define RTL_CORE_KEPT_FD_H

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct kept_fd {
	int fd; /* -1: none */
	dev_t device;
	ino_t inode;
};

/* openat() that passes over the numbers 0 to 2. A program that has closed its stdout prints all the
 * same: no file of ours may be there, even for a moment. */
static inline int openat_high(int dir_fd, const char *name, int flags, mode_t mode)
{
	int lowest = open("/", O_PATH | O_CLOEXEC), fd; /* keeps its number occupied */

	if (lowest < 0)
		return -1;
	fd = lowest <= STDERR_FILENO ? openat_high(dir_fd, name, flags, mode)
				     : openat(dir_fd, name, flags, mode);
	close(lowest);
	return fd;
}

static inline void kept_fd_set(struct kept_fd *kept, int fd)
{
	struct stat st;

	kept->fd = -1;
	if (fd < 0 || fstat(fd, &st))
		return;
	kept->device = st.st_dev;
	kept->inode = st.st_ino;
	kept->fd = fd;
}

/* The descriptor, or -1 if there is none any more. */
static inline int kept_fd_get(const struct kept_fd *kept)
{
	struct stat st;

	return kept->fd >= 0 && !fstat(kept->fd, &st) && st.st_dev == kept->device &&
			       st.st_ino == kept->inode
		       ? kept->fd
		       : -1;
}

static inline void kept_fd_close(struct kept_fd *kept)
{
	int fd = kept_fd_get(kept);

	if (fd >= 0)
		close(fd);
	kept->fd = -1;
}

#endif
