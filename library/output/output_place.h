/* SPDX-License-Identifier: MIT */
/* output_place.h: where an output goes, also if several processes want the same file, and how it is opened.
 * Threads: any. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host.h"
#include "output_name.h"

/** What is at the path of an output. */
enum look {
	LOOK_NOTHING,
	LOOK_OLD,        /**< a trace of rtl's, complete, or an empty file: it may be replaced */
	LOOK_UNFINISHED, /**< one whose writer has died */
	LOOK_SESSION,    /**< one of this session */
	LOOK_LIVE,       /**< one that somebody is writing */
	LOOK_FOREIGN,    /**< something else: hands off */
};

/** Whether somebody else may have put there what is at that path, to reach by it what is the caller's: in a folder that
 * all may write to it belongs neither to the caller nor to the folder's owner, or is a further name of another file.
 * Others cannot put anything in the place of what is the caller's in a folder with the sticky bit, such as /tmp.
 * @param[out] owner whose it is, if so */
bool output_is_foreign(const char *path, uid_t *owner);
/** Opens an output that is to be written: not what somebody else has put there, even between the look and the opening.
 * @param flags      as open(2) has them; O_CLOEXEC is set
 * @param[out] owner whose it is, if it is OUTPUT_NOT_OURS
 * @return a descriptor, OUTPUT_NOT_OURS, or -1 with errno */
int output_open(const char *path, int flags, uid_t *owner);
/** Opens a file to read that somebody else may have put there: follows no link, and waits at no FIFO. NULL with errno. */
static inline FILE *output_read(const char *path, struct stat *st)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	FILE *file = NULL;

	if (fd < 0)
		return NULL;
	errno = EINVAL;
	if (!fstat(fd, st) && S_ISREG(st->st_mode))
		file = fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}
/** Moves a descriptor off the numbers 0 to 2: a program that has closed its stdout prints all the same. */
int output_move_fd(int fd);
#define OUTPUT_NOT_OURS (-2)
/** What output_is_foreign says, of the files that SQLite has beside a database of the caller's; `which`: the suffix of the
 *  first such one. */
bool output_has_foreign_companion(const char *path, const char **which, uid_t *owner);
/** What is wrong then: a format with the owner (unsigned). */
#define OUTPUT_FOREIGN                                                                             \
	"user %u may have put it there, in a folder that all may write to; remove it, or choose "  \
	"another place"

/** The file of a subscriber that is a trace: nothing but a trace is ever replaced, and none that still grows or belongs
 * to the same session. Several processes may choose at the same moment: from output_name to output_release the folder
 * is locked (flock) against others who choose an output there. What is wrong or unusual is said. */
struct output_file {
	const struct rtl_host *host;
	const char *const *beside; /**< suffixes of the files that belong to it; NULL at the end */
	char *path;                /**< NULL: none yet */
	int lock_fd;               /**< the folder; 0: it is not locked */
};

/** Finds the path; a symbolic link stays, what it points to is the output. 0 or an enum rtl_error. */
int output_name(struct output_file *file, const char *pattern, const struct output_names *names);
/** Makes the file, in the place of what may be replaced, or under the first name that is free (NAME-PID.EXT,
 * NAME-PID-N.EXT): then path is that.
 * @param flags as open(2) has them
 * @return a descriptor, or an enum rtl_error */
int output_create(struct output_file *file, enum look found, int32_t pid, int flags);
/** Opens it. A descriptor, or an enum rtl_error. */
int output_open_file(const struct output_file *file, int flags);
/** Removes it, and what is beside it. */
void output_remove(const struct output_file *file);
void output_release(struct output_file *file);
/** Forgets the file. */
void output_fini(struct output_file *file);
/** Says a line that begins with the path. */
#define output_say(file, level, format, ...)                                                       \
	host_say((file)->host, level, "%s: " format, (file)->path, ##__VA_ARGS__)
/** The same of an error, which is its value. */
#define output_fail(file, error, ...) (output_say((file), RTL_LEVEL_ERROR, __VA_ARGS__), (error))
