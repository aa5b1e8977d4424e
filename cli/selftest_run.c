/* SPDX-License-Identifier: MIT */
/* rtl selftest: runs its program, alone and as users run theirs, and reads what it says. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glob.h>

#include "cli.h"
#include "library.h"
#include "selftest.h"

#define PROGRAM "rtl/selftest" /* beside librtl */

extern char **environ;

static volatile sig_atomic_t interrupted;

/* ---- the place ---- */

static void on_signal(int number)
{
	interrupted = number;
}

bool selftest_interrupted(void)
{
	return interrupted;
}

/* Nothing of rtl's in "alone", and no setting that changes what is recorded. */
static int clean_environment(void)
{
	static const char *const loaders[] = {"LD_PRELOAD", "HSA_TOOLS_LIB"};
	char *name;

	for (size_t i = 0; i < sizeof(loaders) / sizeof(*loaders); i++) {
		const char *value = getenv(loaders[i]);

		if (value && strstr(value, LIBRARY_ROCM))
			return cli_failed("selftest: %s names %s here, so nothing can run without "
					  "rtl; use a shell in which `rtl env` was not evaluated",
					  loaders[i], LIBRARY_ROCM);
	}
	for (char **at = environ; *at;) {
		if (strncmp(*at, "RTL_", 4) != 0 || !strncmp(*at, "RTL_SPOOL=", 10) ||
		    !strncmp(*at, "RTL_PLUGIN_PATH=", 16)) {
			at++;
			continue;
		}
		name = strndup(*at, strcspn(*at, "="));
		if (!name || unsetenv(name))
			return cli_failed("out of memory");
		free(name); /* what stood behind it has moved here */
	}
	return CLI_OK;
}

int selftest_begin(struct selftest *test)
{
	const struct sigaction action = {.sa_handler = on_signal};
	const char *tmp = getenv("TMPDIR");
	int status = clean_environment();

	if (status)
		return status;
	test->program = library_beside_rtl(PROGRAM);
	if (!test->program)
		return cli_failed("out of memory");
	if (access(test->program, X_OK))
		return cli_failed("selftest: its program cannot be run: %s: %s; install the rtl "
				  "that was built with ROCm",
				  test->program, strerror(errno));
	/* before there is a folder, which is to be removed */
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	snprintf(test->folder, sizeof(test->folder), "%s/rtl-selftest-XXXXXX",
		 tmp && *tmp == '/' ? tmp : "/tmp");
	if (!mkdtemp(test->folder)) {
		status = cli_failed("selftest: cannot make a folder: %s: %s; name another with "
				    "TMPDIR",
				    test->folder, strerror(errno));
		*test->folder = '\0';
		return status;
	}
	if (asprintf(&test->kernels, "%s/kernels", test->folder) < 0) {
		test->kernels = NULL;
		return cli_failed("out of memory");
	}
	return CLI_OK;
}

static void empty_folder(const char *folder)
{
	char pattern[PATH_MAX + 4];
	glob_t files;

	snprintf(pattern, sizeof(pattern), "%s/*", folder);
	if (glob(pattern, 0, NULL, &files))
		return;
	for (size_t i = 0; i < files.gl_pathc; i++)
		unlink(files.gl_pathv[i]);
	globfree(&files);
}

void selftest_end(struct selftest *test)
{
	if (*test->folder) {
		empty_folder(test->folder);
		rmdir(test->folder);
	}
	for (size_t i = 0; i < test->fact_count; i++)
		free(test->facts[i].text);
	for (size_t i = 0; i < test->finding_count; i++)
		free(test->findings[i].text);
	free(test->facts);
	free(test->findings);
	free(test->program);
	free(test->kernels);
}

/* ---- what the program says ---- */

static struct selftest_count *next_count(struct selftest_count *list, size_t *count)
{
	return *count < SELFTEST_NAMES_MOST ? &list[(*count)++] : NULL;
}

static void read_count(const char *line, const char *format, struct selftest_count *into)
{
	if (into && sscanf(line, format, into->name, &into->count) != 2)
		into->count = UINT64_MAX; /* rubbish: agrees with nothing */
}

static void read_time(struct selftest_run *run, const char *line)
{
	static const struct {
		const char *format;
		enum selftest_time_kind kind;
	} kinds[] = {
		{"time empty %" SCNu64 " %lf", SELFTEST_EMPTY},
		{"time around %" SCNu64 " %lf", SELFTEST_AROUND},
		{"time within %" SCNu64 " %lf", SELFTEST_WITHIN},
		{"copy to %" SCNu64 " %lf", SELFTEST_COPY_TO},
		{"copy from %" SCNu64 " %lf", SELFTEST_COPY_FROM},
	};
	struct selftest_time time;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		time.kind = kinds[i].kind;
		if (run->time_count < SELFTEST_TIMES_MOST &&
		    sscanf(line, kinds[i].format, &time.index, &time.event_ns) == 2)
			run->times[run->time_count++] = time;
	}
}

static void read_gpu(struct selftest_run *run, const char *line)
{
	struct selftest_gpu *gpu = &run->gpus[run->gpu_count];

	if (run->gpu_count < sizeof(run->gpus) / sizeof(*run->gpus) &&
	    sscanf(line, "gpu %63s %u %u %63[^\n]", gpu->name, &gpu->units, &gpu->wavefront,
		   gpu->product) == 4)
		run->gpu_count++;
}

static void read_line(struct selftest_run *run, const char *line)
{
	uint64_t loop_ns, launches;

	if (!strncmp(line, "api ", 4))
		read_count(line, "api %63s %" SCNu64, next_count(run->calls, &run->call_count));
	else if (!strncmp(line, "kernel ", 7))
		read_count(line, "kernel %63s %" SCNu64,
			   next_count(run->kernels, &run->kernel_count));
	else if (!strncmp(line, "gpu ", 4))
		read_gpu(run, line);
	else if (!strcmp(line, "end"))
		run->ended = true;
	else if (sscanf(line, "loop %" SCNu64 " %" SCNu64, &loop_ns, &launches) == 2 && launches)
		run->loop_ns = (double)loop_ns / (double)launches;
	else if (sscanf(line, "results %15s", run->results) != 1 &&
		 sscanf(line, "rounds %u", &run->rounds) != 1 &&
		 sscanf(line, "hip %63s", run->hip) != 1 &&
		 sscanf(line, "hsa %127[^\n]", run->hsa) != 1 &&
		 sscanf(line, "failed %511[^\n]", run->why) != 1 &&
		 sscanf(line, "waves %u %u", &run->waves_groups, &run->waves_lanes) != 2)
		read_time(run, line);
}

static void read_lines(struct selftest_run *run, const char *path,
		       void (*fn)(struct selftest_run *run, const char *line))
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		fn(run, line);
	}
	free(line);
	if (file)
		fclose(file);
}

/* What rtl said, and not what a runtime did. */
static void read_error(struct selftest_run *run, const char *line)
{
	if (!strncmp(line, "rtl", 3) && !*run->why)
		snprintf(run->why, sizeof(run->why), "%s", line);
}

/* ---- a run ---- */

static void redirect(const char *path, int to)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || dup2(fd, to) < 0)
		_exit(126);
}

_Noreturn static void be_child(char **words, const char *out, const char *err)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (null >= 0)
		dup2(null, STDIN_FILENO);
	redirect(out, STDOUT_FILENO);
	redirect(err, STDERR_FILENO);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	execv(words[0], words);
	_exit(127);
}

static int wait_for(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		if (interrupted)
			kill(child, SIGTERM);
	return status;
}

void selftest_run(struct selftest *test, struct selftest_run *run, const char *workload,
		  const char *mode, const char *counters)
{
	char rounds[16], out[PATH_MAX + 8], err[PATH_MAX + 8];
	char *words[16], *self = realpath("/proc/self/exe", NULL);
	size_t count = 0;
	pid_t child;

	*run = (struct selftest_run){.workload = workload, .mode = mode, .status = -1};
	snprintf(run->trace, sizeof(run->trace), "%s/trace.db", test->folder);
	snprintf(out, sizeof(out), "%s/out", test->folder);
	snprintf(err, sizeof(err), "%s/err", test->folder);
	snprintf(rounds, sizeof(rounds), "%u", test->rounds);
	unlink(run->trace);
	if (mode) {
		char *const first[] = {
			self,         (char *)"trace", (char *)"-q", (char *)"--mode",
			(char *)mode, (char *)"-o",    run->trace};

		memcpy(words, first, sizeof(first));
		count = sizeof(first) / sizeof(*first);
		if (counters) {
			words[count++] = (char *)"--counters";
			words[count++] = (char *)counters;
		}
		words[count++] = (char *)"--";
	}
	words[count++] = test->program;
	words[count++] = (char *)workload;
	words[count++] = test->kernels;
	words[count++] = rounds;
	words[count] = NULL;
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\rrtl: self test: %-10s %-10s", workload, mode ? mode : "alone");
	child = self && !interrupted ? fork() : -1;
	if (!child)
		be_child(words, out, err);
	if (child > 0) {
		run->status = wait_for(child);
		read_lines(run, out, read_line);
		read_lines(run, err, read_error);
	}
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%40s\r", "");
	free(self);
}
