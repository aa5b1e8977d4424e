/* SPDX-License-Identifier: MIT */
#include "ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "spool_writer.h"

#ifndef MADV_POPULATE_WRITE
#	define MADV_POPULATE_WRITE                                                                \
		23 /* Linux 5.14; before, pages are touched when they are used */
#endif

static bool reserve_blocks(const struct ring_header *ring, int dir_fd, uint64_t from, uint64_t to)
{
	char name[32];
	int fd, err;

	snprintf(name, sizeof name, "ring-%u", ring->index);
	fd = openat(dir_fd, name, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false;
	err = spool_reserve_blocks(fd, RING_HEADER_SIZE + from, to - from);
	close(fd);
	return !err;
}

bool ring_prepare(struct ring_header *ring, int dir_fd, uint64_t bytes)
{
	uint64_t ready = __atomic_load_n(&ring->ready, __ATOMIC_ACQUIRE);
	uint64_t from = ready & ~(uint64_t)4095, to = (bytes + 4095) & ~(uint64_t)4095;
	int err = errno;
	bool ok;

	if (to > ring->capacity)
		to = ring->capacity;
	if (ready >= to)
		return true;
	ok = reserve_blocks(ring, dir_fd, from, to);
	if (ok) {
		madvise(ring_data(ring) + from, to - from, MADV_POPULATE_WRITE);
		/* release: with the acquire in writer.c; two at once may do the same work, and the
		 * mark only goes up */
		while (ready < to &&
		       !__atomic_compare_exchange_n(&ring->ready, &ready, to, false,
						    __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
			;
	}
	errno = err;
	return ok;
}
