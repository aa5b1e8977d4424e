/* SPDX-License-Identifier: MIT */
#include "spool_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "files.h"
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
	if (memcmp(control->magic, SPOOL_MAGIC, sizeof(control->magic)) != 0)
		return "its control file is not one of rtl's";
	if (control->version != SPOOL_VERSION || control->header_size != sizeof(*control))
		return "it was written by another version of rtl";
	if (control->clock_kind > 1)
		return "its clock is not known";
	return "";
}

/* Whether the folder is the caller's: nobody else's events are taken as his. */
static bool is_own(int dir_fd)
{
	struct stat st;

	return !fstat(dir_fd, &st) && st.st_uid == geteuid();
}

int spool_files_open(struct spool_files *files, const char *path, bool shared, const char **why)
{
	size_t size;
	int err = 0;

	memset(files, 0, sizeof(*files));
	*why = "";
	files->shared = shared;
	files->dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (files->dir_fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? RTL_ENOENT : RTL_EIO;
	if (shared && !is_own(files->dir_fd)) {
		*why = "it belongs to another user";
		err = RTL_EIO;
	} else if (!(files->control = map(files, "control", sizeof(*files->control),
					  sizeof(*files->control), &size))) {
		err = is_passing(errno) ? RTL_EIO : RTL_EFORMAT;
		*why = err == RTL_EIO ? "" : "its control file is missing or too short";
	} else if (*(*why = check_control(files->control))) {
		err = RTL_EFORMAT;
	}
	if (err)
		spool_files_close(files);
	return err;
}

static bool ring_ok(const struct ring_header *ring)
{
	return ring->magic == RING_MAGIC && ring->header_size == RING_HEADER_SIZE &&
	       ring->capacity && ring->capacity % 8 == 0;
}

/* Maps a file that holds a ring, or what is left of it; NULL with errno: it is not there, or not one. */
static struct ring_header *map_ring(const struct spool_files *files, const char *name,
				    size_t *bytes)
{
	struct ring_header *ring = map(files, name, RING_HEADER_SIZE, SIZE_MAX, bytes);

	if (ring && !ring_ok(ring)) {
		unmap(ring, *bytes);
		errno = EINVAL;
		ring = NULL;
	}
	/* Events are only read: a page that could be written to costs a virtual machine without nested
	 * paging four times as much to map. */
	if (ring && files->shared)
		mprotect((uint8_t *)ring + RING_HEADER_SIZE, *bytes - RING_HEADER_SIZE, PROT_READ);
	return ring;
}

static bool make_room(struct spool_files *files, uint32_t n)
{
	uint32_t room = files->ring_room; /* of both, when both are had */

	return array_grow(&files->rings, &room, n, sizeof(*files->rings)) &&
	       array_grow(&files->ring_bytes, &files->ring_room, n, sizeof(*files->ring_bytes));
}

static void put_ring(struct spool_files *files, struct ring_header *ring, size_t bytes)
{
	files->rings[files->ring_count] = ring;
	files->ring_bytes[files->ring_count] = bytes;
	files->ring_count++;
}

/* ---- segments */

/* Reads where a segment belongs; false: it is none. */
static bool read_segment(const struct spool_files *files, const char *name,
			 struct spool_segment *segment)
{
	struct ring_header header;
	size_t size;
	int fd = open_file(files, name, false, &size);
	bool ok;

	if (fd < 0)
		return false;
	ok = size >= RING_HEADER_SIZE && pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
	     ring_ok(&header) && header.index < SPOOL_RINGS_MAX &&
	     header.capacity <= UINT64_MAX - header.origin && header.origin % 8 == 0;
	close(fd);
	segment->ring = header.index;
	segment->origin = header.origin;
	segment->length = header.capacity;
	return ok;
}

static int compare(const void *left, const void *right)
{
	const struct spool_segment *a = left, *b = right;

	if (a->ring != b->ring)
		return a->ring < b->ring ? -1 : 1;
	if (a->origin != b->origin)
		return a->origin < b->origin ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void note_segment(struct spool_files *files, const char *name, uint32_t *room)
{
	struct spool_segment segment = {.number = 0};

	if (sscanf(name, SPOOL_SEGMENT_SCAN, &segment.number) != 1)
		return;
	if (segment.number >= files->segments_end)
		files->segments_end = segment.number + 1;
	if (!read_segment(files, name, &segment) ||
	    !array_grow(&files->segments, room, files->segment_count + 1, sizeof(segment))) {
		files->segments_lost++;
		return;
	}
	files->segments[files->segment_count++] = segment;
	files->segment_bytes += segment.length;
	/* one whose `ring-N` is not there has a place all the same */
	while (files->ring_count <= segment.ring && make_room(files, files->ring_count + 1))
		put_ring(files, NULL, 0);
}

void spool_files_find_segments(struct spool_files *files)
{
	struct dirent *entry;
	uint32_t room = 0;
	DIR *dir;
	int fd;

	if (files->segments_known)
		return;
	fd = openat(files->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		fd_close(fd);
		return; /* in the next pass */
	}
	files->segments_known = true;
	while ((entry = readdir(dir)))
		note_segment(files, entry->d_name, &room);
	closedir(dir);
	if (files->segment_count)
		qsort(files->segments, files->segment_count, sizeof(*files->segments), compare);
}

struct ring_header *spool_files_map_segment(const struct spool_files *files, uint32_t segment,
					    size_t *bytes)
{
	char name[32];

	snprintf(name, sizeof(name), SPOOL_SEGMENT_NAME, files->segments[segment].number);
	return map_ring(files, name, bytes);
}

struct spool_slots *spool_files_map_slots(const struct spool_files *files, uint32_t number,
					  size_t *bytes)
{
	char name[32];

	snprintf(name, sizeof(name), SPOOL_SLOTS_NAME, number);
	return map(files, name, SPOOL_SLOTS_HEADER, SIZE_MAX, bytes);
}

bool spool_files_unmap_segment(void *at, size_t bytes)
{
	bool hit = guard_was_hit(at);

	unmap(at, bytes);
	return hit;
}

void spool_files_settle_segment(const struct spool_files *files, uint32_t segment)
{
	const struct spool_segment *s = &files->segments[segment];
	size_t size;
	char name[32];
	int fd;

	snprintf(name, sizeof(name), SPOOL_SEGMENT_NAME, s->number);
	fd = open_file(files, name, true, &size);
	if (fd < 0)
		return;
	/* where that fails it is delivered again, if this host dies */
	(void)!pwrite(fd, &s->length, sizeof(s->length), offsetof(struct ring_header, tail));
	close(fd);
}

void spool_files_map_rings(struct spool_files *files)
{
	/* acquire: with the release of the process that has made the rings */
	uint32_t n = __atomic_load_n(&files->control->ring_count, __ATOMIC_ACQUIRE);
	char name[32];

	if (n > SPOOL_RINGS_MAX)
		n = SPOOL_RINGS_MAX; /* damaged; what is there is still read */
	if (!files->segments_known && make_room(files, n))
		while (files->ring_count < n) {
			struct ring_header *ring;
			size_t bytes = 0;

			snprintf(name, sizeof(name), "ring-%u", files->ring_count);
			ring = map_ring(files, name, &bytes);
			if (!ring && is_passing(errno))
				return; /* in the next pass */
			put_ring(files, ring, bytes);
		}
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
	while (fd >= 0 && files->dict_bytes < end &&
	       array_grow(&files->dict, &files->dict_room, end, 1)) {
		n = pread(fd, files->dict + files->dict_bytes, end - files->dict_bytes,
			  (off_t)files->dict_bytes);
		if (n < 0 && errno == EINTR)
			continue;
		files->dict_short |= n <= 0;
		if (n <= 0)
			break;
		files->dict_bytes += (size_t)n;
	}
	fd_close(fd);
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
	for (uint32_t i = 0; i < files->ring_count; i++)
		if (files->rings[i])
			unmap(files->rings[i], files->ring_bytes[i]);
	free(files->rings);
	free(files->ring_bytes);
	free(files->segments);
	free(files->dict);
	if (files->control)
		unmap(files->control, sizeof(*files->control));
	fd_close(files->dir_fd);
	memset(files, 0, sizeof(*files));
	files->dir_fd = -1;
}
