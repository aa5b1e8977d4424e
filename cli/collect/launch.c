/* SPDX-License-Identifier: MIT */
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folders.h"

void launch_make_id(struct launch *launch)
{
	struct timespec now;
	uint64_t random;

	clock_gettime(CLOCK_REALTIME, &now);
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (uint64_t)now.tv_nsec << 32 | (uint32_t)getpid();
	snprintf(launch->id, sizeof(launch->id), "%lld-%016llx", (long long)now.tv_sec,
		 (unsigned long long)random);
}

int launch_find(const char *name, char *file)
{
	const char *path = getenv("PATH");
	char unused[PATH_MAX];
	int error = ENOENT;
	struct stat st;

	file = file ? file : unused;
	if (strchr(name, '/')) {
		snprintf(file, PATH_MAX, "%s", name);
		return access(name, X_OK)                       ? errno
		       : stat(name, &st) || S_ISREG(st.st_mode) ? 0
								: EACCES;
	}
	for (path = path ? path : "/bin:/usr/bin"; path; path = strchr(path, ':')) {
		path += *path == ':';
		int length = (int)strcspn(path, ":");
		snprintf(file, PATH_MAX, "%.*s%s%s", length, path, length ? "/" : "", name);
		if (!access(file, X_OK) && !stat(file, &st) && S_ISREG(st.st_mode))
			return 0;
		if (errno == EACCES)
			error = EACCES;
	}
	return error;
}

int launch_refuse(const char *command, int error)
{
	bool missing = error == ENOENT || error == ENOTDIR;

	if (missing && strchr(command, '/') && !access(command, F_OK))
		cli_error("cannot run %s: the file is there, but the interpreter that it names is "
			  "not",
			  command);
	else if (missing && !strchr(command, '/'))
		cli_error("cannot run %s: there is no such command in PATH", command);
	else
		cli_error("cannot run %s: %s", command, strerror(error));
	return missing ? CLI_NOT_FOUND : CLI_CANNOT_RUN;
}

/* Of 10 ms, at most, for `rtl status`. */
#define STATUS_NAPS 1000

/* Forgets snapshots that have ended; `all`: serves the others and waits for them. */
static void end_snapshots(struct collect *collect, bool all)
{
	for (size_t i = 0; i < SNAPSHOTS_AT_ONCE; i++) {
		pid_t *pid = &collect->snapshots[i];
		pid_t ended = *pid ? waitpid(*pid, NULL, WNOHANG) : 0;

		while (*pid && all && !ended) {
			collect_poll(collect); /* perhaps its other thread still does */
			ended = waitpid(*pid, NULL, WNOHANG);
		}
		if (ended)
			*pid = 0;
	}
}

/* Starts another rtl as a user would. Its output goes to standard error. */
static int spawn_rtl(const char *verb, const char *operand, pid_t *pid)
{
	char name[] = "rtl",
	     *argv[] = {name, (char *)(uintptr_t)verb, (char *)(uintptr_t)operand, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int error;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	error = posix_spawn(pid, "/proc/self/exe", &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* On the thread of the signals, which does so no more when the command has ended. */
static void start_snapshot(void *user)
{
	struct collect *collect = user;
	size_t i = 0;
	int error;

	end_snapshots(collect, false);
	while (i < SNAPSHOTS_AT_ONCE && collect->snapshots[i])
		i++;
	error = i < SNAPSHOTS_AT_ONCE
			? spawn_rtl("snapshot", collect->folder, &collect->snapshots[i])
			: EAGAIN;
	if (error)
		cli_error("no snapshot: %s", strerror(error));
}

/* ---- the end ---- */

struct end {
	pid_t command;
	int number;
};

/* Where it holds its spool's lock and is of our session: else the number may be that of another process. */
static void end_process(void *user, const char *path, const struct rtl_folder *is)
{
	const struct end *end = user;
	char *control = cli_format("%s/control", path);
	int fd = open(control, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && is->pid > 1 && is->pid != getpid() &&
	    is->pid != end->command && getsid(is->pid) == getsid(0))
		kill(is->pid, end->number);
	if (fd >= 0)
		close(fd);
	free(control);
}

/* What it does is said by another rtl, which gets some time for that: this one drains meanwhile. All that is traced
 * gets the signal, for what a shell has started does not end with it. */
static void expired(void *user, pid_t pid, int number)
{
	const struct timespec nap = {.tv_nsec = 10000000};
	const struct launch *launch = user;
	const char *folder = launch->collect.folder;
	char text[24];
	pid_t status;

	cli_error(number == SIGKILL ? "it still runs: SIGKILL"
				    : "the command has not ended after %u s (--timeout): SIGTERM. "
				      "What it is doing:",
		  launch->timeout_s);
	snprintf(text, sizeof(text), "%d", folder ? getpid() : pid);
	if (number == SIGTERM && !spawn_rtl("status", text, &status)) {
		for (int i = 0; !waitpid(status, NULL, WNOHANG); i++)
			if (nanosleep(&nap, NULL) || i == STATUS_NAPS)
				kill(status, SIGKILL);
	}
	if (folder)
		folder_visit_spools(folder, end_process, &(struct end){pid, number});
}

char *launch_ended(const struct launch *launch, int status)
{
	const char *signal = WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : NULL;
	char *over = child_timed_out() ? cli_format(": --timeout %u", launch->timeout_s) : NULL;
	char *text = WIFSIGNALED(status)
			     ? cli_format("by signal %d (SIG%s)%s", WTERMSIG(status),
					  signal ? signal : "?", cli_text(over))
			     : cli_format("with status %d%s", WEXITSTATUS(status), cli_text(over));

	free(over);
	return text;
}

void launch_report_ended(const struct launch *launch, int status)
{
	char *ended = launch_ended(launch, status);

	if (status || child_timed_out())
		cli_error("the command ended %s", ended);
	free(ended);
}

/* How the command ended is a property of its trace. */
static void finish(void *user, int status)
{
	char *ended = launch_ended(
		(struct launch *)((char *)user - offsetof(struct launch, collect)), status);

	end_snapshots(user, true);
	setenv("RTL_ENDED", ended, 1);
	free(ended);
	collect_finish(user);
}

/* Runs the command beside a collector that has been started, and finishes that. 0, or errno. */
static int run_beside(struct launch *launch, const char *what, int *status)
{
	struct collect *collect = &launch->collect;
	const struct session *session = &launch->session;
	struct child_work job = {.user = collect,
				 .work = collect_poll,
				 .wake = collect_wake,
				 .finish = finish,
				 .is_stoppable = collect_is_stoppable,
				 .snapshot_signal = launch->selection.snapshot_signal_number,
				 .snapshot = start_snapshot,
				 .output_to_stderr = session->output_to_stderr,
				 .waits_for_all = launch->wait_children};
	char *hold_on = cli_format(
		"the command has ended, its %s is being completed; another signal stops that, too",
		what);
	char *last_words = cli_format("the %s is not complete; `rtl recover %s` completes it", what,
				      collect->folder);
	int error;

	launch->collected = true;
	if (job.waits_for_all)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	job.hold_on = hold_on;
	job.last_words = last_words;
	crash_explain(job.last_words);
	error = child_run(launch->command, session->variables, session->variable_count, &job,
			  status);
	if (error)
		collect_finish(collect);
	crash_explain(NULL);
	free(hold_on);
	free(last_words);
	return error;
}

int launch_run(struct launch *launch, struct rtl_collector_options options, const char *what,
	       int *status)
{
	const char *command = launch->command[0];
	int error = launch_find(command, NULL), result = error ? 0 : collect_start(launch, options);

	if (!error && !result)
		error = run_beside(launch, what, status);
	return error ? launch_refuse(command, error) : result;
}

/* ---- options ---- */

int launch_begin(struct launch *launch, const char *verb)
{
	launch->selection.verb = verb;
	launch_make_id(launch);
	if (launch->spool && !*launch->spool)
		return cli_usage("--spool: the name of the folder is empty");
	launch->command = launch->operands.command;
	launch->collect.quiet = launch->quiet;
	launch->collect.selection = &launch->selection;
	child_limit(launch->timeout_s, expired, launch);
	if (!launch->quiet)
		folders_mention();
	return CLI_OK;
}

int launch_prepare(struct launch *launch, bool in_process, bool records)
{
	struct session *session = &launch->session;
	int status;

	session->default_mode = RTL_TRACE_MODE;
	status = session_prepare_mode(session);
	if (!status)
		status = selection_prepare(&launch->selection, session, in_process);
	if (!status)
		status = session_prepare_counters(session);
	if (!status && !records)
		status = session_prepare_subscribers(session);
	return status ? status : session_prepare_programs(session, launch->id);
}

void launch_fini(struct launch *launch)
{
	session_fini(&launch->session);
	selection_fini(&launch->selection);
	run_ledger_fini(&launch->collect.ledger);
	free(launch->collect.kept);
}

char *launch_default_output(const struct launch *launch, const char *suffix)
{
	return cli_format("rtl-%s-%d%s", cli_base_name(launch->command[0]), getpid(), suffix);
}

/* ---- after ---- */

int launch_deliver_kept(struct launch *launch)
{
	struct collect *collect = &launch->collect;
	int status = CLI_OK;

	if (collect->kept)
		return cli_failed("the trace is not complete; `rtl recover %s` completes it once "
				  "the error above is fixed",
				  collect->kept);
	if (collect->met)
		status = collect_deliver(RTL_REPLAY, collect->recording, launch->session.list, NULL,
					 false, collect->quiet);
	if (status)
		cli_error("the events are in %s; `rtl replay %s` delivers them to subscribers",
			  collect->recording, collect->recording);
	else
		rtl_collector_snapshot_remove(collect->recording);
	return status;
}

void launch_report_left(const struct launch *launch)
{
	const uint32_t left = launch->collect.left, ms = launch->collect.kept_ms;

	if (ms)
		cli_error("the last %u.%03u s are kept, not %s: there was no more room (--limit)",
			  ms / 1000, ms % 1000, launch->selection.last);
	if (left)
		cli_error("%u process%s of the command still ran when it ended; what %s from then "
			  "on is not recorded (--wait-children waits for %s)",
			  left, left > 1 ? "es" : "", left > 1 ? "they did" : "it did",
			  left > 1 ? "them" : "it");
}

void launch_report_no_rocm(const struct launch *launch)
{
	if (launch->session.no_rocm)
		cli_error("work on the GPU was not traced: %s", launch->session.no_rocm);
}
