/* SPDX-License-Identifier: MIT */
/* See output_place.h. */
#include "output_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* How often what is at a path may change while it is opened. */
#define OPEN_TRIES 16

/* Suffixes of two parts. */
static const char *suffix_of(const char *base)
{
	const size_t length = strlen(base);
	const char *dot = strrchr(base, '.');

	if (length > 8 && strcmp(base + length - 8, ".json.gz") == 0)
		return base + length - 8;
	return dot && dot != base ? dot : base + length;
}

char *output_other_name(const char *path, int32_t pid, int attempt)
{
	const char *slash = strrchr(path, '/');
	const char *suffix = suffix_of(slash ? slash + 1 : path);
	char number[16] = "", *out;

	if (attempt > 1)
		snprintf(number, sizeof(number), "-%d", attempt);
	return asprintf(&out, "%.*s-%d%s%s", (int)(suffix - path), path, pid, number, suffix) < 0
		       ? NULL
		       : out;
}

/* To be freed. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
}

int output_lock_folder(const char *path)
{
	char *folder = folder_of(path);
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	free(folder);
	if (fd >= 0)
		while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
			;
	return fd;
}

/* Whether all may write to the folder of a path; what it is. */
static bool is_shared(const char *path, struct stat *place)
{
	char *folder = folder_of(path);
	const bool is = folder && !stat(folder, place) && (place->st_mode & S_IWOTH);

	free(folder);
	return is;
}

/* `known`: whose files are the caller's, too. */
static bool is_foreign(const char *path, uid_t known, uid_t *owner)
{
	struct stat place, it;

	if (!is_shared(path, &place) || lstat(path, &it))
		return false;
	*owner = it.st_uid;
	if (it.st_uid != geteuid() && it.st_uid != known && it.st_uid != place.st_uid)
		return true;
	return S_ISREG(it.st_mode) && it.st_nlink > 1;
}

bool output_is_foreign(const char *path, uid_t *owner)
{
	return is_foreign(path, geteuid(), owner);
}

/* Of what a look has found: to be opened only if it is there still. -1 with ESTALE: it is not. */
static int open_found(const char *path, int flags, const struct stat *found)
{
	const int fd = open(path, (flags & ~O_TRUNC) | O_NOFOLLOW);
	struct stat it;

	if (fd < 0) {
		errno = errno == ENOENT || errno == ELOOP ? ESTALE : errno;
		return -1;
	}
	if (!fstat(fd, &it) && it.st_dev == found->st_dev && it.st_ino == found->st_ino &&
	    (!(flags & O_TRUNC) || !S_ISREG(it.st_mode) || !ftruncate(fd, 0)))
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

static int open_place(const char *path, int flags, uid_t *owner)
{
	struct stat place, it;
	int fd = -1;

	flags |= O_CLOEXEC;
	if (!is_shared(path, &place))
		return open(path, flags, 0666);
	for (int i = 0; i < OPEN_TRIES && fd < 0; i++) {
		if (output_is_foreign(path, owner))
			return OUTPUT_NOT_OURS;
		if (flags & O_EXCL) /* it follows no link, whenever that comes */
			return open(path, flags, 0666);
		if (lstat(path, &it))
			fd = open(path, flags & O_CREAT ? flags | O_EXCL : flags | O_NOFOLLOW,
				  0666);
		else if (S_ISLNK(it.st_mode)) /* the caller's */
			return open(path, flags, 0666);
		else
			fd = open_found(path, flags & ~O_CREAT, &it);
		if (fd < 0 && errno != EEXIST && errno != ESTALE)
			return fd;
	}
	return fd;
}

int output_move_fd(int fd)
{
	int moved;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	return moved;
}

int output_open(const char *path, int flags, uid_t *owner)
{
	return output_move_fd(open_place(path, flags, owner));
}

bool output_has_foreign_companion(const char *path, const char **which, uid_t *owner)
{
	static const char *const suffixes[] = {"-wal", "-shm", "-journal"};
	struct stat it = {.st_uid = geteuid()};
	bool found = false;
	char *name;

	(void)lstat(path, &it); /* a server may have given it to somebody else */
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes) && !found; i++) {
		if (asprintf(&name, "%s%s", path, suffixes[i]) < 0)
			break;
		found = is_foreign(name, it.st_uid, owner);
		if (found)
			*which = suffixes[i];
		free(name);
	}
	return found;
}
