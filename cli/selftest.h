/* SPDX-License-Identifier: MIT */
/*
 * What `rtl selftest` is made of: a program (cli/selftest_program) that says what it does on a GPU and when, run
 * alone and under `rtl trace`, and what the traces have of it. One thread.
 */
#ifndef RTL_CLI_SELFTEST_H
#define RTL_CLI_SELFTEST_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SELFTEST_TIMES_MOST    256u
#define SELFTEST_NAMES_MOST    64u
#define SELFTEST_OVERHEAD_RUNS 5u

/* ---- what a run of the program said ---- */

struct selftest_count {
	char name[64];
	uint64_t count;
};

enum selftest_time_kind {
	SELFTEST_EMPTY,
	SELFTEST_AROUND,
	SELFTEST_WITHIN,
	SELFTEST_COPY_TO,
	SELFTEST_COPY_FROM,
};

struct selftest_time {
	enum selftest_time_kind kind;
	uint64_t index; /* of a copy: its bytes */
	double event_ns;
};

struct selftest_gpu {
	char name[64], product[64];
	unsigned units, wavefront;
};

struct selftest_run {
	const char *workload, *mode; /* mode NULL: alone */
	int status;                  /* as waitpid gives it */
	bool ended;                  /* the program came to its last line */
	char why[512];               /* it failed, or what rtl said; "": nothing */
	char trace[PATH_MAX + 16];
	struct selftest_count calls[SELFTEST_NAMES_MOST], kernels[SELFTEST_NAMES_MOST];
	size_t call_count, kernel_count;
	struct selftest_time times[SELFTEST_TIMES_MOST];
	size_t time_count;
	char results[16];
	double loop_ns; /* for each launch; 0: there was no loop */
	unsigned rounds;
	char hip[64], hsa[128]; /* versions */
	struct selftest_gpu gpus[8];
	size_t gpu_count;
	unsigned waves_groups, waves_lanes; /* of each dispatch that is counted */
};

/* ---- what came of it ---- */

enum selftest_level {
	SELFTEST_AGREES,
	SELFTEST_NOTE,       /* less than there could be, but not rtl's doing */
	SELFTEST_IMPOSSIBLE, /* could not be run */
	SELFTEST_DIFFERS,
};

struct selftest_finding {
	enum selftest_level level;
	const char *workload, *check; /* constants */
	char *text;
};

#define SELFTEST_GPU "gpu" /* there may be several */
struct selftest_fact {
	const char *name; /* a constant, for scripts, too */
	char *text;
};

enum selftest_pace { SELFTEST_ALONE, SELFTEST_STANDARD, SELFTEST_HIP, SELFTEST_PACES };

struct selftest {
	bool counters, as_json;
	char folder[PATH_MAX]; /* for traces, removed at the end */
	char *program, *kernels;
	unsigned rounds;
	unsigned wavefront; /* of the first GPU */
	bool emulated;
	struct selftest_fact *facts;
	size_t fact_count;
	struct selftest_finding *findings;
	size_t finding_count;
	/* ns for each launch, of each run; 0: it failed */
	double pace[SELFTEST_PACES][SELFTEST_OVERHEAD_RUNS];
	bool failed; /* out of memory */
};

void selftest_fact(struct selftest *test, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void selftest_find(struct selftest *test, enum selftest_level level, const char *workload,
		   const char *check, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
size_t selftest_count(const struct selftest *test, enum selftest_level level);

/** What machine this is; nothing that tells whose: selftest_machine.c. */
void selftest_machine(struct selftest *test);

/** Checks what there must be and makes the folder: selftest_run.c, as the next ones. CLI_OK, or a status after
 * a line. */
int selftest_begin(struct selftest *test);
void selftest_end(struct selftest *test);
/** Runs the program, alone (mode NULL) or traced; `counters`: NULL, or those to count. */
void selftest_run(struct selftest *test, struct selftest_run *run, const char *workload,
		  const char *mode, const char *counters);
/** Whether a signal asks it to end. */
bool selftest_interrupted(void);

/** Compares a trace with what its program said: selftest_compare.c. */
void selftest_compare(struct selftest *test, const struct selftest_run *alone,
		      const struct selftest_run *traced);
void selftest_compare_counters(struct selftest *test, const struct selftest_run *traced);

double selftest_median(double *values, size_t count);

/** The report, as text or JSON, on standard output: selftest_report.c. */
void selftest_print(const struct selftest *test);

#endif
