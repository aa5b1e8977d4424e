/* SPDX-License-Identifier: MIT */
#include "files.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include "thread.h"

/* Of blocks_fill, so many are written by one call. */
#define PAGES_AT_ONCE 64u

int openat_high(int dir_fd, const char *name, int flags, mode_t mode)
{
	int lowest = open("/", O_PATH | O_CLOEXEC), fd; /* keeps its number occupied */

	if (lowest < 0)
		return -1;
	fd = lowest <= STDERR_FILENO ? openat_high(dir_fd, name, flags, mode)
				     : openat(dir_fd, name, flags, mode);
	close(lowest);
	return fd;
}

void kept_fd_set(struct kept_fd *kept, int fd)
{
	struct stat st;

	kept->fd = -1;
	if (fd < 0 || fstat(fd, &st))
		return;
	kept->device = st.st_dev;
	kept->inode = st.st_ino;
	kept->fd = fd;
}

int kept_fd_get(const struct kept_fd *kept)
{
	struct stat st;

	return kept->fd >= 0 && !fstat(kept->fd, &st) && st.st_dev == kept->device &&
			       st.st_ino == kept->inode
		       ? kept->fd
		       : -1;
}

void kept_fd_close(struct kept_fd *kept)
{
	fd_close(kept_fd_get(kept));
	kept->fd = -1;
}

ssize_t read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);

	fd_close(fd);
	text[length < 0 ? 0 : length] = '\0';
	return length;
}

bool array_grow(void *array, uint32_t *room, size_t need, size_t element)
{
	size_t more = *room ? *room : 8;
	void *longer;

	while (more < need)
		more *= 2;
	if (more == *room)
		return true;
	memcpy(&longer, array, sizeof(longer)); /* a pointer of another type */
	longer = more <= UINT32_MAX ? reallocarray(longer, more, element) : NULL;
	if (!longer)
		return false;
	memcpy(array, &longer, sizeof(longer));
	*room = (uint32_t)more;
	return true;
}

bool blocks_allowed(uint64_t size)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) || size <= limit.rlim_cur;
}

int blocks_reserve(int fd, uint64_t from, uint64_t size)
{
	sigset_t old;
	int err;

	if (!blocks_allowed(from + size))
		return EFBIG;
	signals_block(&old);
	do
		err = posix_fallocate(fd, (off_t)from, (off_t)size);
	while (err == EINTR);
	signals_restore(&old);
	return err;
}

static bool is_memory(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == TMPFS_MAGIC;
}

/* At most PAGES_AT_ONCE pages; how many bytes, or -1. */
static ssize_t fill_some(int fd, uint64_t from, uint64_t size)
{
	static uint8_t zeros[4096]; /* one page, which stays in the processor's cache */
	struct iovec pieces[PAGES_AT_ONCE];
	uint32_t n;

	for (n = 0; size && n < PAGES_AT_ONCE; n++) {
		pieces[n].iov_base = zeros;
		pieces[n].iov_len = size < sizeof(zeros) ? size : sizeof(zeros);
		size -= pieces[n].iov_len;
	}
	return pwritev(fd, pieces, (int)n, (off_t)from);
}

int blocks_fill(int fd, uint64_t from, uint64_t size)
{
	const uint64_t to = from + size;
	sigset_t old;
	ssize_t n = 1;

	if (!blocks_allowed(to) || !is_memory(fd))
		return EFBIG;
	signals_block(&old);
	for (; from < to && n > 0; from += n > 0 ? (uint64_t)n : 0) {
		do
			n = fill_some(fd, from, to - from);
		while (n < 0 && errno == EINTR);
	}
	signals_restore(&old);
	return from == to ? 0 : EIO;
}
