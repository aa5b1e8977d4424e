/* SPDX-License-Identifier: MIT */
/* See running.h. */
#include "running.h"

#include <string.h>

#include "folders.h"

#define SHOWN 8

/* Whether the user means that one: by its folder, or by the process of rtl. */
static bool is_meant(const struct folder *folder, const char *name)
{
	unsigned pid;

	return !name || (cli_number(name, &pid) && (unsigned)folder->is.pid == pid);
}

static int refuse_none(const char *verb, const char *name)
{
	if (name)
		return cli_failed("%s: there is no running `rtl trace` with the process number %s",
				  verb, name);
	return cli_failed("%s: no `rtl trace` of yours runs here; if its folder is elsewhere, name "
			  "that",
			  verb);
}

static void list_running(const struct folders *folders)
{
	size_t shown = 0;

	for (size_t i = 0; i < folders->count; i++) {
		const struct folder *folder = &folders->items[i];
		if (folder->is.kind != RTL_FOLDER_COLLECTOR || !folder->is.in_use)
			continue;
		if (shown++ < SHOWN)
			cli_error("process %d: %s", folder->is.pid, folder->path);
	}
	if (shown > SHOWN)
		cli_error("and %zu more", shown - SHOWN);
}

/* The one that the user means; NULL after a line, or several. */
static const struct folder *find(const char *verb, const char *name, const struct folders *folders,
				 int *status)
{
	const struct folder *one = NULL;
	size_t found = 0;

	for (size_t i = 0; i < folders->count; i++) {
		const struct folder *folder = &folders->items[i];
		if (folder->is.kind != RTL_FOLDER_COLLECTOR || !folder->is.in_use ||
		    !is_meant(folder, name))
			continue;
		one = folder;
		found++;
	}
	if (found == 1)
		return one;
	*status = CLI_FAILED;
	if (!found) {
		refuse_none(verb, name);
		return NULL;
	}
	*status = cli_usage("%s: more than one `rtl trace` runs; give the process or the folder of "
			    "one:",
			    verb);
	list_running(folders);
	return NULL;
}

int running_find(const char *verb, const char *name, struct running *running)
{
	const struct folder *folder;
	struct folders folders;
	unsigned pid;
	int status;

	*running = (struct running){.found = !name};
	if (name && strchr(name, '/')) {
		running->folder = strdup(name);
		return running->folder ? CLI_OK : cli_failed("out of memory");
	}
	if (name && !cli_number(name, &pid))
		return cli_usage("%s: '%s' is neither the process of an `rtl trace` nor a folder's "
				 "path",
				 verb, name);
	status = folders_find(&folders);
	folder = status ? NULL : find(verb, name, &folders, &status);
	if (folder) {
		running->pid = folder->is.pid;
		running->folder = strdup(folder->path);
		status = running->folder ? CLI_OK : cli_failed("out of memory");
	}
	folders_fini(&folders);
	return status;
}
