/* SPDX-License-Identifier: MIT */
#include "life.h"

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

#include "folder.h"
#include "log.h"
#include "spool_writer.h"

/* Whether the process that made a folder cannot be found: quick, and true of none that lives here. */
static bool seems_dead(const char *path)
{
	long pid = strtol(strrchr(path, '/') + sizeof(SPOOL_PREFIX), NULL, 10);

	return pid > 0 && pid <= INT_MAX && kill((pid_t)pid, 0) && errno == ESRCH;
}

static bool is_leftover(const char *path)
{
	struct rtl_folder is = {.struct_size = sizeof(is)};
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !rtl_folder_look(path, &is) && is.kind == RTL_FOLDER_SPOOL && !is.in_use;
}

/* Whether we are the first. */
static bool mark(const char *path)
{
	char file[2 * PATH_MAX + sizeof(RTL_COLLECTOR_TOLD)];
	int fd;

	snprintf(file, sizeof(file), "%s/" RTL_COLLECTOR_TOLD, path);
	fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void look(void *found, const char *path)
{
	if (seems_dead(path) && is_leftover(path))
		*(unsigned *)found += mark(path);
}

void leftovers_mention(const char *own_spool)
{
	char base[PATH_MAX];
	unsigned found = 0;

	snprintf(base, sizeof(base), "%.*s", (int)(strrchr(own_spool, '/') - own_spool), own_spool);
	folder_each_spool(base, look, &found);
	if (found)
		log_line(RTL_LEVEL_WARNING, "spool",
			 "%u process%s killed and left events in %s: `rtl recover` lists them",
			 found, found > 1 ? "es were" : " was", base);
}
