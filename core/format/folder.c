/* SPDX-License-Identifier: MIT */
#include "folder.h"

#include <dirent.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>

#include "catalog.h"
#include "futex.h"
#include "log.h"
#include "spool_files.h"
#include "spool_writer.h"

/* Of the struct, in the first version. */
#define FIRST_SIZE offsetof(struct rtl_folder, program)

/* Bytes of a dictionary that hold its first entry, the process's own, with texts of a path's or page's length. */
#define DICT_START 65536

/* Whether nobody holds the lock that a process has on its spool as long as it lives. */
static bool is_unlocked(int dir_fd)
{
	int fd = openat(dir_fd, "control", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool unlocked = fd >= 0 && !flock(fd, LOCK_SH | LOCK_NB);

	fd_close(fd);
	return unlocked;
}

/* Whether the first thread of a process ends or has ended. That with the lock gone, the process has given up its memory
 * and files, although the kernel may need a while for the rest, and its parent to ask. */
static bool is_exiting(int pid)
{
	char path[64], text[1024];
	const char *at;
	unsigned flags = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	(void)read_text(path, text, sizeof(text));
	at = strrchr(text, ')'); /* proc(5): flags is field 9; PF_EXITING */
	return at && sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) == 1 && flags & 4;
}

/* Whether it cannot be found; that it can says little, numbers are used again. */
static bool is_dead(int pid)
{
	return (kill(pid, 0) && errno == ESRCH) || is_exiting(pid);
}

bool folder_process_is_gone(int dir_fd, int pid)
{
	return is_unlocked(dir_fd) && is_dead(pid);
}

/* What the process has said of itself: first in the dictionary, however long that is by now. */
static void find_program(const struct spool_files *files, struct rtl_folder *folder)
{
	struct catalog catalog = {0};
	uint64_t length = __atomic_load_n(&files->control->dict_length, __ATOMIC_ACQUIRE);
	int fd = openat(files->dir_fd, "dict", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	uint64_t *start = fd < 0 ? NULL : malloc(DICT_START);
	ssize_t n = start ? pread(fd, start, DICT_START, 0) : -1;
	const char *program;

	if (n > 0)
		catalog_read(&catalog, (uint8_t *)start,
			     (uint64_t)n < length ? (uint64_t)n : length);
	program = catalog.process.program;
	if (program)
		snprintf(folder->program, sizeof(folder->program), "%s",
			 strrchr(program, '/') ? strrchr(program, '/') + 1 : program);
	catalog_fini(&catalog);
	free(start);
	fd_close(fd);
}

static int look_at_spool(const char *path, struct rtl_folder *folder)
{
	struct spool_files files;
	const char *why;
	int err = spool_files_open(&files, path, false, &why);

	if (err)
		return err;
	folder->kind = RTL_FOLDER_SPOOL;
	folder->pid = files.control->pid;
	folder->in_use = !__atomic_load_n(&files.control->finished, __ATOMIC_RELAXED) &&
			 !folder_process_is_gone(files.dir_fd, files.control->pid);
	find_program(&files, folder);
	spool_files_close(&files);
	return 0;
}

static int look_at_session(const char *path, struct rtl_folder *folder)
{
	struct session_page *page;
	int err = session_map(path, &page);

	if (err)
		return err == RTL_EABI ? RTL_EFORMAT : err;
	folder->kind = RTL_FOLDER_COLLECTOR;
	folder->pid = page->pid;
	folder->in_use = session_folder_is_alive(path);
	folder->paused = __atomic_load_n(&page->paused, __ATOMIC_RELAXED) != 0;
	folder->refused = __atomic_load_n(&page->refused, __ATOMIC_RELAXED);
	munmap(page, sizeof(*page));
	return 0;
}

bool folder_has(const char *path, const char *name, int flags)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC | flags);
	bool yes = fd >= 0 && !faccessat(fd, name, F_OK, AT_SYMLINK_NOFOLLOW);

	fd_close(fd);
	return yes;
}

int folder_each_spool(const char *folder, void (*fn)(void *user, const char *path), void *user)
{
	DIR *dir = opendir(folder);
	char path[2 * PATH_MAX];
	struct dirent *entry;

	if (!dir)
		return errno;
	while ((entry = readdir(dir)))
		if (!strncmp(entry->d_name, SPOOL_PREFIX, sizeof(SPOOL_PREFIX) - 1)) {
			snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
			fn(user, path);
		}
	closedir(dir);
	return 0;
}

/* The process that a folder is named after: rtl-PID-XXXXXX, rtl-spool-PID-XXXXXX; 0: none. */
static pid_t pid_of(const char *path)
{
	char copy[PATH_MAX];
	int pid = 0, end = 0;
	const char *name;

	snprintf(copy, sizeof(copy), "%s", path);
	name = basename(copy);
	if (sscanf(name, SPOOL_PREFIX "%d-%*6[^/]%n", &pid, &end) != 1)
		(void)sscanf(name, RTL_COLLECTOR_PREFIX "%d-%*6[^/]%n", &pid, &end);
	return pid > 0 && end && !name[end] ? pid : 0;
}

bool folder_holds_no_events(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool removed = false, others = !dir;
	struct stat st;

	while (dir && (entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		removed |= !strcmp(entry->d_name, SPOOL_REMOVED);
		others |= !strncmp(entry->d_name, "ring-", 5) ||
			  !strncmp(entry->d_name, "segment-", 8) ||
			  fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
			  !S_ISREG(st.st_mode);
	}
	if (dir)
		closedir(dir);
	return removed || !others;
}

/* Whether its maker was killed before it was complete, or while it was removed. */
static bool is_debris(const char *path)
{
	pid_t pid = pid_of(path);

	return pid && is_dead(pid) && folder_holds_no_events(path);
}

bool folder_is_done(const char *path, bool untold)
{
	bool page = false, others = false;
	DIR *dir = opendir(path);
	struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;

		page |= !strcmp(name, SESSION_FILE);
		others |= strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
			  strcmp(name, SESSION_FILE) != 0 &&
			  (untold || strcmp(name, RTL_COLLECTOR_TOLD) != 0) &&
			  (strcmp(name, RTL_COLLECTOR_NOTES) != 0 ||
			   (untold && (fstatat(dirfd(dir), name, &st, AT_SYMLINK_NOFOLLOW) ||
				       !S_ISREG(st.st_mode) || st.st_size)));
	}
	if (dir)
		closedir(dir);
	return page && !others;
}

int rtl_folder_look(const char *path, struct rtl_folder *folder)
{
	struct rtl_folder found = {.struct_size = sizeof(found)};
	struct stat st;
	int err = 0;

	if (!path || !folder || folder->struct_size < FIRST_SIZE)
		return RTL_EINVAL;
	if (stat(path, &st))
		return errno == ENOENT || errno == ENOTDIR ? RTL_ENOENT : RTL_EIO;
	if (S_ISDIR(st.st_mode) && folder_has(path, "control", 0))
		err = look_at_spool(path, &found);
	else if (S_ISDIR(st.st_mode) && folder_has(path, SESSION_FILE, 0))
		err = look_at_session(path, &found);
	if ((((!err || err == RTL_EFORMAT) && found.kind == RTL_FOLDER_OTHER) ||
	     (found.kind == RTL_FOLDER_COLLECTOR && !found.in_use && folder_is_done(path, true))) &&
	    is_debris(path)) {
		found.kind = RTL_FOLDER_DEBRIS;
		err = 0;
	}
	if (err)
		return err;
	found.struct_size = folder->struct_size;
	memcpy(folder, &found,
	       found.struct_size < sizeof(found) ? found.struct_size : sizeof(found));
	return 0;
}

/* ---- the page of a collector */

int session_make_page(const char *folder, struct session_page **out)
{
	char path[PATH_MAX];
	struct session_page *p;
	int fd;

	*out = NULL;
	snprintf(path, sizeof(path), "%s/" SESSION_FILE, folder);
	fd = openat_high(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	errno = blocks_reserve(fd, 0, sizeof(*p));
	p = errno ? MAP_FAILED : mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		close(fd);
		return -1;
	}
	memcpy(p->magic, SESSION_MAGIC, sizeof(p->magic));
	p->version = SESSION_VERSION;
	*out = p;
	return fd;
}

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
		log_line(RTL_LEVEL_INFO, "bus", "%s=%s does not exist: nothing is recorded",
			 variable, name);
	else if (err && owner != geteuid())
		log_line(RTL_LEVEL_ERROR, "bus",
			 "%s=%s belongs to user %u, not to the user of this program: nothing is "
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
