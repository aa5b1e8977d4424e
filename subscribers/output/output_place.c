/* SPDX-License-Identifier: MIT */
/* See output_place.h. */
#include "output_place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

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

int output_lock_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	free(folder);
	if (fd >= 0)
		while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
			;
	return fd;
}
