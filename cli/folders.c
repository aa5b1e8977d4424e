/* SPDX-License-Identifier: MIT */
/* See folders.h. */
#include "folders.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

#define PREFIX "rtl-" /* of the names of folders */

/* Calls fn for each entry but `.` and `..`. */
static void each_entry(const char *path, void (*fn)(void *user, const char *path), void *user)
{
	DIR *dir = opendir(path);
	char child[PATH_MAX];
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		int length = snprintf(child, sizeof(child), "%s/%s", path, entry->d_name);
		if (length < (int)sizeof(child) && strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			fn(user, child);
	}
	if (dir)
		closedir(dir);
}

/* ---- size ---- */

static void add_bytes(void *user, const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return;
	*(uint64_t *)user += (uint64_t)st.st_blocks * 512;
	if (S_ISDIR(st.st_mode))
		each_entry(path, add_bytes, user);
}

/* ---- finding ---- */

static bool is_known(const struct folders *folders, const char *path)
{
	for (size_t i = 0; i < folders->count; i++) {
		if (!strcmp(folders->items[i].path, path))
			return true;
	}
	return false;
}

static void add_folder(void *user, const char *path)
{
	struct folders *folders = user;
	struct folder folder = {.is = {.struct_size = sizeof(folder.is)}};
	struct folder *items;
	struct stat st;

	if (strncmp(strrchr(path, '/') + 1, PREFIX, sizeof(PREFIX) - 1) != 0 || lstat(path, &st) ||
	    !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || is_known(folders, path) ||
	    rtl_folder_look(path, &folder.is) || folder.is.kind == RTL_FOLDER_OTHER)
		return;
	folder.changed = st.st_mtime;
	add_bytes(&folder.bytes, path);
	folder.path = strdup(path);
	items = reallocarray(folders->items, folders->count + 1, sizeof(*items));
	if (items)
		folders->items = items;
	if (items && folder.path)
		items[folders->count++] = folder;
	else
		free(folder.path);
}

static int by_age(const void *a, const void *b)
{
	const struct folder *x = a, *y = b;

	return x->changed == y->changed ? strcmp(x->path, y->path)
					: (x->changed < y->changed) - (x->changed > y->changed);
}

int folders_find(struct folders *folders)
{
	const char *const places[] = {getenv("RTL_SPOOL"), "/dev/shm", getenv("XDG_RUNTIME_DIR"),
				      getenv("TMPDIR"), "/tmp"};

	*folders = (struct folders){0};
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char *place = places[i] && *places[i] ? realpath(places[i], NULL) : NULL;
		if (place)
			each_entry(place, add_folder, folders);
		free(place);
	}
	if (folders->count)
		qsort(folders->items, folders->count, sizeof(*folders->items), by_age);
	return CLI_OK;
}

void folders_fini(struct folders *folders)
{
	for (size_t i = 0; i < folders->count; i++)
		free(folders->items[i].path);
	free(folders->items);
	*folders = (struct folders){0};
}

/* ---- looking into ---- */

struct spools {
	void (*fn)(void *user, const char *path, const struct rtl_folder *is);
	void *user;
	size_t count;
};

static void look_at_spool(void *user, const char *path)
{
	struct rtl_folder is = {.struct_size = sizeof(is)};
	struct spools *spools = user;

	if (rtl_folder_look(path, &is) || is.kind != RTL_FOLDER_SPOOL)
		return;
	spools->count++;
	if (spools->fn)
		spools->fn(spools->user, path, &is);
}

size_t folder_each_spool(const char *path,
			 void (*fn)(void *user, const char *path, const struct rtl_folder *is),
			 void *user)
{
	struct spools spools = {fn, user, 0};

	look_at_spool(&spools, path);
	if (!spools.count)
		each_entry(path, look_at_spool, &spools);
	return spools.count;
}

int folder_look(const char *verb, const char *path, struct rtl_folder *is)
{
	int error;

	is->struct_size = sizeof(*is);
	error = rtl_folder_look(path, is);
	if (error == RTL_ENOENT)
		return cli_failed("%s: %s: there is no such folder; `rtl recover` lists those that "
				  "were left",
				  verb, path);
	if (error == RTL_EFORMAT)
		return cli_failed("%s: %s is damaged, or was written by another version of rtl; "
				  "this is %s",
				  verb, path, rtl_version());
	if (error)
		return cli_failed("%s: %s: %s", verb, path, rtl_error_text(error));
	/* a recording is a folder with spools in it */
	if (is->kind == RTL_FOLDER_OTHER && !folder_each_spool(path, NULL, NULL))
		return cli_failed("%s: %s holds nothing of rtl's; give the folder of a recording, "
				  "or one that `rtl recover` lists",
				  verb, path);
	return CLI_OK;
}
