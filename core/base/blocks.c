/* SPDX-License-Identifier: MIT */
#include "blocks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/vfs.h>

#include "signals.h"

/* So many are written by one call. */
#define PAGES_AT_ONCE 64u

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
