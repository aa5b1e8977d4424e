/* SPDX-License-Identifier: MIT */
#include "spool_writer.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/vfs.h>

#include "clock.h"
#include "folder.h"

/* How often a folder is emptied that does not stay empty. */
#define REMOVE_TRIES 8

/* Room that a folder must have before it is taken by default. */
#define DEFAULT_ROOM (64ul << 20)
/* The dictionary begins with this. */
#define DICT_STEP (64ul << 10)
/* Of a ring when it is made. */
#define RING_BEGIN (32ul << 10)

static bool has_room(const char *folder)
{
	struct statfs fs;

	return !access(folder, W_OK | X_OK) && !statfs(folder, &fs) &&
	       (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize >= DEFAULT_ROOM;
}

bool spool_may_take(const struct spool *spool, size_t taken, size_t bytes)
{
	struct statfs fs;

	return !statfs(spool->path, &fs) &&
	       taken + bytes <= ((uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize + taken) / 2;
}

/* Memory first: pages of a disk's file are written back, and fault again after that. */
const char *spool_default_folder(void)
{
	const char *folders[] = {"/dev/shm", secure_getenv("XDG_RUNTIME_DIR"),
				 secure_getenv("TMPDIR"), "/tmp"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		if (folders[i] && *folders[i] && has_room(folders[i]))
			return folders[i];
	return "/tmp";
}

/* A descriptor of the folder for one use; the caller closes it. -1: there are no files any more. */
static int spool_dir(const struct spool *spool)
{
	int fd;

	if (!__atomic_load_n(&spool->has_files, __ATOMIC_RELAXED)) {
		errno = ENOENT;
		return -1;
	}
	fd = kept_fd_get(&spool->dir);
	/* if the program has closed it: the folder is still where it was */
	return fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3)
		       : open(spool->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* A file of the spool, mapped. Of its `size` bytes the first `reserved` have their blocks: a full
 * disk is an error here and no SIGBUS later. NULL with errno. */
static void *map_file(struct spool *spool, const char *name, size_t reserved, size_t size)
{
	int dir_fd = spool_dir(spool), fd, err;
	void *p = MAP_FAILED;

	fd = openat_high(dir_fd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	err = errno;
	if (fd < 0) {
		close(dir_fd);
		errno = err;
		return NULL;
	}
	err = blocks_allowed(size) ? blocks_reserve(fd, 0, reserved) : EFBIG;
	if (!err && ftruncate(fd, (off_t)size))
		err = errno;
	if (!err) {
		p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		err = errno;
	}
	close(fd);
	if (p == MAP_FAILED)
		unlinkat(dir_fd, name, 0);
	close(dir_fd);
	errno = err;
	return p == MAP_FAILED ? NULL : p;
}

static int make_folder(struct spool *spool, const char *base)
{
	char absolute[PATH_MAX]; /* the program may change its working directory */
	int n, err, fd;

	if (!realpath(base, absolute))
		return -1;
	n = snprintf(spool->path, sizeof(spool->path), "%.*s/" SPOOL_PREFIX "%d-XXXXXX",
		     PATH_MAX - 64, absolute, (int)getpid());
	if (n < 0 || (size_t)n >= sizeof(spool->path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (!mkdtemp(spool->path))
		return -1;
	fd = openat_high(AT_FDCWD, spool->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	kept_fd_set(&spool->dir, fd);
	if (spool->dir.fd >= 0) {
		spool->has_files = true;
		return 0;
	}
	err = errno;
	fd_close(fd);
	rmdir(spool->path);
	errno = err;
	return -1;
}

void spool_boot_id(uint8_t id[16])
{
	char text[64];
	unsigned byte;
	int at = 0;

	memset(id, 0, 16);
	if (read_text("/proc/sys/kernel/random/boot_id", text, sizeof(text)) < 36)
		return;
	for (int i = 0; i < 16 && sscanf(text + at, "%2x", &byte) == 1; i++) {
		id[i] = (uint8_t)byte;
		at += 2 + (text[at + 2] == '-');
	}
}

static void fill_control(struct spool_control *control)
{
	struct clock_pair pair;

	memcpy(control->magic, SPOOL_MAGIC, sizeof(control->magic));
	control->version = SPOOL_VERSION;
	control->header_size = sizeof(*control);
	control->pid = getpid();
	control->parent_pid = getppid();
	clock_pair_take(&pair);
	control->start_ns = pair.ns;
	control->start_ticks = pair.ticks;
	control->clock_kind = clock_kind;
	spool_boot_id(control->boot_id);
	if (getrandom(&control->spool_id, sizeof(control->spool_id), GRND_NONBLOCK) < 0)
		control->spool_id = pair.ticks ^ (uint64_t)control->pid << 40;
	control->spool_id |= !control->spool_id;
}

int spool_open_private(struct spool *spool, struct spool_control *fixed)
{
	struct spool_control *control =
		mmap(fixed, sizeof(*control), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | (fixed ? MAP_FIXED : 0), -1, 0);

	if (control == MAP_FAILED)
		return RTL_ENOMEM;
	memset(spool, 0, sizeof(*spool));
	spool->dir.fd = spool->lock.fd = -1;
	spool->control = control;
	fill_control(control);
	return 0;
}

/* Puts a child's page in the place of its parent's, where the child's other threads look: they find what was
 * recorded so far, until the child's bus knows. NULL with errno. */
static struct spool_control *take_place(struct spool_control *control, struct spool_control *fixed)
{
	const size_t size = sizeof(*control);
	void *there;
	int err;

	for (uint32_t i = 0; i < fixed->stream_count && i < SPOOL_STREAMS_MAX; i++) {
		control->streams[i].pub.struct_size = fixed->streams[i].pub.struct_size;
		control->streams[i].pub.number = fixed->streams[i].pub.number;
		for (uint32_t k = 0; k < sizeof(fixed->streams[i].pub.wanted); k++)
			control->streams[i].pub.wanted[k] =
				fixed->streams[i].pub.wanted[k] & SPOOL_WANT_RECORD;
	}
	there = mremap(control, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, fixed);
	if (there != MAP_FAILED)
		return there;
	err = errno;
	munmap(control, size);
	errno = err;
	return NULL;
}

/* The control page gets its name when it is complete: readers never see half of it. */
static struct spool_control *make_control(struct spool *spool, struct spool_control *fixed)
{
	struct spool_control *control =
		map_file(spool, "control.new", sizeof(*control), sizeof(*control));

	if (control && fixed)
		control = take_place(control, fixed);
	if (!control)
		return NULL;
	fill_control(control);
	kept_fd_set(&spool->lock, openat_high(spool->dir.fd, "control.new", O_RDWR | O_CLOEXEC, 0));
	if (spool->lock.fd >= 0)
		flock(spool->lock.fd, LOCK_EX | LOCK_NB);
	if (!renameat(spool->dir.fd, "control.new", spool->dir.fd, "control"))
		return control;
	if (!fixed)
		munmap(control, sizeof(*control));
	return NULL;
}

/* After errno. */
static int refuse(const char *what, const char *where, char *message, size_t size)
{
	int err = errno;

	snprintf(message, size, "cannot %s %s (%s)", what, where, strerror(err));
	return err == ENOSPC ? RTL_ENOSPC : RTL_EIO;
}

int spool_open_folder(struct spool *spool, const char *base, struct spool_control *fixed,
		      char *message, size_t size)
{
	int err;

	memset(spool, 0, sizeof(*spool));
	spool->dir.fd = spool->lock.fd = -1;
	if (!base || !*base)
		base = spool_default_folder();
	if (make_folder(spool, base))
		return refuse("make a folder in", base, message, size);
	spool->control = make_control(spool, fixed);
	/* what is recorded without names is of no use */
	if (spool->control && spool_grow_dict(spool, DICT_STEP))
		return 0;
	err = refuse("write to", spool->path, message, size);
	spool_remove(spool);
	return err;
}

bool spool_ring_prepare(const struct spool *spool, struct ring_header *ring, uint64_t bytes,
			bool alone)
{
	const struct ring_place place = {ring, ring->index, ring->capacity};
	int dir_fd = spool_dir(spool);
	bool ok = dir_fd >= 0 && ring_prepare(&place, dir_fd, bytes, alone);

	fd_close(dir_fd);
	return ok;
}

/* The dictionary is mapped no further than its file goes, for core dumps and valgrind. Only the bus's lock uses it, so
 * it may move. */
static bool map_dict(struct spool *spool, int fd, size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return false;
	madvise(p, bytes, MADV_DONTFORK);
	if (spool->dict)
		munmap(spool->dict, spool->dict_bytes);
	spool->dict = p;
	spool->dict_bytes = bytes;
	return true;
}

bool spool_grow_dict(struct spool *spool, size_t bytes)
{
	size_t want = spool->dict_bytes ? spool->dict_bytes : DICT_STEP;
	int dir_fd, fd;
	bool ok;

	if (bytes <= spool->dict_bytes)
		return true;
	while (want < bytes)
		want *= 2;
	if (want > SPOOL_DICT_MAX)
		return false;
	dir_fd = spool_dir(spool);
	fd = openat_high(dir_fd, "dict", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	fd_close(dir_fd);
	if (fd < 0)
		return false;
	errno = blocks_reserve(fd, 0, want);
	ok = !errno && map_dict(spool, fd, want);
	close(fd);
	return ok;
}

struct ring_header *spool_ring_create(struct spool *spool, uint32_t index, size_t capacity,
				      uint32_t tid)
{
	struct ring_header *ring;
	char name[32];

	snprintf(name, sizeof(name), "ring-%u", index);
	/* room for the beginning; the rest follows while that is being filled */
	ring = map_file(spool, name, RING_HEADER_SIZE + RING_BEGIN, RING_HEADER_SIZE + capacity);
	if (!ring)
		return NULL;
	madvise(ring, RING_HEADER_SIZE + capacity, MADV_DONTFORK);
	ring->ready = RING_BEGIN;
	ring->magic = RING_MAGIC;
	ring->header_size = RING_HEADER_SIZE;
	ring->capacity = capacity;
	ring->index = index;
	ring->tid = tid;
	ring->state = RING_ACTIVE;
	return ring;
}

struct spool_slots *spool_slots_create(struct spool *spool, uint32_t index, size_t bytes)
{
	char name[32];

	snprintf(name, sizeof(name), SPOOL_SLOTS_NAME, index);
	return map_file(spool, name, SPOOL_SLOTS_HEADER, bytes);
}

bool spool_slots_reserve(const struct spool *spool, uint32_t index, uint64_t from, uint64_t bytes)
{
	int dir_fd = spool_dir(spool), fd = -1, err = -1;
	char name[32];

	snprintf(name, sizeof(name), SPOOL_SLOTS_NAME, index);
	if (dir_fd >= 0 && !bytes)
		err = unlinkat(dir_fd, name, 0);
	else if (dir_fd >= 0)
		fd = openat_high(dir_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
	if (fd >= 0)
		err = blocks_reserve(fd, from, bytes);
	fd_close(fd);
	fd_close(dir_fd);
	return !err;
}

static void remove_files(int dir_fd)
{
	static const char *const marks[] = {"control", SESSION_FILE};
	DIR *dir = fdopendir(dir_fd); /* takes the descriptor */
	struct dirent *entry;

	if (!dir) {
		close(dir_fd);
		return;
	}
	/* First: if we die here, the rest is no spool or collector's folder any more, and says so. Without notes
	 * nobody would know where its events went. */
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (renameat(dirfd(dir), marks[i], dirfd(dir), SPOOL_REMOVED))
			unlinkat(dirfd(dir), marks[i], 0);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, SPOOL_REMOVED) != 0)
			unlinkat(dirfd(dir), entry->d_name, 0);
	unlinkat(dirfd(dir), SPOOL_REMOVED, 0);
	closedir(dir);
}

/* Again where its process, which lives, has made another ring in it meanwhile. */
void spool_remove_folder(const char *path)
{
	for (int i = 0; i < REMOVE_TRIES; i++) {
		int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

		if (fd >= 0)
			remove_files(fd);
		if (!rmdir(path) || (errno != ENOTEMPTY && errno != EEXIST))
			return;
	}
}

void spool_remove_files(struct spool *spool)
{
	if (!spool->has_files)
		return;
	/* relaxed: threads that still publish may look (usable in writer.c) */
	__atomic_store_n(&spool->has_files, false, __ATOMIC_RELAXED);
	spool_remove_folder(spool->path);
}

void spool_remove(struct spool *spool)
{
	spool_remove_files(spool);
	spool_forget(spool);
}

void spool_forget(struct spool *spool)
{
	kept_fd_close(&spool->dir);
	kept_fd_close(&spool->lock);
	spool->has_files = false;
}

/* ---- rings, for whoever writes to one */

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
	fd_close(fd);
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
	/* Existing pages are mapped sixteen at a time by a read, and may be written to. If somebody removed the
	 * file, the mapping goes on. */
	if (ok || errno == ENOENT)
		ok |= !madvise(ring_data(ring) + from, to - from,
			       alone ? MADV_POPULATE_READ : MADV_POPULATE_WRITE);
	if (ok) {
		/* release: with the acquire in writer.c; two at once may do the same work; only thin_ring lowers it */
		while (ready >= from && ready < to &&
		       !__atomic_compare_exchange_n(&ring->ready, &ready, to, false,
						    __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
			;
	}
	errno = err;
	return ok && ready < from ? ring_prepare(place, dir_fd, bytes, alone) : ok;
}
