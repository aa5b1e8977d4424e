/* SPDX-License-Identifier: MIT */
/*
 * A descriptor that we keep open in somebody else's process. The program may close any number, and
 * open something of its own under it: before each use it is asked whether it is still ours.
 *
 * Threads: as the owner says; looking only reads.
 */
#ifndef RTL_CORE_KEPT_FD_H
#define RTL_CORE_KEPT_FD_H

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

struct kept_fd {
	int fd; /* -1: none */
	dev_t device;
	ino_t inode;
};

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
