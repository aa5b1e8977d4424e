/* SPDX-License-Identifier: MIT */
#include "folders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

/* Longest time that a lock outlives the process that took it. */
#define LOOK_WAIT_MS 5000
#define LOOK_STEP_MS 10

bool folder_is(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

void folder_each_entry(const char *path, void (*fn)(void *user, const char *path), void *user)
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
		folder_each_entry(path, add_bytes, user);
}

/* ---- finding ---- */

static bool is_known(const struct folders *folders, const char *path)
{
	for (size_t i = 0; i < folders->count; i++)
		if (!strcmp(folders->items[i].path, path))
			return true;
	return false;
}

/* Whether it is one of this user's that may be rtl's. */
static bool is_own_folder(const char *path, const char *prefix, struct stat *st)
{
	return !strncmp(strrchr(path, '/') + 1, prefix, strlen(prefix)) && !lstat(path, st) &&
	       S_ISDIR(st->st_mode) && st->st_uid == geteuid();
}

static void add_item(struct folders *folders, struct folder *folder, const char *path,
		     const struct stat *st)
{
	folder->changed = st->st_mtime;
	folder->path = cli_need(strdup(path));
	*CLI_ADD(folders->items, folders->count) = *folder;
}

static void add_named(struct folders *folders, const char *path, const char *prefix)
{
	struct folder folder = {.is = {.struct_size = sizeof(folder.is)}};
	struct stat st;

	if (!is_own_folder(path, prefix, &st) || is_known(folders, path) ||
	    rtl_folder_look(path, &folder.is) || folder.is.kind == RTL_FOLDER_OTHER)
		return;
	if (folder.is.kind == RTL_FOLDER_DEBRIS) {
		*CLI_ADD(folders->debris, folders->debris_count) = cli_need(strdup(path));
		return;
	}
	add_bytes(&folder.bytes, path);
	add_item(folders, &folder, path, &st);
}

static void add_folder(void *folders, const char *path)
{
	add_named(folders, path, RTL_COLLECTOR_PREFIX);
}

static void add_session(void *folders, const char *path)
{
	add_folder(folders, path);
	add_named(folders, path, RTL_SLEEPER_PREFIX);
}

static int by_age(const void *a, const void *b)
{
	const struct folder *x = a, *y = b;

	return x->changed == y->changed ? strcmp(x->path, y->path)
					: (x->changed < y->changed) - (x->changed > y->changed);
}

static void find(struct folders *folders, void (*add)(void *folders, const char *path))
{
	const char *const places[] = {getenv("RTL_SPOOL"), "/dev/shm", getenv("XDG_RUNTIME_DIR"),
				      getenv("TMPDIR"), "/tmp"};

	*folders = (struct folders){0};
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char *place = places[i] && *places[i] ? realpath(places[i], NULL) : NULL;
		if (place)
			folder_each_entry(place, add, folders);
		free(place);
	}
	if (folders->count)
		qsort(folders->items, folders->count, sizeof(*folders->items), by_age);
}

void folders_find(struct folders *folders)
{
	find(folders, add_folder);
}

void sessions_find(struct folders *folders)
{
	find(folders, add_session);
}

void folders_fini(struct folders *folders)
{
	for (size_t i = 0; i < folders->count; i++)
		free(folders->items[i].path);
	for (size_t i = 0; i < folders->debris_count; i++)
		free(folders->debris[i]);
	free(folders->debris);
	free(folders->items);
	*folders = (struct folders){0};
}

static bool remove_debris(const char *path)
{
	rtl_collector_snapshot_remove(path);
	return access(path, F_OK);
}

size_t folders_clean(const struct folders *folders)
{
	size_t removed = 0;

	for (size_t i = 0; i < folders->debris_count; i++)
		removed += remove_debris(folders->debris[i]);
	return removed;
}

bool folder_clean(const char *path)
{
	struct rtl_folder is = {.struct_size = sizeof(is)};

	return !rtl_folder_look(path, &is) && is.kind == RTL_FOLDER_DEBRIS && remove_debris(path);
}

struct leftovers {
	unsigned count;
	uint64_t bytes;
};

/* Whether the process that a folder is named after cannot be found: quick, and true of none that lives here. */
static bool seems_dead(const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	long pid = strtol(name + strcspn(name, "0123456789"), NULL, 10);

	return pid > 0 && pid <= INT_MAX && kill((pid_t)pid, 0) && errno == ESRCH;
}

static void add_leftover(void *user, const char *path)
{
	struct rtl_folder is = {.struct_size = sizeof(is)};
	struct leftovers *leftovers = user;
	char told[PATH_MAX];
	struct stat st;
	int fd;

	if (!seems_dead(path) || !is_own_folder(path, RTL_COLLECTOR_PREFIX, &st) ||
	    rtl_folder_look(path, &is) || is.in_use ||
	    (is.kind != RTL_FOLDER_COLLECTOR && is.kind != RTL_FOLDER_SPOOL))
		return;
	snprintf(told, sizeof(told), "%s/" RTL_COLLECTOR_TOLD, path);
	fd = open(told, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return; /* it has been mentioned */
	close(fd);
	leftovers->count++;
	add_bytes(&leftovers->bytes, path);
}

void folders_mention(void)
{
	const char *place = getenv("RTL_SPOOL");
	struct leftovers leftovers = {0};

	folder_each_entry(place && *place ? place : "/dev/shm", add_leftover, &leftovers);
	if (leftovers.count)
		cli_error("%u process%s killed before all events were stored, %.1f MiB wait: `rtl "
			  "recover` lists them",
			  leftovers.count, leftovers.count > 1 ? "es were" : " was",
			  (double)leftovers.bytes / (1 << 20));
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

size_t folder_visit_spools(const char *path,
			   void (*fn)(void *user, const char *path, const struct rtl_folder *is),
			   void *user)
{
	struct spools spools = {fn, user, 0};

	look_at_spool(&spools, path);
	if (!spools.count)
		folder_each_entry(path, look_at_spool, &spools);
	return spools.count;
}

/* ---- those that can be attached to ---- */

static void note_process(void *is, const char *path, const struct rtl_folder *found)
{
	*(struct rtl_folder *)is = *found;
}

static void add_sleeper(void *user, const char *path)
{
	struct folder folder = {.is = {.struct_size = sizeof(folder.is)}};
	struct rtl_folder session = {.struct_size = sizeof(session)};
	struct folders *folders = user;
	struct stat st;

	if (!is_own_folder(path, RTL_SLEEPER_PREFIX, &st) || is_known(folders, path) ||
	    strstr(path, "-last")) /* of an attach */
		return;
	(void)rtl_folder_look(path, &session);
	folder_visit_spools(path, note_process, &folder.is);
	if (!session.in_use && (folder.is.pid ? !folder.is.in_use : seems_dead(path)))
		rtl_collector_snapshot_remove(path);
	if (!folder.is.in_use)
		return;
	folder.collector = session.in_use ? session.pid : 0;
	add_item(folders, &folder, path, &st);
}

void sleepers_find(struct folders *folders)
{
	size_t kept = 0;

	find(folders, add_sleeper);
	/* one that has become another program by exec has made another one since */
	for (size_t i = 0, k; i < folders->count; i++) {
		for (k = 0; k < kept && folders->items[k].is.pid != folders->items[i].is.pid; k++)
			;
		if (k < kept)
			free(folders->items[i].path);
		else
			folders->items[kept++] = folders->items[i];
	}
	folders->count = kept;
}

/* Notes the first folder of a recording that this version cannot read: *user is its path, to be freed. */
static void note_unreadable(void *user, const char *path)
{
	struct rtl_folder is = {.struct_size = sizeof(is)};
	char **unreadable = user;

	if (!*unreadable && rtl_folder_look(path, &is) == RTL_EFORMAT)
		*unreadable = strdup(path);
}

static int refuse_format(const char *verb, const char *path)
{
	return cli_failed("%s: %s is damaged, or was written by another version of rtl; this is %s",
			  verb, path, rtl_version());
}

/* A recording is a folder with spools in it. */
static int look_at_recording(const char *verb, const char *path)
{
	char *unreadable = NULL;
	struct stat st;
	int status;

	if (!stat(path, &st) && !S_ISDIR(st.st_mode))
		return cli_failed("%s: %s is a file, not the folder of a recording; traces are for "
				  "`rtl summary`, `rtl report` and `rtl convert`",
				  verb, path);
	if (folder_visit_spools(path, NULL, NULL))
		return CLI_OK;
	folder_each_entry(path, note_unreadable, &unreadable);
	if (!unreadable)
		return cli_failed("%s: rtl wrote nothing in %s; give the folder of a recording, "
				  "or one that `rtl recover` lists",
				  verb, path);
	status = refuse_format(verb, unreadable);
	free(unreadable);
	return status;
}

/* The lock of one that was killed while it started a command is held a moment longer, by the child
 * that was about to become that command. */
static int look_patiently(const char *path, struct rtl_folder *is)
{
	const struct timespec nap = {.tv_nsec = LOOK_STEP_MS * 1000000};
	int error = rtl_folder_look(path, is);

	for (int waited = 0;
	     !error && is->in_use && kill(is->pid, 0) && errno == ESRCH && waited < LOOK_WAIT_MS;
	     waited += LOOK_STEP_MS) {
		nanosleep(&nap, NULL);
		error = rtl_folder_look(path, is);
	}
	return error;
}

int folder_look(const char *verb, const char *path, struct rtl_folder *is)
{
	int error;

	is->struct_size = sizeof(*is);
	error = look_patiently(path, is);
	if (error == RTL_ENOENT)
		return cli_failed("%s: %s: there is no such file or folder; `rtl recover` lists "
				  "what can be recovered",
				  verb, path);
	if (error == RTL_EFORMAT)
		return refuse_format(verb, path);
	if (error)
		return cli_failed("%s: %s: %s", verb, path, rtl_error_text(error));
	if (is->kind == RTL_FOLDER_DEBRIS)
		return cli_failed(
			"%s: %s holds no events: its process was killed; `rtl recover` removes it",
			verb, path);
	return is->kind == RTL_FOLDER_OTHER ? look_at_recording(verb, path) : CLI_OK;
}

/* ---- the running rtl ---- */

#define SHOWN 8

/* Whether it is a running rtl, and, with a name, the one of that process. */
static bool is_meant(const struct folder *folder, const char *name)
{
	unsigned pid;

	return folder->is.kind == RTL_FOLDER_COLLECTOR && folder->is.in_use &&
	       (!name || (cli_number(name, &pid) && (unsigned)folder->is.pid == pid));
}

static void list_running(const struct folders *folders)
{
	size_t shown = 0;

	for (size_t i = 0; i < folders->count; i++) {
		const struct folder *folder = &folders->items[i];
		if (is_meant(folder, NULL) && shown++ < SHOWN)
			cli_error("process %d: %s", folder->is.pid, folder->path);
	}
	if (shown > SHOWN)
		cli_error("and %zu more", shown - SHOWN);
}

int running_find(const char *verb, const char *name, struct running *running)
{
	struct folders folders;
	size_t found = 0;
	unsigned pid;
	int status = CLI_OK;

	*running = (struct running){.found = !name};
	if (name && strchr(name, '/')) {
		running->folder = cli_need(strdup(name));
		return CLI_OK;
	}
	if (name && !cli_number(name, &pid))
		return cli_usage(
			"%s: '%s' is neither the process of an `rtl trace` or `rtl attach` nor a "
			"folder's path",
			verb, name);
	sessions_find(&folders);
	for (size_t i = 0; i < folders.count; i++)
		if (is_meant(&folders.items[i], name) && !found++) {
			running->pid = folders.items[i].is.pid;
			running->folder = cli_need(strdup(folders.items[i].path));
		}
	if (!found && name)
		status = cli_failed("%s: there is no running `rtl trace` or `rtl attach` with the "
				    "process number %s",
				    verb, name);
	else if (!found)
		status = cli_failed("%s: no `rtl trace` or `rtl attach` of yours runs here; if "
				    "its folder is elsewhere, name that",
				    verb);
	if (found > 1) {
		status = cli_usage("%s: more than one `rtl trace` or `rtl attach` runs; give the "
				   "process or the folder of one:",
				   verb);
		list_running(&folders);
	}
	folders_fini(&folders);
	return status;
}
