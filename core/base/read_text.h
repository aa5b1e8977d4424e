/* SPDX-License-Identifier: MIT */
#ifndef RTL_CORE_READ_TEXT_H
#define RTL_CORE_READ_TEXT_H

#include <fcntl.h>
#include <unistd.h>

/* The beginning of a small file, terminated. Its length; -1: it cannot be read, the text is empty. No stdio:
 * this is in a program's process, maybe before its main. */
static inline ssize_t read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	text[length < 0 ? 0 : length] = '\0';
	return length;
}

#endif
