/* SPDX-License-Identifier: MIT */
/* rtl attach, rtl ps: looks into programs that sleep until then (rtl env --attachable). */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rtl/publish.h>

#include "child.h"
#include "cli.h"
#include "database.h"
#include "ending.h"
#include "folders.h"
#include "launch.h"
#include "view.h"

/* ---- which process ---- */

static bool is_meant(const struct folder *folder, const char *name)
{
	unsigned pid;

	return cli_number(name, &pid) ? (unsigned)folder->is.pid == pid
				      : !strcmp(folder->is.program, name);
}

/* Why there is none. */
static int refuse(const char *name)
{
	char path[64];
	unsigned pid;
	struct stat st;

	if (!cli_number(name, &pid))
		return cli_failed("attach: no program '%s' to attach to; see `rtl ps`", name);
	snprintf(path, sizeof(path), "/proc/%u", pid);
	if (stat(path, &st))
		return cli_failed("attach: there is no process %u", pid);
	if (st.st_uid != geteuid())
		return cli_failed("attach: process %u belongs to user %u", pid,
				  (unsigned)st.st_uid);
	return cli_failed("attach: process %u cannot be attached to: it was not started after eval "
			  "\"$(rtl env --attachable)\", or has not used a GPU yet",
			  pid);
}

/* The one that is meant. */
static int find(const struct folders *folders, const char *name, const struct folder **out)
{
	size_t found = 0;

	for (size_t i = 0; i < folders->count; i++)
		if (is_meant(&folders->items[i], name) && !found++)
			*out = &folders->items[i];
	if (found > 1)
		return cli_usage("attach: %zu processes are '%s'; give the number of one (`rtl "
				 "ps` lists them)",
				 found, name);
	return found ? CLI_OK : refuse(name);
}

/* ---- rtl attach ---- */

static const struct cli_option options[] = {
	CLI_TAKES('o', "output", "FILE", LAUNCH_INTO(session.outputs), outputs_add,
		  "file to write, as for `rtl trace` (default:\n"
		  "rtl-PROGRAM-PID.db)"),
	CLI_VALUE('s', "subscribers", "LIST", LAUNCH_INTO(session.subscribers),
		  "subscribers instead of libsqlite_sub.so; colon-separated\n"
		  "NAME or NAME?key=value&key=value"),
	CLI_VALUE(0, "duration", "SECONDS", LAUNCH_SELECT(duration),
		  "record for that long (default: until Ctrl-C)"),
	CLI_VALUE(0, "last", "SECONDS", LAUNCH_SELECT(last),
		  "flight recorder: write only the last SECONDS"),
	CLI_VALUE(0, "limit", "SIZE", LAUNCH_SELECT(limit),
		  "with --last: the most to keep (default: 512M)"),
	CLI_FLAG('q', "quiet", LAUNCH_INTO(quiet), "print errors only"),
};

static struct collect *woken; /* by a signal */
static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	stopped = 1;
	if (woken)
		collect_wake(woken);
}

/* The second one ends rtl, as ever. */
static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

static bool has_ended(int pid, int fd)
{
	return fd < 0 ? kill(pid, 0) && errno == ESRCH
		      : poll(&(struct pollfd){fd, POLLIN, 0}, 1, 0) > 0;
}

static void record(struct launch *launch, int pid, uint64_t duration_ns)
{
	uint64_t end_ns;
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	bool ended = false;

	if (!launch->quiet)
		cli_error("attached to process %d, %s; Ctrl-C detaches", pid, *launch->command);
	crash_explain("the trace is not complete; the process goes on");
	collect_poll(&launch->collect); /* the process is told; its time begins */
	end_ns = duration_ns ? rtl_clock_ns() + duration_ns : UINT64_MAX;
	while (!stopped && !(ended = has_ended(pid, fd)) && rtl_clock_ns() < end_ns)
		collect_poll(&launch->collect);
	close(fd);
	woken = NULL;
	collect_finish(&launch->collect);
	crash_explain(NULL);
	launch->collect.left = 0; /* that is how it should be */
	if (ended && !launch->quiet)
		cli_error("process %d has ended", pid);
}

/* A process that puts the attached one to sleep if we are killed: it attaches, and leaves. Returns where we write a byte
 * when we have left, or -1: then that one sleeps when a buffer is full. */
static int start_guard(struct launch *launch, const struct folder *folder)
{
	int ends[2];
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -1;
	if (fork()) {
		close(ends[0]);
		return ends[1];
	}
	setsid(); /* no signal of our terminal's or group's is for it */
	close(ends[1]);
	if (read(ends[0], &byte, 1))
		_exit(0);
	rtl_collector_snapshot_remove(cli_format("%s-last", folder->path));
	if (!collect_start(launch, (struct rtl_collector_options){.kind = RTL_ATTACH,
								  .folder = folder->path,
								  .own = &collect_nothing,
								  .subscribers = ""}))
		collect_finish(&launch->collect);
	_exit(0);
}

static int attach(struct launch *launch, const struct folder *folder, uint64_t duration_ns)
{
	const bool last = launch->selection.last;
	const int guard = start_guard(launch, folder);
	const char *subscribers = last ? NULL : launch->session.list;
	int status = collect_start(launch, (struct rtl_collector_options){
						   .kind = RTL_ATTACH,
						   .folder = folder->path,
						   .subscribers = subscribers,
						   .limit_bytes = launch->selection.limit_bytes});

	if (!status) {
		launch->collected = true;
		woken = &launch->collect;
		catch_signals();
		record(launch, folder->is.pid, duration_ns);
		status = launch->collect.failed ? CLI_FAILED : CLI_OK;
		if (last && !status)
			status = launch_deliver_kept(launch);
		else if (last)
			rtl_collector_snapshot_remove(launch->collect.recording);
		if (!last || !status)
			trace_report_collected(launch, 0);
	}
	(void)send(guard, "", 1, MSG_NOSIGNAL); /* it may have been killed */
	close(guard);
	return status;
}

static int prepare(struct launch *launch, uint64_t *duration_ns)
{
	const struct selection *selection = &launch->selection;
	struct session *session = &launch->session;
	int status = selection_prepare_last(&launch->selection, false);

	session->default_mode = RTL_TRACE_MODE;
	session->outputs.makes_tables = true;
	session->summarizes = !launch->quiet;
	if (!status && selection->duration &&
	    (!selection_seconds(selection->duration, duration_ns) || !*duration_ns))
		return cli_usage("attach: --duration takes seconds such as 10 or 0.5, not '%s'",
				 selection->duration);
	if (!status)
		status = session_prepare_subscribers(session);
	if (!status && session->database && selection->last)
		status = database_check_replaceable(session->database);
	return status;
}

static int run(void *request)
{
	const struct folder *folder = NULL;
	struct launch *launch = request;
	char *command[] = {NULL, NULL}, *output = NULL;
	uint64_t duration_ns = 0;
	struct folders folders;
	int status = launch_begin(launch, "attach");

	sleepers_find(&folders);
	if (!status)
		status = find(&folders, launch->operands.list[0], &folder);
	if (!status) {
		*command = (char *)(uintptr_t)folder->is.program;
		launch->command = command;
		launch->session.default_output = output = launch_default_output(launch, ".db");
		status = prepare(launch, &duration_ns);
	}
	if (!status)
		status = attach(launch, folder, duration_ns);
	launch_fini(launch);
	free(output);
	folders_fini(&folders);
	return status;
}

const struct cli_command cmd_attach = {
	.name = "attach",
	.operands = "PID|PROGRAM",
	.purpose = "Records a running program until Ctrl-C",
	.details = "Start the program after eval \"$(rtl env --attachable)\"; `rtl ps` lists such "
		   "programs.\n"
		   "It goes on when rtl detaches, and you can attach again.",
	CLI_OPTIONS(options),
	.operands_at = LAUNCH_INTO(operands),
	.operands_most = 1,
	.excess = "one process at a time",
	.missing = "give a process: rtl attach PID",
	.request_size = sizeof(struct launch),
	.request = &(const struct launch){.selection.repeat = 1},
	.run = run,
};

/* ---- rtl ps ---- */

struct listing {
	bool as_json;
};

static const struct cli_option listing_options[] = {
	CLI_FLAG(0, "json", offsetof(struct listing, as_json), "print JSON, for programs"),
};

static int list(void *user)
{
	const struct listing *listing = user;
	struct folders folders;
	struct view view;
	int status;

	sleepers_find(&folders);
	view_begin(&view, listing->as_json);
	json_print(&view.json, "{processes:[");
	for (size_t i = 0; i < folders.count; i++)
		json_print(&view.json, "{pid:%d program:%s attached:%d}", folders.items[i].is.pid,
			   folders.items[i].is.program, folders.items[i].collector);
	status = view_end(
		&view,
		"WITH p AS (SELECT json_extract(value, '$.pid') AS pid,"
		" json_extract(value, '$.program') AS program,"
		" json_extract(value, '$.attached') AS rtl FROM json_each(?1, '$.processes'))"
		" SELECT line, NULL FROM (SELECT 0 AS pid, 'no program of yours can be attached to:"
		" start one after eval \"$(rtl env --attachable)\"' AS line"
		" WHERE NOT EXISTS (SELECT 1 FROM p)"
		" UNION ALL SELECT pid, printf('%8d  %-10s  %s', pid,"
		" CASE WHEN rtl THEN 'attached' ELSE 'asleep' END, program) FROM p) ORDER BY pid");
	folders_fini(&folders);
	return status;
}

const struct cli_command cmd_ps = {
	.name = "ps",
	.operands = "",
	.purpose = "Lists the programs that `rtl attach` can record",
	.details = "Lists your programs that were started after eval \"$(rtl env --attachable)\" "
		   "and have\nused a GPU or published events of their own.",
	CLI_OPTIONS(listing_options),
	.request_size = sizeof(struct listing),
	.run = list,
};
