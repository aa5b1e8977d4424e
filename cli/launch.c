/* SPDX-License-Identifier: MIT */
/* See launch.h. */
#include "launch.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "cli.h"

void launch_make_id(char *id, size_t size)
{
	struct timespec now;
	uint64_t random;

	clock_gettime(CLOCK_REALTIME, &now);
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (uint64_t)now.tv_nsec << 32 | (uint32_t)getpid();
	snprintf(id, size, "%lld-%016llx", (long long)now.tv_sec, (unsigned long long)random);
}

int launch_find(const char *name)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];
	int error = ENOENT;
	struct stat st;

	if (strchr(name, '/'))
		return access(name, X_OK)                       ? errno
		       : stat(name, &st) || S_ISREG(st.st_mode) ? 0
								: EACCES;
	for (path = path ? path : "/bin:/usr/bin"; path; path = strchr(path, ':')) {
		path += *path == ':';
		int length = (int)strcspn(path, ":");
		snprintf(file, sizeof(file), "%.*s%s%s", length, path, length ? "/" : "", name);
		if (!access(file, X_OK) && !stat(file, &st) && S_ISREG(st.st_mode))
			return 0;
		if (errno == EACCES)
			error = EACCES;
	}
	return error;
}

int launch_refuse(const char *command, int error)
{
	bool missing = error == ENOENT || error == ENOTDIR;

	if (missing && strchr(command, '/') && !access(command, F_OK))
		cli_error("cannot run %s: the file is there, but the interpreter that it names is "
			  "not",
			  command);
	else if (missing && !strchr(command, '/'))
		cli_error("cannot run %s: there is no such command in PATH", command);
	else
		cli_error("cannot run %s: %s", command, strerror(error));
	return missing ? CLI_NOT_FOUND : CLI_CANNOT_RUN;
}

static void work(void *user)
{
	collect_poll(user);
}

static void wake(void *user)
{
	collect_wake(user);
}

static void finish(void *user)
{
	collect_finish(user);
}

int launch_collected(struct collect *collect, const struct session *session, char **command,
		     const char *what, int *status)
{
	struct child_work job = {collect, work, wake, finish, "", ""};
	char *hold_on = NULL, *last_words = NULL;
	int error;

	if (asprintf(&hold_on,
		     "the command has ended, its %s is being completed; the next signal ends that, "
		     "too",
		     what) < 0)
		hold_on = NULL;
	if (asprintf(&last_words, "the %s is not complete; `rtl recover %s` completes it", what,
		     collect->folder) < 0)
		last_words = NULL;
	job.hold_on = hold_on ? hold_on : "the next signal ends this at once";
	job.last_words = last_words ? last_words : "not complete: `rtl recover`";
	error = child_run(command, session->variables, session->variable_count, &job, status);
	if (error)
		collect_finish(collect);
	free(hold_on);
	free(last_words);
	return error;
}
