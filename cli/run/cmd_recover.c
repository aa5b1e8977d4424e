/* SPDX-License-Identifier: MIT */
/* rtl recover: completes the outputs of collectors and processes that died, or lists what there is to recover. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "collect.h"
#include "folders.h"
#include "notes.h"

struct request {
	struct cli_operands folders;
	struct session session;
};

static const struct cli_option options[] = {
	CLI_TAKES('o', "output", "FILE", offsetof(struct request, session.outputs), outputs_add,
		  "file of the first subscriber that writes one; an existing\n"
		  "one is continued"),
	CLI_VALUE('s', "subscribers", "LIST", offsetof(struct request, session.subscribers),
		  "subscribers to deliver to, instead of those that the\n"
		  "folder names; colon-separated, as for `rtl trace`"),
};

/* ---- listing ---- */

static void print_folder(const struct folder *folder)
{
	const char *program = folder->is.program;
	struct notes notes;
	char when[32];
	struct tm local;

	if (!notes_read(folder->path, &notes) && notes.command)
		program = cli_base_name(notes.command);
	localtime_r(&folder->changed, &local);
	strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &local);
	cli_line("%s  %9.1f KiB  %-14s  %s", when, (double)folder->bytes / 1024,
		 *program ? program : "-", folder->path);
	notes_fini(&notes);
}

static int list(void)
{
	struct folders folders;
	size_t found = 0;

	folders_find(&folders);
	for (size_t i = 0; i < folders.count; i++) {
		if (folders.items[i].is.in_use)
			continue;
		if (!found++)
			cli_line("%-19s  %13s  %-14s  folder", "changed", "size", "program");
		print_folder(&folders.items[i]);
	}
	if (!found)
		cli_line("There is nothing to recover.");
	size_t removed = folders_clean(&folders);
	if (removed)
		cli_error("removed %zu folder%s of processes that were killed, without events",
			  removed, removed > 1 ? "s" : "");
	folders_fini(&folders);
	return cli_finish_output();
}

/* ---- recovering ---- */

/* An existing output is continued; a missing one begins empty. */
static int make_output(const struct session *session)
{
	int fd;

	if (!session->database || !access(session->database, F_OK))
		return CLI_OK;
	fd = open(session->database, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return cli_failed("output %s: %s; choose another file with -o", session->database,
				  strerror(errno));
	close(fd);
	return CLI_OK;
}

/* To whom: whom the user names, or else whom the dead collector had. */
static int choose_list(const char *folder, const struct notes *notes, struct session *session,
		       const char **list)
{
	int status;

	if (!session->outputs.count && !session->subscribers) {
		*list = notes->subscribers;
		return notes->subscribers ? CLI_OK
					  : cli_usage("recover: %s names no output: name the file "
						      "with -o, or subscribers with --subscribers",
						      folder);
	}
	status = session_prepare_subscribers(session);
	*list = session->list;
	return status ? status : make_output(session);
}

/* left: NULL where what is there is complete. */
static int deliver_to(const char *folder, const struct notes *notes, struct session *session,
		      uint32_t *left)
{
	const char *list, *database;
	int status = choose_list(folder, notes, session, &list);

	collect_set_properties(notes->session, notes->mode);
	if (!status)
		status = collect_deliver(left ? RTL_RECOVER : RTL_REPLAY, folder, list, left, !left,
					 false);
	database = session->list ? session->database : notes->database;
	if (!status)
		status = collect_check_output(database);
	if (status)
		return status;
	if (!database && session->timeline_count)
		database = session->timelines[0];
	cli_error("recovered: %s%s%s", folder, database ? " to " : "", cli_text(database));
	return CLI_OK;
}

/* Of a flight recorder: the subscribers get the recording, which is complete by now. */
static int deliver_kept(const struct notes *notes, struct session *session)
{
	if (deliver_to(notes->recording, notes, session, NULL))
		return cli_failed(
			"the events are in %s; `rtl replay %s` delivers them to subscribers",
			notes->recording, notes->recording);
	rtl_collector_snapshot_remove(notes->recording);
	return CLI_OK;
}

static int deliver(const char *folder, const struct notes *notes, struct session *session)
{
	uint32_t left = 0;
	int status;

	if (notes->recording &&
	    (notes->subscribers || (!session->outputs.count && !session->subscribers))) {
		status = collect_deliver(RTL_RECORD_RECOVER, folder, notes->recording, &left, false,
					 false);
		if (!status && notes->subscribers)
			return deliver_kept(notes, session);
		if (!status)
			cli_error("recovered: %s to the recording %s", folder, notes->recording);
		return status;
	}
	status = deliver_to(folder, notes, session, &left);
	if (left && !status)
		cli_error("%u process%s still run%s; what %s from now on is not recorded", left,
			  left > 1 ? "es" : "", left > 1 ? "" : "s",
			  left > 1 ? "they do" : "it does");
	return status;
}

static int refuse_owner(const char *folder, uid_t owner)
{
	return cli_failed("recover: %s belongs to user %u and may name programs to load: let that "
			  "user recover it; `rtl replay %s` shows it to subscribers of yours",
			  folder, (unsigned)owner, folder);
}

static int check_notes(const char *folder, const struct notes *notes)
{
	struct stat st;

	/* the folder may have been another one a moment ago */
	if (notes->owner != geteuid())
		return refuse_owner(folder, notes->owner);
	if (stat(folder, &st))
		return cli_failed("recover: %s: %s", folder, strerror(errno));
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return cli_failed("recover: other users can write to %s and make rtl load their "
				  "libraries: check it, then `chmod go-w` it",
				  folder);
	return CLI_OK;
}

static int recover(const char *folder, struct session settings)
{
	struct rtl_folder is;
	struct notes notes;
	struct stat st;
	int status = CLI_OK, error;

	/* What a folder names is loaded and written with the caller's rights: nobody else may have had a
	 * hand in it. A missing folder is reported later. */
	if (!stat(folder, &st) && st.st_uid != geteuid())
		status = refuse_owner(folder, st.st_uid);

	if (!status && folder_clean(folder)) {
		cli_error("removed %s: its process was killed and left no events", folder);
		return CLI_OK;
	}
	if (!status)
		status = folder_look("recover", folder, &is);
	if (status)
		return status;
	if (is.in_use)
		return cli_failed("recover: %s is in use by process %d, which completes its output "
				  "itself",
				  folder, is.pid);
	if (is.kind == RTL_FOLDER_OTHER)
		return cli_failed("recover: %s is a complete recording; `rtl replay` delivers it "
				  "to subscribers",
				  folder);
	error = notes_read(folder, &notes);
	if (error)
		return cli_failed("recover: %s/%s: %s", folder, RTL_COLLECTOR_NOTES,
				  strerror(error));
	status = check_notes(folder, &notes);
	if (!status)
		status = deliver(folder, &notes, &settings);
	session_fini(&settings);
	notes_fini(&notes);
	return status;
}

static int run(void *user)
{
	const struct request *request = user;
	const struct cli_operands *folders = &request->folders;
	const struct session *session = &request->session;
	int status = CLI_OK;

	if (!folders->count && (session->outputs.count || session->subscribers))
		return cli_usage("recover: give the folder; `rtl recover` alone lists them");
	if (!folders->count)
		return list();
	for (size_t i = 0; i < folders->count; i++) {
		int error = recover(folders->list[i], *session);
		status = error ? error : status;
	}
	return status;
}

const struct cli_command cmd_recover = {
	.name = "recover",
	.operands = "[FOLDER]...",
	.purpose = "Completes the output after rtl or the program died",
	.details = "Without FOLDER: lists what can be recovered, the newest first.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct request, folders, SIZE_MAX, NULL),
	.run = run,
};
