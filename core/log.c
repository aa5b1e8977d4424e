/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kept_fd.h"

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
	int i;

	for (i = RTL_LEVEL_ERROR; i <= RTL_LEVEL_DEBUG; i++) {
		size_t n = strlen(level_names[i]);

		if (!strncmp(*text, level_names[i], n) && ((*text)[n] == ':' || !(*text)[n])) {
			*text += n + ((*text)[n] == ':');
			return (enum rtl_level)i;
		}
	}
	return 0;
}

void log_init(void)
{
	const char *text = getenv("RTL_LOG");
	enum rtl_level level;
	int fd;

	kept_fd_set(&log_stderr, STDERR_FILENO);
	if (!text || !*text)
		return;
	level = take_level(&text);
	log_level = level ? level : RTL_LEVEL_INFO;
	if (!*text)
		return;
	fd = open(text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
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

void log_vline(enum rtl_level level, const char *who, const char *format, va_list args)
{
	char line[1024];
	int n, m, fd;

	if (level > log_level)
		return;
	n = snprintf(line, sizeof line, "rtl: %s%s%s: ", who, level <= RTL_LEVEL_WARNING ? " " : "",
		     level <= RTL_LEVEL_WARNING ? level_names[level] : "");
	m = vsnprintf(line + n, sizeof line - (size_t)n - 1, format, args);
	if (m < 0)
		return;
	n += m;
	if (n > (int)sizeof line - 2)
		n = sizeof line - 2;
	line[n++] = '\n';
	fd = log_place();
	while (fd >= 0 && write(fd, line, (size_t)n) < 0 && errno == EINTR)
		;
}

void log_line(enum rtl_level level, const char *who, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_vline(level, who, format, args);
	va_end(args);
}
