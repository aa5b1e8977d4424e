/* SPDX-License-Identifier: MIT */
/* See machine.h. Control groups: cgroups(7), Documentation/admin-guide/cgroup-v2.rst of Linux. */
#include "machine.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "read_text.h"

/* "max", or what no machine has, is no limit. */
static uint64_t limit_in(const char *folder, const char *file)
{
	char path[PATH_MAX], text[32];
	uint64_t limit;

	if (snprintf(path, sizeof(path), "%s/%s", folder, file) >= (int)sizeof(path) ||
	    read_text(path, text, sizeof(text)) < 0)
		return UINT64_MAX;
	limit = strtoull(text, NULL, 10);
	return limit ? limit : UINT64_MAX;
}

/* The least of the group's and all that it lies in, up to `root`. */
static uint64_t least_limit(const char *root, const char *group, const char *file)
{
	uint64_t least = UINT64_MAX, limit;
	char path[PATH_MAX], *end;
	size_t top = strlen(root);

	if (snprintf(path, sizeof(path), "%s%s", root, group) >= (int)sizeof(path))
		return least;
	for (;;) {
		limit = limit_in(path, file);
		least = limit < least ? limit : least;
		end = strrchr(path, '/');
		if (!end || (size_t)(end - path) < top)
			return least;
		*end = '\0';
	}
}

/* A line is "NUMBER:CONTROLLERS:PATH", of version 2 "0::PATH". */
static uint64_t limit_of_line(const char *line, const char *root)
{
	const char *controllers = strchr(line, ':'), *group;
	char memory[PATH_MAX];

	group = controllers ? strchr(++controllers, ':') : NULL;
	if (!group)
		return UINT64_MAX;
	if (controllers == group)
		return least_limit(root, group + 1, "memory.max");
	if (strncmp(controllers, "memory:", strlen("memory:")) != 0)
		return UINT64_MAX;
	snprintf(memory, sizeof(memory), "%s/memory", root);
	return least_limit(memory, group + 1, "memory.limit_in_bytes");
}

uint64_t machine_memory_of(const char *groups, const char *root)
{
	const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t least = pages > 0 ? (uint64_t)pages * (uint64_t)page : 0, limit;
	char text[4096], *line, *rest = text;

	if (read_text(groups, text, sizeof(text)) < 0)
		return least;
	while ((line = strsep(&rest, "\n"))) {
		limit = limit_of_line(line, root);
		least = limit < least ? limit : least;
	}
	return least;
}

uint64_t machine_memory(void)
{
	return machine_memory_of("/proc/self/cgroup", "/sys/fs/cgroup");
}
