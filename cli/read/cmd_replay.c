/* SPDX-License-Identifier: MIT */
/* rtl replay: any subscriber over what is in a folder, which stays as it is. */
#include <sys/stat.h>

#include "cli.h"
#include "collect.h"
#include "folders.h"
#include "notes.h"

struct request {
	struct cli_operands operands;
	struct session session;
	const char *input;
};

static const struct cli_option options[] = {
	CLI_TAKES('o', "output", "FILE", offsetof(struct request, session.outputs), outputs_add,
		  "file of the first subscriber that writes one\n"
		  "(default: NAME-OF-THE-FOLDER.db)"),
	CLI_VALUE('s', "subscribers", "LIST", offsetof(struct request, session.subscribers),
		  "subscribers instead of libsqlite_sub.so; colon-separated\n"
		  "NAME or NAME?key=value&key=value"),
	CLI_VALUE('i', "input", "PLUGIN", offsetof(struct request, input),
		  "the source that reads TRACE, e.g. libkernels_src.so\n"
		  "(default: the first that says it does)"),
};

/* The folder's name, in the working directory. To be freed. */
static char *default_output(const char *folder)
{
	char *path = realpath(folder, NULL);
	char *name = path ? cli_format("%s.db", strrchr(path, '/') + 1) : NULL;

	free(path);
	return name;
}

/* The run's properties are those that a collector that died has noted, and none of this process's. The
 * output does not belong to its session: then each process would have a file of its own. */
static int take_properties(const char *folder)
{
	struct notes notes;
	int error = notes_read(folder, &notes);

	if (error)
		return cli_failed("replay: %s: %s", folder, strerror(error));
	collect_set_properties(NULL, notes.mode);
	notes_fini(&notes);
	return CLI_OK;
}

static int replay_folder(const char *folder, struct session *session)
{
	struct rtl_folder is;
	int status = folder_look("replay", folder, &is);

	if (status)
		return status;
	if (is.in_use)
		return cli_failed("replay: %s is in use by process %d, which delivers its events "
				  "itself",
				  folder, is.pid);
	status = session_prepare_subscribers(session);
	if (!status)
		status = take_properties(folder);
	return status ? status
		      : collect_deliver(RTL_REPLAY, folder, session->list, NULL, false, false);
}

static int replay(char *trace, const char *input, struct session *session)
{
	struct stat st;
	int status;

	if (!input && (stat(trace, &st) || S_ISDIR(st.st_mode))) {
		status = replay_folder(trace, session);
	} else {
		status = session_prepare_subscribers(session);
		collect_set_properties(NULL, NULL);
		if (!status)
			status = collect_feed(&trace, 1, input, session->list, NULL);
	}
	return status ? status : collect_check_output(session->database);
}

static int run(void *user)
{
	struct request *request = user;
	struct session *session = &request->session;
	char *trace = request->operands.list[0], *output = default_output(trace);
	int status;

	session->default_output = output;
	session->outputs.makes_tables = true;
	status = replay(trace, request->input, session);
	if (!status)
		status = outputs_make_tables(&session->outputs, session->database, false);
	if (status) /* what is in the folder is unchanged */
		outputs_drop_tables(&session->outputs);
	if (!status && session->database)
		cli_error("trace: %s", outputs_shown(&session->outputs, session->database));
	for (size_t i = 0; !status && i < session->timeline_count; i++)
		cli_error("trace: %s", session->timelines[i]);
	session_fini(session);
	free(output);
	return status;
}

const struct cli_command cmd_replay = {
	.name = "replay",
	.operands = "TRACE",
	.purpose = "Sends the events of a trace to subscribers",
	.details =
		"TRACE is a recording, the folder of a collector that died, one process's spool,\n"
		"or what a source plugin reads. Nothing in it changes.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct request, operands, 1, "one trace at a time"),
	.missing = "give a recording, or a file that a source reads: rtl replay TRACE",
	.run = run,
};
