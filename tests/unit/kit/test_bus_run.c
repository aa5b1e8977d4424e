/* SPDX-License-Identifier: MIT */
#include "test_bus_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cmocka.h>

/* A scenario that has not ended by then hangs. */
#define HANG_MS 240000

static void make_folder(struct run *run)
{
	const char *base = getenv("TMPDIR");

	snprintf(run->folder, sizeof(run->folder), "%s/rtl-test-XXXXXX",
		 base && *base ? base : P_tmpdir);
	assert_non_null(mkdtemp(run->folder));
}

static void read_text(const struct run *run, const char *name, char *text, size_t size)
{
	char path[300];
	size_t n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", run->folder, name);
	file = fopen(path, "r");
	if (file) {
		n = fread(text, 1, size - 1, file);
		fclose(file);
	}
	text[n] = 0;
}

/* Takes out the lines that have that part. */
static void drop_lines(char *text, const char *part)
{
	char *at, *line;

	while ((at = strstr(text, part))) {
		line = at;
		while (line > text && line[-1] != '\n')
			line--;
		at = strchrnul(at, '\n');
		at += *at == '\n';
		memmove(line, at, strlen(at) + 1);
	}
}

/* A file system for the spool, in a name space of its own; where that is not allowed, skipped. */
static void mount_small(const struct run *run)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/small", run->folder);
	if (mkdir(path, 0700) || unshare(geteuid() ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", path, "tmpfs", 0, run->tmpfs))
		_exit(SKIPPED);
	setenv("RTL_SPOOL", path, 1);
}

static void child(const struct run *run)
{
	char value[2048];
	int fd;

	snprintf(value, sizeof(value), "%s/err", run->folder);
	fd = open(value, O_WRONLY | O_CREAT | O_APPEND, 0666);
	dup2(fd, STDERR_FILENO);
	close(fd);
	setenv("RTL_SPOOL", run->folder, 1);
	/* what is for first rings: a full one makes its thread wait */
	setenv("RTL_BUFFER_TOTAL", "128M", 1);
	setenv("TSAN_OPTIONS", "die_after_fork=0", 0);
	if (!strncmp(run->scenario, "fork", 4)) /* its leak check is not made for that */
		setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
	snprintf(value, sizeof(value), "%s/out", run->folder);
	setenv("BUS_OUT", value, 1);
	if (run->subscribers) {
		setenv("RTL_SUBSCRIBERS", run->subscribers, 1);
	} else if (run->probe) {
		snprintf(value, sizeof(value), "%s?output=%s/out&%s", PROBE_SUB, run->folder,
			 run->probe);
		setenv("RTL_SUBSCRIBERS", value, 1);
	} else {
		unsetenv("RTL_SUBSCRIBERS");
	}
	if (run->preload)
		setenv("LD_PRELOAD", run->preload, 1);
	if (run->tmpfs)
		mount_small(run);
	for (size_t i = 0; i < RUN_ENV_MAX && run->env[i]; i++)
		putenv((char *)(uintptr_t)run->env[i]);
	execl(BUS_CHILD, BUS_CHILD, run->scenario, (char *)NULL);
	_exit(127);
}

void run(struct run *run)
{
	struct pollfd poller = {.events = POLLIN};
	int status, ready;
	pid_t pid;

	make_folder(run);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		child(run);
	poller.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	assert_true(poller.fd >= 0);
	do
		ready = poll(&poller, 1, HANG_MS);
	while (ready < 0 && errno == EINTR);
	if (!ready)
		kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(poller.fd);
	run->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	run->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	read_text(run, "err", run->err, sizeof(run->err));
	/* what the leak checker says of threads that fork has not copied is not about us */
	drop_lines(run->err, "was not suspended. False leaks are possible.");
	read_text(run, "out", run->out, sizeof(run->out));
	if (!ready) {
		run_clean(run);
		fail_msg("%s hangs; it said: %s", run->scenario, run->err);
	}
}

void run_well(struct run *r)
{
	run(r);
	if (r->status == SKIPPED) {
		run_clean(r);
		skip();
	}
	/* true where the machine gives the consumer no processor, and no fault of rtl's */
	drop_lines(r->err, " has waited for 2 s: its buffer is full");
	if (r->status || *r->err) {
		print_error("%s: status %d, signal %d, stderr:\n%.4000s\noutput:\n%.2000s\n",
			    r->scenario, r->status, r->signal, r->err, r->out);
		run_clean(r);
		fail();
	}
}

int lines_with(const char *text, const char *part)
{
	size_t length = strlen(part);
	const char *line, *end;
	int n = 0;

	for (line = text; *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		if (memmem(line, (size_t)(end - line), part, length))
			n++;
	}
	return n;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	return remove(path) && errno != ENOENT;
}

int run_spools_left(const struct run *run)
{
	DIR *dir = opendir(run->folder);
	struct dirent *entry;
	int n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		n += !strncmp(entry->d_name, "rtl-spool-", 10);
	closedir(dir);
	return n;
}

void run_clean(struct run *run)
{
	nftw(run->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
