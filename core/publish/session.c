/* SPDX-License-Identifier: MIT */
#include "parts.h"

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

#include "bus.h"
#include "futex.h"
#include "log.h"

static char folder[PATH_MAX];
/* NULL: not joined. Others may cut the file off: what is behind is looked at through the kernel. */
static struct session_page *page;
static char wants[sizeof(page->wants) + 1]; /* what stood there when it was joined, terminated */
static int32_t collector_pid;               /* likewise */
static bool is_own; /* this process has made the folder; collectors come and go */

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
	if (pread(fd, wants, sizeof(page->wants), offsetof(struct session_page, wants)) !=
		    sizeof(page->wants) ||
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

int session_make(const char *base)
{
	char absolute[PATH_MAX - 64]; /* the program may change its working directory */
	int fd = -1;

	base = base && *base ? base : spool_default_folder();
	if (strlen(base) < sizeof(absolute) && realpath(base, folder) &&
	    strlen(folder) < sizeof(absolute)) {
		strcpy(absolute, folder);
		snprintf(folder, sizeof(folder), "%s/" RTL_SLEEPER_PREFIX "%d-XXXXXX", absolute,
			 (int)getpid());
		fd = mkdtemp(folder) ? session_make_page(folder, &page) : -1;
	}
	if (fd < 0) {
		log_line(RTL_LEVEL_ERROR, "bus",
			 "cannot make a folder in %s (%s): `rtl attach` will not find this "
			 "process; name another folder with RTL_SPOOL",
			 base, strerror(errno));
		return RTL_EIO;
	}
	close(fd);
	page->paused = 1;
	*wants = '\0';
	collector_pid = 0;
	is_own = true;
	return 0;
}

bool session_is_own(void)
{
	return is_own;
}

/* Locks the page of our own folder, as collectors do: -1: one is there, or the page is gone. To be closed. */
static int lock_own(void)
{
	int fd = session_open_page(folder);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void session_remove_own(void)
{
	int fd = is_own ? lock_own() : -1;

	if (fd < 0)
		return;
	spool_remove_files(&bus.spool);
	spool_remove_folder(folder);
	close(fd);
}

void session_leave(void)
{
	if (page)
		munmap(page, sizeof(*page));
	page = NULL;
	is_own = false;
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

/* The page may have been damaged: a type that is not found where it should be is not wanted. */
bool session_wants(const char *stream, uint16_t type)
{
	const size_t length = strlen(stream);
	const char *at = wants;
	char *end;

	/* the collector sees the same word, and tells us when it changes */
	if (futex_is(&page->paused, 1))
		return false;
	while (*at && (strncmp(at, stream, length) != 0 || !strchr(" \n", at[length]))) {
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	if (!*at)
		return true;
	for (at += length; *at == ' '; at = end) /* numbers, each behind a blank */
		if (strtoul(at + 1, &end, 10) == type)
			return true;
	return false;
}

/* ---- its fate */

/* Whether the collector's folder exists where the program, with another root, cannot see it. */
static bool is_out_of_sight(void)
{
	int fd = kept_fd_get(&bus.spool.dir);
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_nlink > 0;
}

/* What has become of the collector. */
enum fate { FATE_SERVES, FATE_ENDED, FATE_REMOVED, FATE_OUT_OF_REACH, FATE_DIED };

static uint32_t fate; /* relaxed: nothing else depends on it */

static enum fate look_for_fate(int *err)
{
	int fd = page ? session_open_page(folder) : -1;

	*err = fd >= 0 ? 0 : page ? errno : ENOENT; /* why it cannot be asked */
	if (fd >= 0)
		close(fd);
	if (session_has_ended()) /* it has told its user that we still run */
		return FATE_ENDED;
	if (!*err)
		return FATE_DIED;
	return *err == ENOENT && !is_out_of_sight() ? FATE_REMOVED : FATE_OUT_OF_REACH;
}

static void say_fate(enum fate now, int err)
{
	static const char *const texts[] = {
		[FATE_ENDED] = "the collector has ended, and recording with it",
		[FATE_REMOVED] = "the collector's folder %s was removed: recording has ended",
		[FATE_OUT_OF_REACH] = "the collector's folder %s cannot be reached (%s): events "
				      "that find no room are discarded and counted",
		[FATE_DIED] = "the collector is gone: recording goes on until RTL_BUFFER_TOTAL is "
			      "used up, then events are discarded and counted; `rtl recover %s` "
			      "completes the trace",
	};

	log_line(now == FATE_ENDED ? RTL_LEVEL_INFO : RTL_LEVEL_WARNING, "bus", texts[now],
		 session_folder(), strerror(err));
}

/* Of a collector that had attached itself: the process sleeps again. Meanwhile no other one comes. */
static void sleep_again(void)
{
	const uint32_t paused = 1;
	int fd = lock_own();

	if (fd < 0)
		return;
	bus_stop_publishing();
	(void)!pwrite(fd, &paused, sizeof(paused), offsetof(struct session_page, paused));
	close(fd);
}

void fate_look(void)
{
	static uint32_t said; /* bits; relaxed, as fate; also for the children */
	int err;
	enum fate now = look_for_fate(&err);

	if (is_own && now == FATE_DIED) {
		sleep_again();
		return;
	}

	if (now == FATE_ENDED || now == FATE_REMOVED)
		bus_stop_publishing();
	__atomic_store_n(&fate, now, __ATOMIC_RELAXED);
	if (!(__atomic_fetch_or(&said, 1u << now, __ATOMIC_RELAXED) & 1u << now))
		say_fate(now, err);
}

bool fate_collector_died(void)
{
	return __atomic_load_n(&fate, __ATOMIC_RELAXED) == FATE_DIED;
}

bool fate_is_lost(void)
{
	const uint32_t now = __atomic_load_n(&fate, __ATOMIC_RELAXED);

	return now == FATE_DIED || (now == FATE_OUT_OF_REACH && !session_has_ended());
}

void fate_forget(void)
{
	__atomic_store_n(&fate, FATE_SERVES, __ATOMIC_RELAXED);
}
