/* SPDX-License-Identifier: MIT */
#include "writer.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static void note_if_same(struct descriptors *d, int fd, const struct stat *wanted)
{
	struct stat st;

	if (d->count == DESCRIPTORS_MAX || fstat(fd, &st) || st.st_dev != wanted->st_dev ||
	    st.st_ino != wanted->st_ino)
		return;
	d->list[d->count].fd = fd;
	d->list[d->count].device = st.st_dev;
	d->list[d->count].inode = st.st_ino;
	d->count++;
}

static void find_file(struct descriptors *d, const char *path)
{
	struct dirent *entry;
	struct stat wanted;
	DIR *dir;

	if (stat(path, &wanted))
		return;
	dir = opendir("/proc/self/fd");
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			note_if_same(d, atoi(entry->d_name), &wanted);
	if (dir)
		closedir(dir);
}

void descriptors_find(struct descriptors *d, const char *path)
{
	char log[PATH_MAX + 8];

	d->count = 0;
	snprintf(log, sizeof(log), "%s-wal", path);
	find_file(d, path);
	find_file(d, log);
}

bool descriptors_are_ours(const struct descriptors *d)
{
	struct stat st;

	for (size_t i = 0; i < d->count; i++)
		if (fstat(d->list[i].fd, &st) || st.st_dev != d->list[i].device ||
		    st.st_ino != d->list[i].inode)
			return false;
	return true;
}
