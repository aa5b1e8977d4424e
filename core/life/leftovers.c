/* SPDX-License-Identifier: MIT */
#include "leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rtl/collector.h>

#include "log.h"
#include "spool_writer.h"

#define TOLD "told" /* a file in a spool: it has been mentioned */

/* Whether the process that made a folder of that name cannot be found: quick, and true of none that
 * lives here. */
static bool seems_dead(const char *name)
{
	long pid = strncmp(name, SPOOL_PREFIX, sizeof SPOOL_PREFIX - 1)
			   ? 0
			   : strtol(name + sizeof SPOOL_PREFIX - 1, NULL, 10);

	return pid > 0 && pid <= INT_MAX && kill((pid_t)pid, 0) && errno == ESRCH;
}

static bool is_leftover(const char *path)
{
	struct rtl_folder is = {.struct_size = sizeof is};
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !rtl_folder_look(path, &is) && is.kind == RTL_FOLDER_SPOOL && !is.in_use;
}

/* Whether we are the first. */
static bool mark(const char *path)
{
	char file[PATH_MAX + sizeof TOLD];
	int fd;

	snprintf(file, sizeof file, "%s/" TOLD, path);
	fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void leftovers_mention(const char *own_spool)
{
	const char *slash = strrchr(own_spool, '/');
	char base[PATH_MAX], path[PATH_MAX];
	struct dirent *entry;
	unsigned found = 0;
	DIR *dir;
	int n;

	snprintf(base, sizeof base, "%.*s", (int)(slash - own_spool), own_spool);
	dir = opendir(base);
	while (dir && (entry = readdir(dir))) {
		if (!seems_dead(entry->d_name))
			continue;
		n = snprintf(path, sizeof path, "%s/%s", base, entry->d_name);
		if (n < (int)sizeof path && is_leftover(path))
			found += mark(path);
	}
	if (dir)
		closedir(dir);
	if (found)
		log_line(RTL_LEVEL_WARNING, "spool",
			 "%u process%s killed and left events in %s: `rtl recover` lists them",
			 found, found > 1 ? "es were" : " was", base);
}
