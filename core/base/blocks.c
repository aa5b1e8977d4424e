/* SPDX-License-Identifier: MIT */
#include "blocks.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

#include "signals.h"

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
