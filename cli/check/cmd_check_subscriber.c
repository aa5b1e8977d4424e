/* SPDX-License-Identifier: MIT */
/*
 * rtl check-subscriber: leads a subscriber through its life, by synthetic streams, and says what it does wrong.
 * It is loaded in children only: it may crash, hang, or end the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rtl/plugin.h>

#include "check.h"
#include "cli.h"

#define STEP_MS    10
#define TIMEOUT_S  30u
#define SPEC_MAX   (2 * PATH_MAX)
#define OWN_PREFIX "rtl: "

/* What loading it tells, in memory that is shared with the child. */
struct loaded {
	bool done, good;
	char path[PATH_MAX], message[4096], name[64];
	bool has_output, output_given;
	char suffix[16]; /* of the output's default name */
};

struct check {
	struct cli_operands names;
	unsigned timeout_s;
	char folder[PATH_MAX - 64];
	struct loaded *loaded;
	size_t faults;
};

__attribute__((format(printf, 3, 4))) static void fault(struct check *check, const char *scenario,
							const char *format, ...)
{
	char text[1024];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	cli_line("%s: %s", scenario, text);
	check->faults++;
}

/* ---- children ---- */

/* Where the child writes, to be looked at afterwards. */
static void redirect(const char *file, int to)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0 || dup2(fd, to) < 0)
		_exit(1);
	close(fd);
}

/* Begins a child with a folder of its own; 0: this is the child. */
static pid_t begin(const struct check *check, const char *scenario)
{
	char path[PATH_MAX];
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	snprintf(path, sizeof(path), "%s/spool", check->folder);
	setenv("RTL_SPOOL", path, 1);
	unsetenv("RTL_COLLECTOR");
	unsetenv("RTL_SUBSCRIBERS");
	unsetenv("RTL_STREAMS");
	snprintf(path, sizeof(path), "%s/%s", check->folder, scenario);
	if (mkdir(path, 0700) || chdir(path))
		_exit(1);
	redirect("../stdout", STDOUT_FILENO);
	redirect("../stderr", STDERR_FILENO);
	return 0;
}

/* Waits for a child; false: it was ended because it took too long. */
static bool await(const struct check *check, pid_t pid, int *status)
{
	const struct timespec step = {.tv_nsec = STEP_MS * 1000000};

	for (unsigned ms = 0; ms < check->timeout_s * 1000; ms += STEP_MS) {
		if (waitpid(pid, status, WNOHANG))
			return true;
		nanosleep(&step, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, status, 0);
	return false;
}

/* ---- what is wrong ---- */

/* The host's own lines are no fault but those that say that an instance has failed. */
static void judge_line(struct check *check, const struct check_scenario *s, const char *line,
		       const char *where)
{
	if (!strncmp(line, CHECK_SAYS, sizeof(CHECK_SAYS) - 1)) {
		fault(check, s->name, "%s", line + sizeof(CHECK_SAYS) - 1);
		return;
	}
	if (strncmp(line, OWN_PREFIX, sizeof(OWN_PREFIX) - 1)) {
		fault(check, s->name, "prints to standard %s: %s; use host->report", where, line);
		return;
	}
	if (!s->may_fail && strstr(line, "error: "))
		fault(check, s->name, "fails: %s", line + sizeof(OWN_PREFIX) - 1);
}

/* The first of its lines that is a fault is enough. */
static void judge_printed(struct check *check, const struct check_scenario *s, const char *name,
			  const char *where)
{
	const size_t before = check->faults;
	char path[PATH_MAX], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", check->folder, name);
	file = fopen(path, "re");
	while (file && check->faults == before && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		judge_line(check, s, line, where);
	}
	if (file)
		fclose(file);
	unlink(path);
}

static void judge(struct check *check, const struct check_scenario *s, bool in_time, int status)
{
	if (!in_time)
		fault(check, s->name, "hangs: it was not done after %u s", check->timeout_s);
	else if (WIFSIGNALED(status))
		fault(check, s->name, "crashes: %s", strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != CHECK_DONE)
		fault(check, s->name, "ends the process, with status %d", WEXITSTATUS(status));
	judge_printed(check, s, "stdout", "output");
	judge_printed(check, s, "stderr", "error");
}

/* ---- the subscriber ---- */

static void look(struct loaded *loaded, const char *spec)
{
	struct rtl_plugin *plugin;
	size_t count;

	loaded->good = !rtl_plugin_open(spec, &plugin, loaded->message, sizeof(loaded->message));
	loaded->done = true;
	if (!loaded->good)
		return;
	if (!realpath(rtl_plugin_path(plugin), loaded->path))
		snprintf(loaded->path, sizeof(loaded->path), "%s", rtl_plugin_path(plugin));
	snprintf(loaded->name, sizeof(loaded->name), "%s", rtl_plugin_subscriber(plugin)->name);
	const struct rtl_setting *settings = rtl_plugin_settings(plugin, &count);
	for (size_t i = 0; i < count; i++) {
		const struct rtl_setting *setting = rtl_setting_at(settings, i);

		if (strcmp(setting->key, "output"))
			continue;
		loaded->has_output = true;
		loaded->output_given = setting->given;
		const char *dot = setting->value ? strrchr(setting->value, '.') : NULL;
		snprintf(loaded->suffix, sizeof(loaded->suffix), "%s", dot ? dot : "");
	}
	rtl_plugin_close(plugin);
}

/* Loads it in a child. CLI_OK, or an exit status after a line. */
static int load(struct check *check, const char *spec)
{
	const struct check_scenario loading = {.name = "load"};
	pid_t pid;
	int status = 0;
	bool in_time;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		look(check->loaded, spec);
		_exit(CHECK_DONE);
	}
	if (pid < 0)
		return cli_failed("no process can be made: %s", strerror(errno));
	in_time = await(check, pid, &status);
	if (!in_time || !check->loaded->done) {
		judge(check, &loading, in_time, status);
		return CLI_FAILED;
	}
	return check->loaded->good ? CLI_OK : cli_failed("%s", check->loaded->message);
}

/* One entry of the list; it may stand with others in it. */
static size_t write_entry(const struct loaded *loaded, const char *spec, const char *output,
			  char *to, size_t size)
{
	const char *question = strchr(spec, '?');
	size_t used = 0;

	for (const char *at = loaded->path; *at && used + 4 < size; at++)
		used += (size_t)snprintf(to + used, size - used,
					 strchr(":?%", *at) ? "%%%02X" : "%c", (unsigned char)*at);
	used += (size_t)snprintf(to + used, size - used, "%s", question ? question : "");
	if (loaded->has_output && !loaded->output_given)
		used += (size_t)snprintf(to + used, size - used, "%coutput=%s%s",
					 question ? '&' : '?', output, loaded->suffix);
	return used;
}

static void run_scenario(struct check *check, const struct check_scenario *s, const char *spec)
{
	char list[2 * SPEC_MAX + 2], recording[PATH_MAX];
	const size_t before = check->faults;
	size_t used = write_entry(check->loaded, spec, "first", list, SPEC_MAX);
	int status = 0;
	bool in_time;
	pid_t pid;

	if (s->twice && check->loaded->output_given) {
		cli_line("%s: not tried, as output= is given", s->name);
		return;
	}
	if (s->twice) {
		list[used++] = ':';
		write_entry(check->loaded, spec, "second", list + used, SPEC_MAX);
	}
	snprintf(recording, sizeof(recording), "%s/recording", check->folder);
	pid = begin(check, s->name);
	if (!pid) {
		s->run(recording, list);
		fflush(NULL);
		_exit(CHECK_DONE);
	}
	if (pid < 0) {
		fault(check, s->name, "no process can be made: %s", strerror(errno));
		return;
	}
	in_time = await(check, pid, &status);
	judge(check, s, in_time, status);
	if (check->faults == before)
		cli_line("%s: ok (%s)", s->name, s->what);
	fflush(stdout);
}

/* ---- the folder ---- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	return remove(path);
}

static int make_recording(struct check *check)
{
	char path[PATH_MAX];
	int status = 0;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/spool", check->folder);
	if (mkdir(path, 0700))
		return cli_failed("cannot make %s: %s", path, strerror(errno));
	snprintf(path, sizeof(path), "%s/recording", check->folder);
	pid = begin(check, "record");
	if (!pid)
		_exit(check_record(path) ? 0 : 1);
	if (pid < 0 || !await(check, pid, &status) || status)
		return cli_failed("the synthetic streams cannot be recorded in %s: is there room? "
				  "TMPDIR names another folder",
				  check->folder);
	snprintf(path, sizeof(path), "%s/stderr", check->folder);
	unlink(path);
	return CLI_OK;
}

static int run_all(struct check *check, const char *spec)
{
	int status = load(check, spec);

	if (!status)
		status = make_recording(check);
	if (status)
		return status;
	for (size_t i = 0; i < check_scenario_count; i++)
		run_scenario(check, &check_scenarios[i], spec);
	status = cli_finish_output();
	return status ? status : check->faults ? CLI_FAILED : CLI_OK;
}

static int run_in_folder(struct check *check, const char *spec)
{
	const char *base = getenv("TMPDIR");
	int status;

	snprintf(check->folder, sizeof(check->folder), "%s/rtl-check-XXXXXX",
		 base && *base ? base : "/tmp");
	if (!mkdtemp(check->folder))
		return cli_failed("cannot make the folder %s: %s; TMPDIR names another one",
				  check->folder, strerror(errno));
	status = run_all(check, spec);
	nftw(check->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return status;
}

static const struct cli_option options[] = {
	CLI_NUMBER(0, "timeout", "SECONDS", offsetof(struct check, timeout_s),
		   "a number of seconds, at least 1",
		   "what is not done after that hangs (default: 30)"),
};

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct check check = {.timeout_s = TIMEOUT_S};
	int status = cli_read(command, argc, argv, &check);

	if (status >= 0)
		return status;
	if (!check.names.count)
		return cli_usage("check-subscriber: give a subscriber");
	if (!check.timeout_s || check.timeout_s > 3600)
		return cli_usage("check-subscriber: --timeout takes 1 to 3600 seconds");
	if (strlen(check.names.list[0]) >= PATH_MAX)
		return cli_usage("check-subscriber: the name is too long");
	check.loaded = mmap(NULL, sizeof(*check.loaded), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (check.loaded == MAP_FAILED)
		return cli_failed("out of memory");
	return run_in_folder(&check, check.names.list[0]);
}

const struct cli_command cmd_check_subscriber = {
	.name = "check-subscriber",
	.operands = "NAME[?key=value&...]",
	.purpose = "Leads a subscriber through its life, and says what it does wrong",
	.details = "Synthetic streams are published, recorded and replayed, in processes of their\n"
		   "own. Exit status 0: nothing is wrong; 1: something is, a line each.",
	CLI_OPTIONS(options),
	CLI_OPERANDS(struct check, names, 1, "one subscriber at a time"),
	.run = run,
};
