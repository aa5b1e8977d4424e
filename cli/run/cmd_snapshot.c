/* SPDX-License-Identifier: MIT */
/* rtl snapshot: writes what a running flight recorder (`rtl trace --last`) keeps just now.
 *
 * The recorder leaves a copy of its recording; the subscribers get it here, in this process. They write to a folder of
 * ours beside each output, and what is whole is renamed: whatever ends us, no part of a trace is under its name. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli.h"
#include "collect.h"
#include "convert.h"
#include "database.h"
#include "folders.h"
#include "notes.h"

#define PLACES_MOST  OUTPUTS_MOST
#define MESSAGE_SIZE 8192
#define PLACE_PREFIX ".rtl-snapshot-"
#define LOCK_NAME    ".lock"

/* A folder in which outputs are made before they get their names. */
struct place {
	char *target; /* the folder that they go to, with a slash */
	char *made;   /* ours, in it */
	char *name;   /* of an output, in that */
};

struct request {
	struct cli_operands operands;
	struct session session;
	struct place places[PLACES_MOST];
	size_t place_count;
};

static const struct cli_option options[] = {
	CLI_TAKES('o', "output", "FILE", offsetof(struct request, session.outputs), outputs_add,
		  "file to write, by its suffix, as for `rtl trace`\n"
		  "(default: the output's name with -snapshot-N)"),
	CLI_VALUE('s', "subscribers", "LIST", offsetof(struct request, session.subscribers),
		  "subscribers instead of libsqlite_sub.so; colon-separated\n"
		  "NAME or NAME?key=value&key=value"),
};

/* ---- places ---- */

/* The lock of a place; -1: it has none. Subscribers lock the folder itself. */
static int open_lock(const char *made, int flags)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/" LOCK_NAME, made) >= (int)sizeof(path))
		return -1;
	return open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

/* If it is a folder of tables. */
static void remove_tables(void *unused, const char *path)
{
	if (*cli_base_name(path) != '.')
		convert_drop_csv(path);
}

static void remove_made(const char *made)
{
	char path[PATH_MAX];

	folder_each_entry(made, remove_tables, NULL);
	if (snprintf(path, sizeof(path), "%s/" LOCK_NAME, made) < (int)sizeof(path))
		unlink(path);
	rtl_collector_snapshot_remove(made);
}

/* If it is a place of one that was killed: nobody holds its lock. */
static void remove_leftover(void *unused, const char *path)
{
	int fd;

	if (strncmp(cli_base_name(path), PLACE_PREFIX, sizeof(PLACE_PREFIX) - 1) != 0)
		return;
	fd = open_lock(path, 0);
	if (fd < 0)
		rmdir(path);
	else if (!flock(fd, LOCK_EX | LOCK_NB))
		remove_made(path);
	if (fd >= 0)
		close(fd);
}

/* Makes a place for an output, whose name becomes one there. CLI_OK, or CLI_FAILED after a line. */
static int redirect(struct request *request, const char **name)
{
	const char *base = cli_base_name(*name);
	const int length = (int)(base - *name);
	char *target = cli_format("%.*s", length ? length : 2, length ? *name : "./");
	char *made = cli_format("%s" PLACE_PREFIX "XXXXXX", target), *inside;
	int fd;

	folder_each_entry(target, remove_leftover, NULL);
	if (!mkdtemp(made)) {
		cli_error("snapshot: %s cannot be written to: %s; choose another place with -o",
			  target, strerror(errno));
		free(made);
		free(target);
		return CLI_FAILED;
	}
	*name = inside = cli_format("%s/%s", made, base);
	request->places[request->place_count++] = (struct place){target, made, inside};
	fd = open_lock(made, O_CREAT);
	if (fd >= 0)
		(void)flock(fd, LOCK_EX | LOCK_NB); /* as long as this process lives */
	return CLI_OK;
}

static const char *shown(const char *path)
{
	return !strncmp(path, "./", 2) ? path + 2 : path;
}

static int check_replaceable(const char *path)
{
	enum timeline_format format;
	enum look found;

	if (!timeline_format_of(path, &format))
		return database_check_replaceable(shown(path));
	found = timeline_look(path, format, NULL, NULL);
	return found == LOOK_FOREIGN || found == LOOK_LIVE ? part_refuse(shown(path), "trace")
							   : CLI_OK;
}

/* Gives what is in a place its names: one that is there is written over if it is a trace. */
static int publish(const struct place *place, const char *name)
{
	char from[PATH_MAX], to[PATH_MAX];

	if (snprintf(from, sizeof(from), "%s/%s", place->made, name) >= (int)sizeof(from) ||
	    snprintf(to, sizeof(to), "%s%s", place->target, name) >= (int)sizeof(to))
		return cli_failed("snapshot: %s: the name is too long", name);
	if (folder_is(from) ? convert_prepare_csv(to) : check_replaceable(to))
		return CLI_FAILED;
	if (rename(from, to))
		return cli_failed("snapshot: %s cannot be written: %s", to, strerror(errno));
	cli_error("snapshot: %s", shown(to));
	return CLI_OK;
}

static int publish_all(const struct place *place)
{
	DIR *dir = opendir(place->made);
	struct dirent *entry;
	int status = CLI_OK;

	while (!status && dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			status = publish(place, entry->d_name);
	if (dir)
		closedir(dir);
	return status;
}

static void remove_place(struct place *place)
{
	/* after a failure there may be something in it */
	remove_made(place->made);
	free(place->target);
	free(place->made);
	free(place->name);
}

/* ---- */

/* "run.db" becomes "run-snapshot-1.db", or the first number that is not there. To be freed. */
static char *default_output(const struct notes *notes, int pid)
{
	const char *command = notes->command ? notes->command : "command";
	char *stem, *name = NULL;
	size_t length = notes->database ? strlen(notes->database) : 0;

	stem = length > 3 && !strcmp(notes->database + length - 3, ".db")
		       ? cli_format("%.*s", (int)length - 3, notes->database)
		       : cli_format("rtl-%s-%d", cli_base_name(command), pid);
	for (unsigned i = 1; i < 10000 && (!name || !access(name, F_OK)); i++) {
		free(name);
		name = cli_format("%s-snapshot-%u.db", stem, i);
	}
	free(stem);
	return name;
}

/* What the user will read of: his own names, and before anything is made. */
static int check_names(const struct outputs *outputs, bool by_suffix)
{
	char *list = NULL, *pattern;
	int status = CLI_OK;

	if (by_suffix)
		list = outputs_subscribers(outputs, &status);
	free(list);
	for (size_t i = 0; !status && i < outputs->count; i++) {
		const char *name = outputs->names[i];

		status = outputs_pattern(name, &pattern);
		if (status)
			return status;
		free(pattern);
		/* others are looked at when they have their names */
		if (!strchr(name, '%') && !folder_is(name))
			status = check_replaceable(name);
	}
	return status;
}

static int prepare(struct request *request, const struct notes *notes, int pid)
{
	struct session *session = &request->session;
	struct outputs *outputs = &session->outputs;
	char *name = NULL;
	int status;

	if (!outputs->count && !session->subscribers)
		status = outputs_add(outputs, name = default_output(notes, pid));
	else
		status = check_names(outputs, !session->subscribers);
	for (size_t i = 0; !status && i < outputs->count; i++)
		status = redirect(request, &outputs->names[i]);
	free(name);
	outputs->makes_tables = true;
	if (!status)
		status = session_prepare_subscribers(session);
	collect_set_properties(NULL, notes->mode);
	return status;
}

static int deliver(struct request *request, const char *recording, uint32_t kept_ms)
{
	struct session *session = &request->session;
	int status = collect_deliver(RTL_REPLAY, recording, session->list, NULL, false, false);

	if (!status)
		status = collect_check_output(session->database);
	if (!status)
		status = outputs_make_tables(&session->outputs, session->database, true);
	for (size_t i = 0; !status && i < request->place_count; i++)
		status = publish_all(&request->places[i]);
	if (!status && kept_ms)
		cli_error("it holds the last %u.%03u s: --limit left no room for more",
			  kept_ms / 1000, kept_ms % 1000);
	return status;
}

static int take(struct request *request, const struct running *running)
{
	char message[MESSAGE_SIZE] = "", recording[PATH_MAX] = "";
	uint32_t kept_ms = 0;
	struct notes notes;
	int error = notes_read(running->folder, &notes), status;

	if (error)
		return cli_failed("snapshot: %s: %s", running->folder, strerror(error));
	status = prepare(request, &notes, running->pid);
	if (!status && rtl_collector_snapshot(running->folder, recording, sizeof(recording),
					      &kept_ms, message, sizeof(message)))
		status = cli_failed("snapshot: %s", message);
	if (!status) {
		status = deliver(request, recording, kept_ms);
		rtl_collector_snapshot_remove(recording);
	}
	for (size_t i = 0; i < request->place_count; i++)
		remove_place(&request->places[i]);
	notes_fini(&notes);
	return status;
}

static int run(void *user)
{
	struct request *request = user;
	const struct cli_operands *sessions = &request->operands;
	struct running running;
	int status = running_find("snapshot", sessions->count ? sessions->list[0] : NULL, &running);

	if (!status)
		status = take(request, &running);
	free(running.folder);
	session_fini(&request->session);
	return status;
}

const struct cli_command cmd_snapshot = {
	.name = "snapshot",
	.operands = "[SESSION]",
	.purpose = "Writes what a running `rtl trace --last` holds now",
	.details = RUNNING_DETAILS,
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct request, operands, 1, "one session at a time"),
	.run = run,
};
