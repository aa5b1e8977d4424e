/* SPDX-License-Identifier: MIT */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "futex.h"
#include "log.h"

static char folder[PATH_MAX];
/* NULL: not joined. Others may cut the file off: what is behind is looked at through the kernel. */
static struct session_page *page;
static char wants[sizeof page->wants]; /* what stood there when it was joined */
static int32_t collector_pid;          /* likewise */

static int open_page(const char *name)
{
	char path[PATH_MAX + sizeof SESSION_FILE + 1];

	snprintf(path, sizeof path, "%.*s/" SESSION_FILE, PATH_MAX - 1, name);
	/* no link, and no waiting at a FIFO: somebody else may have made the folder */
	return open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

static int map_page(int fd, struct session_page **out)
{
	struct session_page *p;
	struct {
		char magic[sizeof p->magic];
		uint32_t version;
	} begin;
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (size_t)st.st_size < sizeof *p ||
	    pread(fd, &begin, sizeof begin, 0) != sizeof begin ||
	    memcmp(begin.magic, SESSION_MAGIC, sizeof begin.magic) != 0 ||
	    begin.version != SESSION_VERSION)
		return RTL_EABI;
	p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return RTL_ENOMEM;
	*out = p;
	return 0;
}

/* With a copy of what is wanted, if `text` is not NULL. */
static int map_and_read(const char *name, struct session_page **out, char *text)
{
	int fd = open_page(name), err;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? RTL_ENOENT : RTL_EIO;
	err = map_page(fd, out);
	if (!err && text &&
	    (pread(fd, text, sizeof wants, offsetof(struct session_page, wants)) != sizeof wants ||
	     pread(fd, &collector_pid, sizeof collector_pid, offsetof(struct session_page, pid)) !=
		     sizeof collector_pid)) {
		munmap(*out, sizeof **out);
		*out = NULL;
		err = RTL_EABI;
	}
	close(fd);
	return err;
}

int session_map(const char *name, struct session_page **out)
{
	return map_and_read(name, out, NULL);
}

int session_join(void)
{
	const char *name = secure_getenv("RTL_COLLECTOR");
	int err;

	if (!name || !*name)
		return RTL_ENOENT;
	snprintf(folder, sizeof folder, "%s", name);
	err = map_and_read(name, &page, wants);
	if (err == RTL_ENOENT) { /* a program that outlives `rtl trace`: not its fault */
		log_line(RTL_LEVEL_INFO, "bus",
			 "no collector at RTL_COLLECTOR=%s: nothing is recorded", name);
		return RTL_ENOTSUP;
	}
	if (err)
		log_line(RTL_LEVEL_ERROR, "bus",
			 "RTL_COLLECTOR=%s cannot be used (%s): nothing is recorded; unset it, or "
			 "start the program with `rtl trace`",
			 name, rtl_error_text(err));
	return err;
}

void session_leave(void)
{
	if (page)
		munmap(page, sizeof *page);
	page = NULL;
}

const char *session_folder(void)
{
	return page ? folder : NULL;
}

uint32_t *session_bell(void)
{
	return page ? &page->asleep : NULL;
}

bool session_folder_is_alive(const char *name)
{
	int err = errno, fd = open_page(name);
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

bool session_is_alive(void)
{
	return page && session_folder_is_alive(folder);
}

int session_look_error(void)
{
	int fd = page ? open_page(folder) : -1;

	if (fd < 0)
		return page ? errno : ENOENT;
	close(fd);
	return 0;
}

int session_pid(void)
{
	return page ? collector_pid : 0;
}

bool session_has_ended(void)
{
	return page && futex_is(&page->ended, 1);
}

void session_count_refused(void)
{
	if (page)
		futex_add(&page->refused, 1);
}

void session_end(const char *name)
{
	struct session_page *p;

	if (session_map(name, &p))
		return;
	__atomic_store_n(&p->ended, 1, __ATOMIC_RELEASE);
	munmap(p, sizeof *p);
}

/* Whether `type` stands in a line's rest: numbers, each behind a blank. */
static bool names_type(const char *at, const char *end, uint16_t type)
{
	while (at < end && *at == ' ') {
		uint32_t n = 0;

		for (at++; at < end && *at >= '0' && *at <= '9'; at++)
			n = n > UINT16_MAX ? n : n * 10 + (uint32_t)(*at - '0');
		if (n == type)
			return true;
	}
	return false;
}

/* The page may have been damaged: nothing behind `wants` is looked at. */
bool session_wants(const char *stream, uint16_t type)
{
	const char *line = wants, *last = line + sizeof wants, *end;
	size_t length = strlen(stream);

	/* the collector sees the same word, and tells us when it changes */
	if (futex_is(&page->paused, 1))
		return false;
	for (; line < last && *line; line = end + 1) {
		for (end = line; end < last && *end && *end != '\n'; end++)
			;
		if ((size_t)(end - line) >= length && !memcmp(line, stream, length) &&
		    (line + length == end || line[length] == ' '))
			return names_type(line + length, end, type);
		if (end == last || !*end)
			break;
	}
	return true;
}
