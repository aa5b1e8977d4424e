/* SPDX-License-Identifier: MIT */
#include "scratch.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

char scratch[200];
static pid_t owner;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

void scratch_remove(const char *path)
{
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void remove_all(void)
{
	if (owner == getpid())
		scratch_remove(scratch);
}

void scratch_init(void)
{
	const char *tmp = getenv("TMPDIR");

	if (owner == getpid())
		return;
	if (!tmp || !*tmp)
		tmp = access("/dev/shm", W_OK) ? P_tmpdir : "/dev/shm";
	snprintf(scratch, sizeof(scratch), "%.150s/fuzz-XXXXXX", tmp);
	if (!mkdtemp(scratch))
		abort();
	owner = getpid();
	atexit(remove_all);
	setenv("RTL_LOG", "debug:/dev/null", 1);
	log_init();
}
