/* SPDX-License-Identifier: MIT */
#include "output_place.h"

#include <stdlib.h>
#include <sys/file.h>

/* How often what is at a path may change while it is opened. */
#define OPEN_TRIES 16
/* How many names are tried. */
#define NAME_TRIES 1000

/* To be freed. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
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

/* ---- a subscriber's file ---- */

static int refuse(const struct output_file *file)
{
	return output_fail(file, RTL_EIO,
			   "exists and is not a trace that could be replaced; move it away, or "
			   "choose another file with output=");
}

/* File systems that know no flock go without. */
static int lock_folder(const char *path)
{
	char *folder = folder_of(path);
	int fd = folder ? output_move_fd(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) : -1;

	free(folder);
	if (fd >= 0)
		while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
			;
	return fd > 0 ? fd : 0;
}

/* Suffixes of two parts. */
static const char *suffix_of(const char *base)
{
	const char *dot = strrchr(base, '.');

	if (output_ends_in(base, ".json.gz"))
		return dot - strlen(".json");
	return dot && dot != base ? dot : base + strlen(base);
}

/* NAME-PID.EXT, or NAME-PID-N.EXT from the second try on; to be freed. NULL: out of memory. */
static char *other_name(const char *path, int32_t pid, int attempt)
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

int output_name(struct output_file *file, const char *pattern, const struct output_names *names)
{
	int result = output_expand(pattern, names, &file->path);
	uid_t owner;
	char *real;

	if (result == RTL_EINVAL)
		host_say(file->host, RTL_LEVEL_ERROR, "output=%s: %s", pattern, OUTPUT_NAME_KNOWN);
	if (result != 0)
		return result;
	if (output_is_foreign(file->path, &owner))
		return output_fail(file, RTL_EIO, OUTPUT_FOREIGN, (unsigned)owner);
	real = realpath(file->path, NULL);
	if (real) {
		free(file->path);
		file->path = real;
	}
	file->lock_fd = lock_folder(file->path);
	return 0;
}

/* Takes the first name that is free. */
static int divert(struct output_file *file, enum look found, int32_t pid)
{
	struct stat st;
	char *name;

	for (int i = 1; i < NAME_TRIES; i++) {
		name = other_name(file->path, pid, i);
		if (!name)
			return RTL_ENOMEM;
		if (lstat(name, &st) != 0) {
			output_say(file, RTL_LEVEL_WARNING, "%s; writing to %s",
				   found == LOOK_SESSION ? "holds another process of this session"
							 : "is being written by another process",
				   name);
			free(file->path);
			file->path = name;
			return 0;
		}
		free(name);
	}
	return refuse(file);
}

int output_open_file(const struct output_file *file, int flags)
{
	uid_t owner;
	const int fd = output_open(file->path, flags, &owner);

	if (fd == OUTPUT_NOT_OURS)
		return output_fail(file, RTL_EIO, OUTPUT_FOREIGN, (unsigned)owner);
	if (fd >= 0)
		return fd;
	return output_fail(file, RTL_EIO,
			   "cannot be %s (%s); choose another file with output=, or make the "
			   "folder writable",
			   flags & O_CREAT ? "created" : "opened", strerror(errno));
}

int output_create(struct output_file *file, enum look found, int32_t pid, int flags)
{
	int result = 0;

	if (found == LOOK_FOREIGN)
		return refuse(file);
	if (found == LOOK_SESSION || found == LOOK_LIVE)
		result = divert(file, found, pid);
	else if (found != LOOK_NOTHING)
		output_remove(file);
	return result ? result : output_open_file(file, flags | O_CREAT | O_EXCL);
}

void output_remove(const struct output_file *file)
{
	char *name;

	for (const char *const *suffix = file->beside; *suffix; suffix++) {
		if (asprintf(&name, "%s%s", file->path, *suffix) < 0)
			continue;
		unlink(name);
		free(name);
	}
	unlink(file->path);
}

void output_release(struct output_file *file)
{
	if (file->lock_fd)
		close(file->lock_fd);
	file->lock_fd = 0;
}

void output_fini(struct output_file *file)
{
	output_release(file);
	free(file->path);
	file->path = NULL;
}
