/* SPDX-License-Identifier: MIT */
/* rtl start, rtl stop: let a running `rtl trace` record, or not. */
#include <string.h>

#include "cli.h"
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

static int set_paused(const char *verb, const char *folder, bool paused)
{
	char message[4096];

	if (rtl_collector_set_paused(folder, paused, message, sizeof(message)))
		return cli_failed("%s: %s", verb, message);
	return CLI_OK;
}

/* The user has not named it. */
static int set_paused_found(const char *verb, const struct folder *folder, bool paused)
{
	int status = set_paused(verb, folder->path, paused);

	if (!status)
		cli_error("process %d %s: %s", folder->is.pid,
			  paused ? "records nothing for now" : "records", folder->path);
	return status;
}

static int start_or_stop(const char *verb, const char *name, bool paused)
{
	struct folders folders;
	int status;

	if (name && strchr(name, '/'))
		return set_paused(verb, name, paused);
	status = folders_find(&folders);
	if (!status) {
		const struct folder *folder = find(verb, name, &folders, &status);
		if (folder)
			status = name ? set_paused(verb, folder->path, paused)
				      : set_paused_found(verb, folder, paused);
	}
	folders_fini(&folders);
	return status;
}

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct cli_operands sessions = {0};
	const char *name;
	unsigned pid;
	int status = cli_read(command, argc, argv, &sessions);

	if (status >= 0)
		return status;
	name = sessions.count ? sessions.list[0] : NULL;
	if (name && !strchr(name, '/') && !cli_number(name, &pid))
		return cli_usage("%s: '%s' is neither the process of an `rtl trace` nor a folder's "
				 "path",
				 command->name, name);
	return start_or_stop(command->name, name, !strcmp(command->name, "stop"));
}

#define DETAILS                                                                                    \
	"SESSION is the process of `rtl trace`, or its folder; if only one of yours runs, it\n"    \
	"need not be named."

const struct cli_command cmd_start = {
	.name = "start",
	.operands = "[SESSION]",
	.purpose = "Lets a running `rtl trace` record",
	.details = DETAILS,
	.operands_most = 1,
	.excess = "one session at a time",
	.run = run,
};

const struct cli_command cmd_stop = {
	.name = "stop",
	.operands = "[SESSION]",
	.purpose = "Lets a running `rtl trace` record nothing for now",
	.details = DETAILS,
	.operands_most = 1,
	.excess = "one session at a time",
	.run = run,
};
