/* SPDX-License-Identifier: MIT */
#include "ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"

#ifndef MADV_POPULATE_READ
#	define MADV_POPULATE_READ 22
#endif
#ifndef MADV_POPULATE_WRITE
#	define MADV_POPULATE_WRITE                                                                \
		23 /* Linux 5.14; before, pages are touched when they are used */
#endif

/* No link, nothing to wait for, and as large as the mapping that was made of it. */
static bool is_as_large(int fd, uint64_t bytes)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size >= bytes;
}

/* `filled`: in place of blocks they are pages of zeros, where the file system has its files in memory. */
static bool reserve_blocks(uint32_t index, int dir_fd, uint64_t from, uint64_t to, bool *filled)
{
	char name[32];
	int fd, err;

	snprintf(name, sizeof(name), "ring-%u", index);
	fd = openat_high(dir_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
	err = fd < 0 || !is_as_large(fd, RING_HEADER_SIZE + to);
	*filled = !err && *filled && !blocks_fill(fd, RING_HEADER_SIZE + from, to - from);
	if (!err && !*filled)
		err = blocks_reserve(fd, RING_HEADER_SIZE + from, to - from);
	if (fd >= 0)
		close(fd);
	return !err;
}

bool ring_prepare(const struct ring_place *place, int dir_fd, uint64_t bytes, bool alone)
{
	struct ring_header *ring = place->ring;
	uint64_t ready = __atomic_load_n(&ring->ready, __ATOMIC_ACQUIRE);
	uint64_t from = ready & ~(uint64_t)4095, to = (bytes + 4095) & ~(uint64_t)4095;
	int err = errno;
	bool ok;

	if (to > place->bytes)
		to = place->bytes;
	if (ready >= to)
		return true;
	errno = 0;
	ok = reserve_blocks(place->index, dir_fd, from, to, &alone);
	/* Pages that are there already are mapped sixteen at a time, by a read, and may be written to. Where
	 * somebody has removed the file, what is mapped goes on, if it gets its pages. */
	if (ok || errno == ENOENT)
		ok |= !madvise(ring_data(ring) + from, to - from,
			       alone ? MADV_POPULATE_READ : MADV_POPULATE_WRITE);
	if (ok) {
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
