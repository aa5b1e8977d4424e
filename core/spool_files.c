/* SPDX-License-Identifier: MIT */
#include "spool_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dict.h"
#include "guard.h"

/* Opens a file of the spool; -1: it is not there, or not one. No link, and no waiting for somebody
 * at the other end of a FIFO. */
static int open_file(const struct spool_files *files, const char *name, bool write, size_t *size)
{
	int fd = openat(files->dir_fd, name,
			(write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		*size = (size_t)st.st_size;
		return fd;
	}
	close(fd);
	errno = EINVAL;
	return -1;
}

/* Whether a file may well be had later. */
static bool is_passing(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOMEM || err == EINTR;
}

/* Maps a file of the spool, up to `most` bytes; NULL with errno if it is not there or shorter than
 * `least`. */
static void *map(const struct spool_files *files, const char *name, size_t least, size_t most,
		 size_t *size)
{
	int fd = open_file(files, name, files->shared, size), err;
	void *p = MAP_FAILED;

	if (fd < 0)
		return NULL;
	err = EINVAL;
	if (*size > most)
		*size = most;
	if (*size >= least) {
		p = mmap(NULL, *size, PROT_READ | PROT_WRITE,
			 files->shared ? MAP_SHARED : MAP_PRIVATE, fd, 0);
		err = errno;
	}
	close(fd);
	if (p != MAP_FAILED && !guard_add(p, *size)) {
		munmap(p, *size);
		p = MAP_FAILED;
		err = ENOMEM;
	}
	errno = err;
	return p == MAP_FAILED ? NULL : p;
}

static void unmap(void *p, size_t size)
{
	guard_remove(p);
	munmap(p, size);
}

static const char *check_control(const struct spool_control *control)
{
	if (memcmp(control->magic, SPOOL_MAGIC, sizeof control->magic) != 0)
		return "its control file is not one of rtl's";
	if (control->version != SPOOL_VERSION || control->header_size != sizeof *control)
		return "it was written by another version of rtl";
	if (control->clock_kind > 1)
		return "its clock is not known";
	return NULL;
}

int spool_files_open(struct spool_files *files, const char *path, bool shared, const char **why)
{
	size_t size;

	memset(files, 0, sizeof *files);
	*why = "";
	files->shared = shared;
	files->dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (files->dir_fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? RTL_ENOENT : RTL_EIO;
	files->control =
		map(files, "control", sizeof *files->control, sizeof *files->control, &size);
	if (!files->control) {
		bool passing = is_passing(errno);

		if (!passing)
			*why = "its control file is missing or too short";
		spool_files_close(files);
		return passing ? RTL_EIO : RTL_EFORMAT;
	}
	*why = check_control(files->control);
	if (*why) {
		unmap(files->control, size);
		files->control = NULL;
		spool_files_close(files);
		return RTL_EFORMAT;
	}
	return 0;
}

static bool ring_ok(const struct ring_header *ring)
{
	return ring->magic == RING_MAGIC && ring->header_size == RING_HEADER_SIZE &&
	       ring->capacity && ring->capacity % 8 == 0;
}

/* Maps a file that holds a ring, or what is left of it; NULL with errno: it is not there, or not
 * one. */
static struct ring_header *map_ring(const struct spool_files *files, const char *name,
				    size_t *bytes)
{
	struct ring_header *ring = map(files, name, RING_HEADER_SIZE, SIZE_MAX, bytes);

	if (ring && !ring_ok(ring)) {
		unmap(ring, *bytes);
		errno = EINVAL;
		ring = NULL;
	}
	return ring;
}

static bool make_room(struct spool_files *files, uint32_t n)
{
	struct ring_header **rings;
	size_t *bytes;

	if (n <= files->ring_room)
		return true;
	n += 64;
	rings = realloc(files->rings, n * sizeof *rings);
	if (!rings)
		return false;
	files->rings = rings;
	bytes = realloc(files->ring_bytes, n * sizeof *bytes);
	if (!bytes)
		return false;
	files->ring_bytes = bytes;
	files->ring_room = n;
	return true;
}

static void put_ring(struct spool_files *files, struct ring_header *ring, size_t bytes)
{
	files->rings[files->ring_count] = ring;
	files->ring_bytes[files->ring_count] = bytes;
	files->ring_count++;
}

static int is_segment(const struct dirent *entry)
{
	unsigned number;

	return sscanf(entry->d_name, SPOOL_SEGMENT_NAME, &number) == 1;
}

/* Those of a recording, in the order of their numbers; those that have been rotated out are not
 * there. */
static void map_segments(struct spool_files *files)
{
	struct dirent **entries;
	int i, n = scandirat(files->dir_fd, ".", &entries, is_segment, versionsort);

	files->segments_mapped = true;
	for (i = 0; i < n; i++) {
		size_t bytes = 0;
		struct ring_header *ring = map_ring(files, entries[i]->d_name, &bytes);

		free(entries[i]);
		if (make_room(files, files->ring_count + 1))
			put_ring(files, ring, bytes);
		else if (ring)
			unmap(ring, bytes);
	}
	if (n >= 0)
		free(entries);
}

void spool_files_map_rings(struct spool_files *files)
{
	/* acquire: with the release of the process that has made the rings */
	uint32_t n = __atomic_load_n(&files->control->ring_count, __ATOMIC_ACQUIRE);
	char name[32];

	if (n > SPOOL_RINGS_MAX)
		n = SPOOL_RINGS_MAX; /* damaged; what is there is still read */
	if (!files->segments_mapped && n > files->ring_count && make_room(files, n)) {
		while (files->ring_count < n) {
			size_t bytes = 0;

			struct ring_header *ring;

			snprintf(name, sizeof name, "ring-%u", files->ring_count);
			ring = map_ring(files, name, &bytes);
			if (!ring && is_passing(errno))
				return; /* in the next pass */
			put_ring(files, ring, bytes);
		}
	}
	if (files->control->segment_count && !files->segments_mapped)
		map_segments(files);
}

static bool make_dict_room(struct spool_files *files, size_t length)
{
	size_t room = files->dict_room ? files->dict_room : 65536;
	uint8_t *dict;

	while (room < length)
		room *= 2;
	if (room == files->dict_room)
		return true;
	dict = realloc(files->dict, room);
	if (!dict)
		return false;
	files->dict = dict;
	files->dict_room = room;
	return true;
}

/* Reads the dictionary up to `length`, as far as the file goes. */
static void read_dict(struct spool_files *files, size_t length)
{
	size_t size = 0, end;
	int fd = open_file(files, "dict", false, &size);
	ssize_t n;

	if (fd < 0 && is_passing(errno))
		return;
	files->dict_short = size < length;
	end = size < length ? size : length;
	while (fd >= 0 && files->dict_bytes < end && make_dict_room(files, end)) {
		n = pread(fd, files->dict + files->dict_bytes, end - files->dict_bytes,
			  (off_t)files->dict_bytes);
		if (n < 0 && errno == EINTR)
			continue;
		files->dict_short |= n <= 0;
		if (n <= 0)
			break;
		files->dict_bytes += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
}

uint64_t spool_files_read_dict(struct spool_files *files)
{
	/* acquire: with the release of the process: entries up to there are complete */
	uint64_t length = __atomic_load_n(&files->control->dict_length, __ATOMIC_ACQUIRE);

	if (length > SPOOL_DICT_MAX)
		length = SPOOL_DICT_MAX; /* damaged; what is there is still read */
	if (length > files->dict_bytes && !files->dict_short)
		read_dict(files, length);
	return length < files->dict_bytes ? length : files->dict_bytes;
}

void spool_files_close(struct spool_files *files)
{
	uint32_t i;

	for (i = 0; i < files->ring_count; i++)
		if (files->rings[i])
			unmap(files->rings[i], files->ring_bytes[i]);
	free(files->rings);
	free(files->ring_bytes);
	free(files->dict);
	if (files->control)
		unmap(files->control, sizeof *files->control);
	if (files->dir_fd >= 0)
		close(files->dir_fd);
	memset(files, 0, sizeof *files);
	files->dir_fd = -1;
}
