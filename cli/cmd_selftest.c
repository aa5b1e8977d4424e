/* SPDX-License-Identifier: MIT */
/* rtl selftest: whether rtl records what happens here, what it costs, and a report of that. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli.h"
#include "selftest.h"

#define COUNTERS "SQ_WAVES,SQ_INSTS_VALU,GRBM_GUI_ACTIVE"

/* ---- what is found ---- */

static char *format_text(const char *format, va_list list)
{
	char *text = NULL;

	return vasprintf(&text, format, list) < 0 ? NULL : text;
}

/* A list with room for one more; false: out of memory. */
static bool extend(struct selftest *test, void **list, size_t count, size_t size)
{
	void *more = reallocarray(*list, count + 1, size);

	if (more)
		*list = more;
	else
		test->failed = true;
	return more;
}

void selftest_fact(struct selftest *test, const char *name, const char *format, ...)
{
	va_list list;

	if (!extend(test, (void **)&test->facts, test->fact_count, sizeof(*test->facts)))
		return;
	va_start(list, format);
	char *text = format_text(format, list);
	va_end(list);
	if (text)
		test->facts[test->fact_count++] = (struct selftest_fact){name, text};
	test->failed |= !text;
}

void selftest_find(struct selftest *test, enum selftest_level level, const char *workload,
		   const char *check, const char *format, ...)
{
	va_list list;

	if (!extend(test, (void **)&test->findings, test->finding_count, sizeof(*test->findings)))
		return;
	va_start(list, format);
	char *text = format_text(format, list);
	va_end(list);
	if (text)
		test->findings[test->finding_count++] =
			(struct selftest_finding){level, workload, check, text};
	test->failed |= !text;
}

size_t selftest_count(const struct selftest *test, enum selftest_level level)
{
	size_t count = 0;

	for (size_t i = 0; i < test->finding_count; i++)
		count += test->findings[i].level == level;
	return count;
}

/* ---- what is run ---- */

/* The runtime and the GPUs. False after a finding: there is nothing to run on. */
static bool look_around(struct selftest *test, struct selftest_run *run)
{
	char name[16];

	selftest_run(test, run, "about", NULL, NULL);
	selftest_fact(test, "hip", "%s", *run->hip ? run->hip : "none");
	selftest_fact(test, "hsa", "%s", *run->hsa ? run->hsa : "none");
	for (size_t i = 0; i < run->gpu_count; i++) {
		const struct selftest_gpu *gpu = &run->gpus[i];

		selftest_fact(test, SELFTEST_GPU, "%s, %u compute units, wavefronts of %u%s%s%s",
			      gpu->name, gpu->units, gpu->wavefront,
			      strcmp(gpu->product, "?") ? ", " : "",
			      strcmp(gpu->product, "?") ? gpu->product : "",
			      test->emulated ? " (emulated)" : "");
	}
	if (run->gpu_count)
		test->wavefront = run->gpus[0].wavefront;
	if (run->ended)
		return true;
	snprintf(name, sizeof(name), "%d",
		 WIFSIGNALED(run->status) ? WTERMSIG(run->status) : WEXITSTATUS(run->status));
	selftest_find(test, SELFTEST_IMPOSSIBLE, "gpu", "gpu", "%s%s",
		      *run->why ? run->why : "the runtime ends the program without a word, with ",
		      *run->why ? "" : name);
	return false;
}

/* A program that fails alone tells nothing of rtl. */
static bool is_good(struct selftest *test, const struct selftest_run *alone)
{
	if (alone->ended)
		return true;
	selftest_find(test, SELFTEST_IMPOSSIBLE, alone->workload, "end",
		      "alone, without rtl, the program fails: %s",
		      *alone->why                  ? alone->why
		      : WIFSIGNALED(alone->status) ? strsignal(WTERMSIG(alone->status))
						   : "without a word");
	return false;
}

static void compare_workloads(struct selftest *test, struct selftest_run *alone,
			      struct selftest_run *traced)
{
	static const char *const workloads[] = {"kernels", "copies", "threads", "graph", "killed"};

	selftest_run(test, alone, "calibrate", NULL, NULL);
	test->rounds = alone->rounds ? alone->rounds : 1;
	for (size_t i = 0; i < sizeof(workloads) / sizeof(*workloads); i++) {
		selftest_run(test, alone, workloads[i], NULL, NULL);
		if (selftest_interrupted() || !is_good(test, alone))
			continue;
		selftest_run(test, traced, workloads[i], "hip", NULL);
		if (!selftest_interrupted())
			selftest_compare(test, alone, traced);
	}
}

static void count(struct selftest *test, struct selftest_run *alone, struct selftest_run *traced)
{
	selftest_run(test, alone, "waves", NULL, NULL);
	if (selftest_interrupted() || !is_good(test, alone))
		return;
	selftest_run(test, traced, "waves", "standard", COUNTERS);
	if (!selftest_interrupted())
		selftest_compare_counters(test, traced);
}

/* Interleaved: what else the machine does meets all. */
static void measure(struct selftest *test, struct selftest_run *alone, struct selftest_run *traced)
{
	static const char *const modes[] = {NULL, "standard", "hip"};

	for (size_t i = 0; i < SELFTEST_OVERHEAD_RUNS; i++) {
		selftest_run(test, alone, "loop", NULL, NULL);
		if (selftest_interrupted() || !is_good(test, alone))
			return;
		test->pace[SELFTEST_ALONE][i] = alone->loop_ns;
		for (int mode = SELFTEST_STANDARD; mode < SELFTEST_PACES; mode++) {
			selftest_run(test, traced, "loop", modes[mode], NULL);
			if (selftest_interrupted())
				return;
			test->pace[mode][i] = traced->loop_ns;
			if (!i)
				selftest_compare(test, alone, traced);
		}
	}
}

static int test_all(struct selftest *test)
{
	struct selftest_run *runs = calloc(2, sizeof(*runs));

	if (!runs)
		return cli_failed("out of memory");
	selftest_machine(test);
	if (look_around(test, &runs[0])) {
		compare_workloads(test, &runs[0], &runs[1]);
		if (test->counters)
			count(test, &runs[0], &runs[1]);
		measure(test, &runs[0], &runs[1]);
	}
	free(runs);
	if (test->failed)
		return cli_failed("out of memory");
	if (selftest_interrupted())
		return cli_failed("selftest: interrupted");
	selftest_print(test);
	const int status = cli_finish_output();
	return status                                      ? status
	       : selftest_count(test, SELFTEST_DIFFERS)    ? CLI_DIFFERENT
	       : selftest_count(test, SELFTEST_IMPOSSIBLE) ? CLI_FAILED
							   : CLI_OK;
}

static const struct cli_option options[] = {
	CLI_FLAG(0, "counters", offsetof(struct selftest, counters),
		 "count hardware events, too, and compare what is known of them"),
	CLI_FLAG(0, "json", offsetof(struct selftest, as_json), "print JSON, for programs"),
};

static int run(const struct cli_command *command, int argc, char **argv)
{
	struct selftest test = {0};
	int status = cli_read(command, argc, argv, &test);

	if (status >= 0)
		return status;
	status = selftest_begin(&test);
	if (!status)
		status = test_all(&test);
	selftest_end(&test);
	return status;
}

const struct cli_command cmd_selftest = {
	.name = "selftest",
	.operands = "",
	.purpose = "Tests rtl on the GPU here, and prints a report to send in",
	.details =
		"Runs small programs alone and traced, and compares what is recorded with their "
		"own\n"
		"counts of calls and launches, and with the times of hipEvents; measures what "
		"tracing\n"
		"costs. Takes half a minute. The report names no host, user or file.\n"
		"Exit status 0: all agrees; 3: something differs; 1: something could not be run.",
	CLI_OPTIONS(options),
	.run = run,
};
