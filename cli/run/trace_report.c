/* SPDX-License-Identifier: MIT */
#include "ending.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "database.h"
#include "folders.h"
#include "launch.h"
#include "summary.h"

#define TOP_ROWS       10
#define SIBLINGS_SHOWN 8

/* The database of that path, if it was written by this run; NULL: it was not. */
static struct database *open_own(const struct launch *launch, const char *path)
{
	struct database *database = path ? database_open(path, true) : NULL;
	char *session = database ? database_fact(database, "session") : NULL;

	if (!session || strcmp(session, launch->id) != 0) {
		database_close(database);
		database = NULL;
	}
	free(session);
	return database;
}

/* The folder with the events that a process which drained itself did not deliver; to be freed. */
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
		cli_error("to add what is missing: rtl recover -o %s %s", file, spool);
	free(file);
	free(spool);
}

static void print_summary(struct database *database, const char *path)
{
	const struct summary_style style = {.title = "", .top = TOP_ROWS};
	struct summary *summary = cli_need(summary_create());

	if (!database_summarize(database, summary))
		summary_print_text(summary, stderr, &style);
	summary_destroy(summary);
	fputc('\n', stderr);
	if (path)
		cli_error("trace: %s", path);
}

/* There is no trace. */
static void report_nothing(const struct launch *launch)
{
	struct ending ending;

	ending_init(&ending, launch, NULL, NULL);
	ending_say(&ending);
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
	struct database *database = open_own(search->launch, path);

	database_close(database);
	return database;
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

/* The first file whose name is that of the output with `-PID` or `-PID-N` before its suffix, and for which `is_it`
 * says so; NULL: none. To be freed. */
static char *find_beside(const char *path, bool (*is_it)(const char *path, void *user), void *user)
{
	const char *base = strrchr(path, '/') + 1, *dot = strrchr(base, '.');
	const char *suffix = dot && dot != base ? dot : path + strlen(path);
	char *glob = NULL, *found;
	size_t size;
	FILE *out = cli_need(open_memstream(&glob, &size));

	for (const char *at = path; *at; at++) {
		if (at == suffix)
			fputs("-[0-9]*", out);
		if (strchr("*?[\\", *at))
			fputc('\\', out);
		fputc(*at, out);
	}
	if (!*suffix)
		fputs("-[0-9]*", out);
	cli_need(fclose(out) ? NULL : glob);
	found = session_find_file(glob, is_it, user);
	free(glob);
	return found;
}

/* Whether a database is to be written; where its name has a process in it, or another rtl writes
 * the file of that name, it is looked for now. */
static bool has_database(struct launch *launch)
{
	struct search search = {.launch = launch};
	char **path = &launch->session.database, *other;

	if (!*path) {
		*path = session_find_file(launch->session.database_glob, is_trace, &search);
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

/* There was something to write, and it is not there. */
static void report_missing(const struct launch *launch)
{
	const char *path = launch->session.database;

	if (path && !access(path, F_OK))
		cli_error("there is no trace: %s is not of this run; it could not be written, or "
			  "was replaced meanwhile",
			  path);
	else
		cli_error("there is no trace: %s could not be made, or was removed",
			  path ? path : "this run's file");
}

/* pid, how often, how long */
static void print_wait(void *user, const char *const *row)
{
	cli_error("process %s waited %s times for rtl, %s s in all: its buffers were full; a "
		  "larger RTL_BUFFER_TOTAL avoids that",
		  row[0], row[1], row[2]);
}

/* With -q only what is wrong is said: a trace with nothing of a GPU, but other events, is not. */
static bool is_worth_a_word(const struct ending *ending, const struct launch *launch,
			    const struct run_ledger *ledger)
{
	return ending_is_empty(ending) &&
	       !(ending->something && launch->quiet && !ledger->loss_count);
}

static void report_trace(const struct launch *launch, struct database *database, int status)
{
	const char *path = launch->session.database;
	const char *shown = outputs_shown(&launch->session.outputs, path);
	char *writer = database_fact(database, "writer");
	struct run_ledger ledger;
	struct ending ending;
	bool said;

	run_ledger_read(&ledger, database);
	ending_init(&ending, launch, &ledger, database);
	/* what was lost is said even where nothing else came of it */
	said = !writer && is_worth_a_word(&ending, launch, &ledger);
	if (writer)
		explain_incomplete(path, writer, status);
	else if (said)
		ending_say(&ending);
	if (launch->quiet)
		run_ledger_say(&ledger, said);
	else if (ending.something ||
		 database_number(database,
				 "SELECT sum(discarded + abandoned + missed) FROM rtl_ledger WHERE "
				 "stream <> 'rtl.diagnostics'",
				 NULL) > 0)
		print_summary(database, shown);
	else if (!writer && shown)
		cli_error("trace: %s", shown);
	ending_say_missing(&ending);
	if (!launch->quiet) /* the longest; rtl info has all */
		database_query(database,
			       "SELECT p.pid, w.waits, round(w.waited_ns / 1e9, 3) FROM rtl_wait "
			       "AS w JOIN rtl_process AS p USING (process) WHERE w.waited_ns >= "
			       "100000000 ORDER BY w.waited_ns DESC LIMIT 3",
			       print_wait, NULL);
	if (!launch->quiet || !ending.something)
		launch_report_no_rocm(launch);
	run_ledger_fini(&ledger);
	free(writer);
}

/* Of a run whose outputs cannot be asked: what its host knows. */
static void report_ledger(const struct launch *launch)
{
	const struct run_ledger *ledger = &launch->collect.ledger;
	struct ending ending;
	bool said;

	if (!ledger->known)
		return;
	ending_init(&ending, launch, launch->collect.met ? ledger : NULL, NULL);
	said = is_worth_a_word(&ending, launch, ledger) &&
	       (launch->session.takes_operations || launch->paused || launch->collect.paused);
	if (said)
		ending_say(&ending);
	if (launch->quiet || !launch->session.prints_statistics)
		run_ledger_say(ledger, said);
	ending_say_missing(&ending);
}

static void report_database(const struct launch *launch, int status)
{
	struct database *database = open_own(launch, launch->session.database);

	if (database)
		report_trace(launch, database, status);
	else if (launch->collect.met)
		report_missing(launch);
	else
		report_nothing(launch);
	database_close(database);
}

/* Other processes of the command have written files of their own. */
static void report_siblings(const struct launch *launch)
{
	struct search search = {.launch = launch};

	if (launch->session.database_glob)
		free(session_find_file(launch->session.database_glob, is_another, &search));
	else
		free(find_beside(launch->session.database, is_another, &search));
	if (search.others > SIBLINGS_SHOWN)
		cli_error("and %d more, beside them", search.others - SIBLINGS_SHOWN);
}

static bool is_timeline(const char *path, void *id)
{
	enum timeline_format format;

	return timeline_format_of(path, &format) &&
	       timeline_look(path, format, id, NULL) == LOOK_SESSION;
}

/* The timelines of this run; whether there is one of them. */
static bool report_timelines(const struct launch *launch, bool expected)
{
	const struct session *session = &launch->session;
	bool any = false;

	for (size_t i = 0; i < session->timeline_count; i++) {
		char *path = session_find_file(session->timelines[i], is_timeline,
					       (void *)(uintptr_t)launch->id);

		any |= path != NULL;
		if (path && !launch->quiet)
			cli_error("trace: %s", path);
		else if (!path && expected)
			cli_error("there is no trace: %s could not be made, or was replaced",
				  session->timelines[i]);
		free(path);
	}
	return any;
}

void trace_report_in_process(struct launch *launch, int status)
{
	const bool database = has_database(launch);
	bool any;

	if (database) {
		report_database(launch, status);
		if (launch->session.database)
			report_siblings(launch);
	} else if (launch->paused && launch->collect.paused && !launch->quiet)
		cli_error("recording was paused when the command began and when it ended");
	any = report_timelines(launch, false);
	if (!database && !any && launch->session.timeline_count)
		report_nothing(launch);
	else if (!database && !launch->quiet)
		launch_report_no_rocm(launch);
}

void trace_report_collected(struct launch *launch, int status)
{
	bool database = has_database(launch);

	if (!launch->collect.met) {
		if (database)
			trace_remove_empty(launch);
		outputs_drop_tables(&launch->session.outputs);
		report_nothing(launch);
	} else {
		if (database) {
			report_database(launch, status);
		} else {
			if (!launch->quiet && !launch->session.prints_statistics)
				launch_report_ended(launch, status);
			report_ledger(launch);
		}
		report_timelines(launch, true);
		if (outputs_make_tables(&launch->session.outputs, launch->session.database,
					launch->quiet))
			outputs_say_left(&launch->session.outputs);
		if (!database && !launch->quiet)
			launch_report_no_rocm(launch);
	}
	launch_report_left(launch);
}
