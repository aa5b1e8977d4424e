/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "thread.h"

#define CUT_MARK "..."

static struct kept_fd log_file = {.fd = -1}; /* of RTL_LOG; else stderr */
static struct kept_fd log_stderr = {.fd = -1};
static enum rtl_level log_level = RTL_LEVEL_WARNING;

static const char *const level_names[] = {
	[RTL_LEVEL_ERROR] = "error",
	[RTL_LEVEL_WARNING] = "warning",
	[RTL_LEVEL_INFO] = "info",
	[RTL_LEVEL_DEBUG] = "debug",
};

/* Takes a level's name off the front of *text; 0 if there is none. */
static enum rtl_level take_level(const char **text)
{
	for (int i = RTL_LEVEL_ERROR; i <= RTL_LEVEL_DEBUG; i++) {
		size_t n = strlen(level_names[i]);

		if (!strncmp(*text, level_names[i], n) && ((*text)[n] == ':' || !(*text)[n])) {
			*text += n + ((*text)[n] == ':');
			return (enum rtl_level)i;
		}
	}
	return 0;
}

/* Whether somebody else may have put that file there, to read what is written. */
static bool is_foreign(int fd, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct stat file, place;
	char folder[PATH_MAX];

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) + 1 : 1,
		 slash ? path : ".");
	if (fstat(fd, &file) || stat(folder, &place))
		return false;
	return (place.st_mode & S_IWOTH) &&
	       ((file.st_uid != geteuid() && file.st_uid != place.st_uid) ||
		(S_ISREG(file.st_mode) && file.st_nlink > 1));
}

/* In a folder that all may write to, somebody else may have put a link there, or a FIFO, at which
 * nobody is to wait. -1 with errno. */
static int open_file(const char *path)
{
	const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	struct stat link;
	int fd = openat_high(AT_FDCWD, path, flags | O_NOFOLLOW, 0666);

	/* one's own link, or the system's, as /dev/stderr */
	if (fd < 0 && errno == ELOOP && !lstat(path, &link) &&
	    (link.st_uid == geteuid() || !link.st_uid))
		fd = openat_high(AT_FDCWD, path, flags, 0666);
	if (fd >= 0 && is_foreign(fd, path)) {
		close(fd);
		errno = EPERM;
		return -1;
	}
	if (fd >= 0)
		(void)fcntl(fd, F_SETFL, O_APPEND); /* no longer O_NONBLOCK */
	return fd;
}

void log_init(void)
{
	const char *text = secure_getenv("RTL_LOG");
	enum rtl_level level;
	int fd;

	kept_fd_set(&log_stderr, STDERR_FILENO);
	log_stderr.fd = STDERR_FILENO; /* whatever comes there, if it is closed, is another file */
	if (!text || !*text)
		return;
	level = take_level(&text);
	log_level = level ? level : RTL_LEVEL_INFO;
	if (!*text)
		return;
	fd = open_file(text);
	if (fd < 0) {
		int err = errno;

		log_line(RTL_LEVEL_ERROR, "log",
			 "cannot write to %s (%s): RTL_LOG names no level and no usable file", text,
			 strerror(err));
		return;
	}
	kept_fd_close(&log_file);
	kept_fd_set(&log_file, fd);
}

/* Where lines go; -1: nowhere. If stderr's number has become a file of the program's own, which is
 * not even for appending, it is no place for us. */
static int log_place(void)
{
	struct stat st;

	if (log_file.fd >= 0)
		return kept_fd_get(&log_file);
	if (log_stderr.fd >= 0 && kept_fd_get(&log_stderr) < 0 && !fstat(STDERR_FILENO, &st) &&
	    S_ISREG(st.st_mode) && !(fcntl(STDERR_FILENO, F_GETFL) & O_APPEND))
		return -1;
	return STDERR_FILENO;
}

/* Where a text in UTF-8 that was cut off at `at` ends with a whole character. */
static char *end_of_character(const char *begin, char *at)
{
	int n = 0, wanted;
	uint8_t lead;

	while (n < 3 && at - n > begin && ((uint8_t)at[-1 - n] & 0xc0) == 0x80)
		n++;
	lead = at - n > begin ? (uint8_t)at[-1 - n] : 0;
	wanted = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
	return wanted > n ? at - n - 1 : at;
}

/* Writes a text so that it stays on its line: control characters as escapes. What does not fit is
 * cut between characters, and that is shown. Returns the end. */
static char *write_text(char *at, const char *end, const char *text, bool cut)
{
	static const char names[] = "abtnvfr"; /* of 7 to 13 */
	const char *begin = at;

	end -= sizeof(CUT_MARK) - 1;
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		char escape[5] = {(char)c};

		if (c >= 7 && c <= 13)
			snprintf(escape, sizeof(escape), "\\%c", names[c - 7]);
		else if (c < 0x20 || c == 0x7f)
			snprintf(escape, sizeof(escape), "\\x%02x", c);
		if (strlen(escape) > (size_t)(end - at)) {
			cut = true;
			break;
		}
		at = stpcpy(at, escape);
	}
	if (!cut)
		return at;
	return stpcpy(end_of_character(begin, at), CUT_MARK);
}

void log_line(enum rtl_level level, const char *who, const char *format, ...)
{
	char text[LOG_TEXT], line[LOG_TEXT + 128], *at;
	struct signals_of_writes signals;
	int length, fd, state;
	va_list args;

	if (level > log_level)
		return;
	va_start(args, format);
	length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (length < 0)
		return;
	at = line + snprintf(line, 128, "rtl: %.80s%s%s: ", who,
			     level <= RTL_LEVEL_WARNING ? " " : "",
			     level <= RTL_LEVEL_WARNING ? level_names[level] : "");
	at = write_text(at, line + sizeof(line) - 2, text, (size_t)length >= sizeof(text));
	*at++ = '\n';
	/* as reserve_slow */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	signals_of_writes_hold(&signals);
	fd = log_place();
	while (fd >= 0 && write(fd, line, (size_t)(at - line)) < 0 && errno == EINTR)
		;
	signals_of_writes_drop(&signals);
	pthread_setcancelstate(state, NULL);
}

static void (*listener)(enum rtl_level level, const char *who, const char *text);

void log_tell(void (*fn)(enum rtl_level level, const char *who, const char *text))
{
	/* release: with the acquire in rtl_log; what it needs is there */
	__atomic_store_n(&listener, fn, __ATOMIC_RELEASE);
}

void rtl_log(enum rtl_level level, const char *who, const char *format, ...)
{
	void (*tell)(enum rtl_level, const char *, const char *) =
		__atomic_load_n(&listener, __ATOMIC_ACQUIRE);
	char text[LOG_TEXT];
	va_list args;

	if (!who || !format)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	log_line(level, who, "%s", text);
	if (tell)
		tell(level, who, text);
}
