/* SPDX-License-Identifier: MIT */
#include "session.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "futex.h"
#include "log.h"

static char folder[PATH_MAX];
/* NULL: not joined. Others may cut the file off: what is behind is looked at through the kernel. */
static struct session_page *page;
static char wants[sizeof(page->wants)]; /* what stood there when it was joined */
static int32_t collector_pid;           /* likewise */

int session_join(void)
{
	const char *name = secure_getenv("RTL_COLLECTOR");
	int err, fd;

	if (!name || !*name)
		return RTL_ENOENT;
	snprintf(folder, sizeof(folder), "%s", name);
	err = session_join_page("RTL_COLLECTOR", name, &page, &fd);
	if (err)
		return err == RTL_ENOENT ? RTL_ENOTSUP : err;
	if (pread(fd, wants, sizeof(wants), offsetof(struct session_page, wants)) !=
		    sizeof(wants) ||
	    pread(fd, &collector_pid, sizeof(collector_pid), offsetof(struct session_page, pid)) !=
		    sizeof(collector_pid)) {
		log_line(RTL_LEVEL_ERROR, "bus",
			 "RTL_COLLECTOR=%s was cut off: nothing is recorded", name);
		session_leave();
		err = RTL_EABI;
	}
	close(fd);
	return err;
}

void session_leave(void)
{
	if (page)
		munmap(page, sizeof(*page));
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

bool session_is_alive(void)
{
	return page && session_folder_is_alive(folder);
}

int session_look_error(void)
{
	int fd = page ? session_open_page(folder) : -1;

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

bool session_is_outside(void)
{
	return page && futex_is(&page->outside, 1);
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
	const char *line = wants, *last = line + sizeof(wants), *end;
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
