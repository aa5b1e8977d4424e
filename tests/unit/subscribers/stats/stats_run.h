/* SPDX-License-Identifier: MIT */
/* What tests of libstats_sub.so have in common: a run of it on the fake host, which writes a file. */
#pragma once

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fake_host.h"
#include "unit.h"

struct run {
	struct fake_host *host;
	struct rtl_process *process, *other;
	const struct rtl_stream_info *hsa, *copies, *roctx;
	uint64_t now, correlation;
	char path[64], groups[80];
	char *text; /* what was written */
};

static int setup(void **state)
{
	struct run *run = calloc(1, sizeof(*run));
	int fd;

	strcpy(run->path, "/tmp/rtl-test-stats-XXXXXX");
	fd = mkstemp(run->path);
	close(fd);
	snprintf(run->groups, sizeof(run->groups), "%s.groups", run->path);
	run->host = fake_host_create();
	run->process = fake_host_process(run->host, 1, 4711, "/bin/app");
	run->now = 1000;
	*state = run;
	return fd < 0;
}

static int teardown(void **state)
{
	struct run *run = *state;

	fake_host_destroy(run->host);
	unlink(run->path);
	unlink(run->groups);
	free(run->text);
	free(run);
	return 0;
}

/* Loads the plugin; more: further settings, or "". */
static inline int load(struct run *run, const char *more)
{
	char settings[256];

	snprintf(settings, sizeof(settings), "output=%s%s", run->path, more);
	return fake_host_load(run->host, STATS_SUB, settings);
}

static inline void start(struct run *run, const char *more)
{
	assert_int_equal(load(run, more), 0);
	run->hsa = fake_host_stream(run->host, fake_hsa_stream());
	fake_host_begin(run->host, run->process);
}

static inline void range(struct run *run, const char *name, uint64_t instance, uint64_t parent)
{
	struct {
		struct rtl_roctx_range is;
		char name[48];
	} payload = {.is = {.begin_ns = 1, .end_ns = run->now, .parent = parent, .begin_tid = 5}};

	payload.is.name = (struct rtl_text){sizeof(payload.is), (uint32_t)strlen(name)};
	strcpy(payload.name, name);
	FAKE_DELIVER(run->host, run->roctx, RTL_REGION_END, run->process, &payload,
		     .instance = instance);
}

/* Ends the run and reads what was written. */
static inline const char *end(struct run *run)
{
	size_t size = 0;
	FILE *file;

	assert_int_equal(fake_host_end(run->host), 0);
	file = fopen(run->path, "r");
	assert_non_null(file);
	assert_true(getdelim(&run->text, &size, '\0', file) > 0);
	fclose(file);
	return run->text;
}

static inline void assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in:\n%s", part, text);
}

/* In what was written. */
static inline void assert_written(const struct run *run, const char *part)
{
	assert_contains(run->text, part);
}
