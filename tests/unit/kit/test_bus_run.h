/* SPDX-License-Identifier: MIT */
/* Runs scenarios of test_bus_child for cmocka tests, each with a folder of its own. */
#pragma once

#include "unit.h"

/* Status of a scenario that cannot run here. */
#define SKIPPED     77
#define RUN_ENV_MAX 12

/* What a scenario runs with, and afterwards what became of it. */
struct run {
	const char *scenario;
	/* Settings of the probe ("delivery=inline&..."); its output is added. NULL: no probe */
	const char *probe;
	const char *subscribers;      /* RTL_SUBSCRIBERS as it is; NULL: from `probe` */
	const char *env[RUN_ENV_MAX]; /* NAME=VALUE each; RTL_SPOOL and others */
	const char *tmpfs;            /* options of a tmpfs that the spool is put on */
	const char *preload;          /* LD_PRELOAD */

	int status;       /* of exit; -1: ended by a signal */
	int signal;       /* that ended it; 0: none */
	char folder[256]; /* scratch; holds the spool, the output */
	char err[65536];  /* what it wrote to stderr */
	char out[65536];  /* the probe's lines */
};

/* Runs it to its end. The folder stays until run_clean. */
void run(struct run *run);
/* The same, and it has to return 0 and to print nothing; a scenario that cannot run is skipped. */
void run_well(struct run *run);
/* Lines of the probe's output, or of stderr, that contain the text. */
int lines_with(const char *text, const char *part);
/* How many spool folders the run has left in its folder. */
int run_spools_left(const struct run *run);
/* Removes the run's folder. */
void run_clean(struct run *run);

/* BUS_TEST(name, scenario, probe's settings, environment...): has to end well and silently. */
#define BUS_TEST(name_, scenario_, probe_, ...)                                                    \
	TEST(name_)                                                                                \
	{                                                                                          \
		static struct run r;                                                               \
		const char *const env[1 + RUN_ENV_MAX] = {NULL, ##__VA_ARGS__};                    \
                                                                                                   \
		r.scenario = scenario_;                                                            \
		r.probe = probe_;                                                                  \
		memcpy(r.env, env + 1, sizeof(r.env));                                             \
		run_well(&r);                                                                      \
		assert_int_equal(run_spools_left(&r), 0);                                          \
		run_clean(&r);                                                                     \
	}
