/* SPDX-License-Identifier: MIT */
/* See trace_report.h. */
#include "trace_report.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "database.h"
#include "folders.h"
#include "summary.h"

#define TOP_ROWS       10
#define SIBLINGS_SHOWN 8

/* Whether a database was written by this run. */
static bool is_ours(struct database *database, const struct launch *launch)
{
	char *session = database_fact(database, "session");
	bool ours = session && !strcmp(session, launch->id);

	free(session);
	return ours;
}

/* Where the events wait that a process which has drained itself did not deliver; to be freed. */
static char *find_spool(int pid)
{
	struct folders folders;
	char *path = NULL;

	folders_find(&folders);
	for (size_t i = 0; i < folders.count && !path; i++) {
		const struct rtl_folder *is = &folders.items[i].is;
		if (is->kind == RTL_FOLDER_SPOOL && !is->in_use && is->pid == pid)
			path = strdup(folders.items[i].path);
	}
	folders_fini(&folders);
	return path;
}

/* Why the command's trace has an end that is not that of the command, and what to do. `writer`
 * begins with the number of the process that wrote it. */
static void explain_incomplete(const char *path, const char *writer, int status)
{
	pid_t pid = atoi(writer);
	char *spool = find_spool(pid), *file = spool ? cli_quote(path) : NULL;

	if (pid == getpid())
		cli_error("%s is not complete: it could not be written to the end", path);
	else if (WIFSIGNALED(status))
		cli_error("%s is not complete: SIG%s ended the command before all was written",
			  path,
			  sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?");
	else
		cli_error("%s is not complete: the command's process still runs, ended by _exit or "
			  "was killed before all was written, or could not write it",
			  path);
	if (file)
		cli_error("what is missing can be had: rtl recover -o %s %s", file, spool);
	free(file);
	free(spool);
}

static void print_summary(struct database *database, const char *path)
{
	const struct summary_style style = {.title = "", .top = TOP_ROWS};
	struct summary *summary = summary_create();

	if (summary && !database_summarize(database, summary))
		summary_print_text(summary, stderr, &style);
	summary_destroy(summary);
	fputc('\n', stderr);
	cli_error("trace: %s", path);
}

/* Whether streams are left out by name, which explains a trace without events; NULL: none. */
static const char *left_out(void)
{
	const char *patterns = getenv("RTL_STREAMS");

	return patterns && *patterns ? patterns : NULL;
}

static void report_nothing(const struct launch *launch)
{
	if (left_out())
		cli_error("nothing was recorded: RTL_STREAMS=%s leaves out all that the command "
			  "published, or it published nothing",
			  left_out());
	else if (launch->session.no_rocm)
		cli_error("nothing was recorded: the command published nothing itself");
	else
		cli_error("nothing was recorded: the command never initialised the HSA runtime, so "
			  "it did not use a GPU, or its runtime does not honour HSA_TOOLS_LIB");
	launch_report_no_rocm(launch);
}

/* A database without an event. */
static void report_no_event(const struct launch *launch)
{
	const char *path = launch->session.database;

	if (left_out())
		cli_error("no event was recorded: RTL_STREAMS=%s leaves out all that the command "
			  "published, or it published nothing; trace: %s",
			  left_out(), path);
	else if (launch->session.no_rocm)
		cli_error("no event was recorded: the command has streams of its own, but "
			  "published nothing on them; trace: %s",
			  path);
	else
		cli_error("no GPU operation was recorded: the command dispatched no kernel, or "
			  "none has ended, and it published nothing itself; trace: %s",
			  path);
	launch_report_no_rocm(launch);
}

/* A look for the traces of this run. */
struct search {
	const struct launch *launch;
	int others; /* found beside the one that was reported */
};

static bool is_trace(const char *path, void *user)
{
	const struct search *search = user;
	struct database *database = database_open(path, true);
	bool ours = database && is_ours(database, search->launch);

	database_close(database);
	return ours;
}

/* Says that it is one of another process, if it is. */
static bool is_another(const char *path, void *user)
{
	struct search *search = user;
	char *absolute = session_absolute_path(path);

	if (absolute && strcmp(absolute, search->launch->session.database) != 0 &&
	    is_trace(path, search) && ++search->others <= SIBLINGS_SHOWN)
		cli_error("trace of another process: %s", absolute);
	free(absolute);
	return false;
}

/* Whether a file name is that of the output with `-PID` or `-PID-N` before its suffix. */
static bool is_sibling(const char *name, const char *output)
{
	const char *dot = strrchr(output, '.');
	size_t stem = dot && dot != output ? (size_t)(dot - output) : strlen(output);
	size_t digits;

	if (strncmp(name, output, stem) != 0 || name[stem] != '-')
		return false;
	digits = strspn(name + stem, "-0123456789");
	return digits > 1 && !strcmp(name + stem + digits, output + stem);
}

/* The first file of the output's folder whose name is like it and for which `is_it` says so; NULL:
 * none. To be freed. */
static char *find_beside(const char *path, bool (*is_it)(const char *path, void *user), void *user)
{
	const char *output = strrchr(path, '/') + 1;
	char *folder = strndup(path, (size_t)(output - path)), *other, *found = NULL;
	struct dirent **entries;
	int count = folder ? scandir(folder, &entries, NULL, alphasort) : -1;

	for (int i = 0; i < count; i++) {
		if (!found && is_sibling(entries[i]->d_name, output) &&
		    asprintf(&other, "%s%s", folder, entries[i]->d_name) >= 0) {
			if (is_it(other, user))
				found = other;
			else
				free(other);
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	free(folder);
	return found;
}

/* Whether a database is to be written; where its name has a process in it, or another rtl writes
 * the file of that name, it is looked for now. */
static bool has_database(struct launch *launch)
{
	struct search search = {.launch = launch};
	char **path = &launch->session.database, *other;

	if (!*path) {
		*path = session_find_output(&launch->session, is_trace, &search);
	} else if (!is_trace(*path, &search) && (other = find_beside(*path, is_trace, &search))) {
		free(*path);
		*path = other;
	}
	return *path || launch->session.database_glob;
}

void trace_remove_empty(struct launch *launch)
{
	struct search search = {.launch = launch};

	if (has_database(launch) && launch->session.database &&
	    is_trace(launch->session.database, &search))
		unlink(launch->session.database);
}

static void report_database(const struct launch *launch, int status)
{
	const char *path = launch->session.database;
	struct database *database = path && !access(path, F_OK) ? database_open(path, false) : NULL;

	if (!database || !is_ours(database, launch)) {
		report_nothing(launch);
		goto out;
	}
	const int64_t operations = database_operations(database);
	bool something = operations > 0 || database_events(database) > 0;
	char *writer = database_fact(database, "writer");
	int64_t lost = database_lost(database);

	if (writer)
		explain_incomplete(path, writer, status);
	/* what was lost is said even where nothing else came of it */
	if ((something && !launch->quiet) || lost > 0) {
		if (!operations && database_used_gpu(database))
			cli_error("no GPU operation was recorded: the command dispatched "
				  "no kernel, or none has ended");
		print_summary(database, path);
		launch_report_no_rocm(launch);
	} else if (!something && !writer) {
		report_no_event(launch);
	}
	free(writer);
out:
	database_close(database);
}

/* Other processes of the command have written files of their own. */
static void report_siblings(const struct launch *launch)
{
	struct search search = {.launch = launch};

	if (launch->session.database_glob)
		free(session_find_output(&launch->session, is_another, &search));
	else
		free(find_beside(launch->session.database, is_another, &search));
	if (search.others > SIBLINGS_SHOWN)
		cli_error("and of %d more, beside them", search.others - SIBLINGS_SHOWN);
}

void trace_report_in_process(struct launch *launch, int status)
{
	if (has_database(launch)) {
		report_database(launch, status);
		if (launch->session.database)
			report_siblings(launch);
	} else if (!launch->quiet) {
		launch_report_no_rocm(launch);
	}
}

void trace_report_collected(struct launch *launch, int status)
{
	struct search search = {.launch = launch};
	bool database = has_database(launch);

	const char *path = launch->session.database;

	if (database && launch->collect.met && path && access(path, F_OK)) {
		cli_error("there is no trace: %s could not be made, or was removed meanwhile",
			  path);
	} else if (database && launch->collect.met && path && !is_trace(path, &search)) {
		cli_error("there is no trace: %s is not of this run; it could not be written, or "
			  "was replaced meanwhile",
			  path);
	} else if (database && launch->collect.met) {
		report_database(launch, status);
	} else if (database) {
		trace_remove_empty(launch);
		report_nothing(launch);
	} else if (!launch->quiet) {
		launch_report_no_rocm(launch);
	}
	launch_report_left(launch);
}
