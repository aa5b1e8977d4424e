/* SPDX-License-Identifier: MIT */
#include "session_page.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "futex.h"
#include "log.h"

int session_open_page(const char *name)
{
	char path[PATH_MAX + sizeof(SESSION_FILE) + 1];

	snprintf(path, sizeof(path), "%.*s/" SESSION_FILE, PATH_MAX - 1, name);
	/* no link, and no waiting at a FIFO: somebody else may have made the folder */
	return openat_high(AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
}

static int open_page(const char *name, int *fd)
{
	*fd = session_open_page(name);
	if (*fd >= 0)
		return 0;
	return errno == ENOENT || errno == ENOTDIR ? RTL_ENOENT : RTL_EIO;
}

static int open_own_page(const char *name, int *fd, uid_t *owner)
{
	struct stat folder, file;
	int err = open_page(name, fd);

	*owner = geteuid();
	if (err)
		return err;
	if (!stat(name, &folder) && !fstat(*fd, &file)) {
		*owner = folder.st_uid != geteuid() ? folder.st_uid : file.st_uid;
		if (*owner == geteuid())
			return 0;
	}
	close(*fd);
	return RTL_EIO;
}

static int map_page(int fd, struct session_page **out)
{
	struct session_page *p;
	struct {
		char magic[sizeof(p->magic)];
		uint32_t version;
	} begin;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (size_t)st.st_size < sizeof(*p) ||
	    pread(fd, &begin, sizeof(begin), 0) != sizeof(begin) ||
	    memcmp(begin.magic, SESSION_MAGIC, sizeof(begin.magic)) != 0 ||
	    begin.version != SESSION_VERSION)
		return RTL_EABI;
	p = mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return RTL_ENOMEM;
	*out = p;
	return 0;
}

int session_join_page(const char *variable, const char *name, struct session_page **out, int *fd)
{
	uid_t owner;
	int err = open_own_page(name, fd, &owner);

	if (!err && (err = map_page(*fd, out)))
		close(*fd);
	if (err == RTL_ENOENT) /* a program that outlives `rtl trace`: not its fault */
		log_line(RTL_LEVEL_INFO, "bus", "nothing is at %s=%s: nothing is recorded",
			 variable, name);
	else if (err && owner != geteuid())
		log_line(RTL_LEVEL_ERROR, "bus",
			 "%s=%s belongs to user %u, not to who runs this program: nothing is "
			 "recorded; unset it, or start the program with `rtl trace`",
			 variable, name, (unsigned)owner);
	else if (err)
		log_line(RTL_LEVEL_ERROR, "bus",
			 "%s=%s cannot be used (%s): nothing is recorded; unset it, or start the "
			 "program with `rtl trace`",
			 variable, name, rtl_error_text(err));
	return err;
}

int session_map(const char *name, struct session_page **out)
{
	int fd, err = open_page(name, &fd);

	if (err)
		return err;
	err = map_page(fd, out);
	close(fd);
	return err;
}

void session_ring(struct session_page *page)
{
	/* seq_cst: with its store before the collector sleeps */
	if (__atomic_exchange_n(&page->asleep, 0, __ATOMIC_SEQ_CST))
		futex_wake(&page->asleep);
}

bool session_folder_is_alive(const char *name)
{
	int err = errno, fd = session_open_page(name);
	bool alive;

	if (fd < 0) {
		errno = err;
		return false;
	}
	alive = flock(fd, LOCK_SH | LOCK_NB) != 0; /* it holds the lock */
	close(fd);
	errno = err;
	return alive;
}

void session_end(const char *name)
{
	struct session_page *p;

	if (session_map(name, &p))
		return;
	__atomic_store_n(&p->ended, 1, __ATOMIC_RELEASE);
	munmap(p, sizeof(*p));
}
