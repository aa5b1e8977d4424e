/* SPDX-License-Identifier: MIT */
/* output.c: see output.h. */
#include "output.h"

#include "host.h"
#include "output_place.h"

#include <rtl/publish.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_TRIES 1000

/* Making it. */

static void remove_files(const char *path)
{
	static const char *const suffixes[] = {"-wal", "-shm", "-journal", ""};
	char *name;

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (asprintf(&name, "%s%s", path, suffixes[i]) < 0)
			continue;
		unlink(name);
		free(name);
	}
}

static int refuse_foreign(const struct rtl_host *host, const char *path, const char *which,
			  uid_t owner)
{
	host_say(host, RTL_LEVEL_ERROR, "%s%s: " OUTPUT_FOREIGN, path, which, (unsigned)owner);
	return RTL_EIO;
}

static int create_file(const struct rtl_host *host, const char *path)
{
	uid_t owner;
	const int fd = output_open(path, O_CREAT | O_EXCL | O_WRONLY, &owner);

	if (fd == OUTPUT_NOT_OURS)
		return refuse_foreign(host, path, "", owner);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	host_say(host, RTL_LEVEL_ERROR,
		 "%s: cannot be created (%s); choose another file with output=, or make the folder "
		 "writable",
		 path, strerror(errno));
	return RTL_EIO;
}

/* A symbolic link stays, what it points to is the output. */
static void follow_links(struct output *output)
{
	char *real = realpath(output->path, NULL);

	if (real) {
		free(output->path);
		output->path = real;
	}
}

static int refuse(const struct rtl_host *host, const char *path)
{
	host_say(host, RTL_LEVEL_ERROR,
		 "%s: exists and is no trace that could be replaced; move it away, or choose "
		 "another "
		 "file with output=",
		 path);
	return RTL_EIO;
}

/* Takes the first name that is free; `output->path` is one that is not. */
static int divert(struct output *output, const struct rtl_host *host, enum found found, int32_t pid)
{
	for (int i = 1; i < MAX_TRIES; i++) {
		char *name = output_other_name(output->path, pid, i);
		struct stat st;
		int result;

		if (!name)
			return RTL_ENOMEM;
		if (lstat(name, &st) == 0) {
			free(name);
			continue;
		}
		host_say(host, RTL_LEVEL_WARNING, "%s: %s; writing to %s", output->path,
			 found == FOUND_SESSION ? "holds another process of this session"
						: "is being written by another process",
			 name);
		result = create_file(host, name);
		free(output->path);
		output->path = name;
		return result;
	}
	return refuse(host, output->path);
}

int output_check(const struct output *output, const struct rtl_host *host)
{
	const char *which;
	uid_t owner;

	return output_has_foreign_companion(output->path, &which, &owner)
		       ? refuse_foreign(host, output->path, which, owner)
		       : 0;
}

/* Finds the path, and locks its folder. */
static int name_output(struct output *output, const struct rtl_host *host, const char *pattern,
		       const struct output_names *names)
{
	uid_t owner;
	int result;

	*output = (struct output){.lock_fd = -1};
	result = output_expand(pattern, names, &output->path);
	if (result == RTL_EINVAL)
		host_say(host, RTL_LEVEL_ERROR, "output=%s: %s", pattern, OUTPUT_NAME_KNOWN);
	if (result != 0)
		return result;
	result = output_is_foreign(output->path, &owner)
			 ? refuse_foreign(host, output->path, "", owner)
			 : output_check(output, host);
	if (result != 0) {
		output_fini(output, false);
		return result;
	}
	follow_links(output);
	output->lock_fd = output_lock_folder(output->path);
	return 0;
}

int output_choose(struct output *output, const struct rtl_host *host, const char *pattern,
		  const struct output_names *names)
{
	const char *session = host->property(host, "session");
	enum found found;
	int result = name_output(output, host, pattern, names);

	if (result != 0)
		return result;
	found = output_look(output->path, session);
	if (found == FOUND_FOREIGN) {
		result = refuse(host, output->path);
	} else if (found == FOUND_SESSION || found == FOUND_LIVE) {
		result = divert(output, host, found, names->pid);
	} else {
		if (found == FOUND_OLD)
			remove_files(output->path);
		result = create_file(host, output->path);
	}
	if (result < 0)
		output_fini(output, false);
	return result;
}

/* Continuing. */

int output_continue(struct output *output, const struct rtl_host *host, const char *pattern,
		    const struct output_names *names, bool *empty)
{
	int result = name_output(output, host, pattern, names);

	if (result != 0)
		return result;
	result = output_may_continue(host, output->path, empty);
	if (result != 0)
		output_fini(output, false);
	return result;
}

void output_release(struct output *output)
{
	if (output->lock_fd >= 0)
		close(output->lock_fd);
	output->lock_fd = -1;
}

void output_fini(struct output *output, bool remove)
{
	if (remove && output->path)
		remove_files(output->path);
	output_release(output);
	free(output->path);
	output->path = NULL;
}
