/* SPDX-License-Identifier: MIT */
/* Hardware counters that a command is to collect: what can be wrong with them is found before a program starts, as far
 * as that is known without its GPUs. */
#include <definitions.h>
#include <metrics.h>

#include "cli.h"
#include "pattern.h"
#include "session.h"

/* For which there may be definitions; which of them the program has is seen when it runs. */
static const char *const architectures[] = {
	"gfx906",  "gfx908",  "gfx90a",  "gfx942",  "gfx950",  "gfx900",  "gfx940",  "gfx941",
	"gfx1030", "gfx1031", "gfx1032", "gfx1100", "gfx1101", "gfx1102", "gfx1200", "gfx1201",
};
#define ARCHITECTURES (sizeof(architectures) / sizeof(*architectures))

/* What is defined for each of them; NULL: nothing. */
typedef struct counter_set *counter_sets[ARCHITECTURES];

static int check_name(counter_sets sets, const char *name)
{
	struct cli_nearest nearest = cli_nearest_to(name, strlen(name));
	char why[512];

	for (size_t i = 0; i < ARCHITECTURES; i++) {
		struct metric *metric =
			sets[i] ? metric_compile(sets[i], name, why, sizeof(why)) : NULL;

		metric_destroy(metric);
		if (metric)
			return CLI_OK;
		for (size_t k = 0; sets[i] && k < counter_set_count(sets[i]); k++)
			cli_nearest_look(&nearest, counter_set_at(sets[i], k)->name);
	}
	return cli_usage("--counters: no GPU that rtl knows has a counter or metric %s; %s%s%s`rtl "
			 "list-counters` lists them",
			 name, *nearest.name ? "did you mean " : "", nearest.name,
			 *nearest.name ? "? " : "");
}

static int check_names(const char *list, const struct counter_options *options)
{
	char *copy = cli_need(strdup(list)), *rest = copy, *name, why[512];
	bool is_named = false, is_defined = false;
	int status = CLI_OK;
	counter_sets sets;

	for (size_t i = 0; i < ARCHITECTURES; i++) {
		sets[i] = counter_set_load(architectures[i], options, why, sizeof(why));
		is_defined |= sets[i] != NULL;
	}
	while (!status && (name = strsep(&rest, ","))) {
		name += strspn(name, " \t");
		name[strcspn(name, " \t")] = '\0';
		is_named |= *name != '\0';
		if (*name && is_defined)
			status = check_name(sets, name);
	}
	for (size_t i = 0; i < ARCHITECTURES; i++)
		counter_set_destroy(sets[i]);
	free(copy);
	if (!is_named)
		return cli_usage("--counters: give at least one name");
	return is_defined ? status : cli_usage("--counters: %s", why);
}

/* What the program is handed: it reads neither YAML nor XML. */
static int set_definitions(struct session *session, const char *names)
{
	char why[512], *list = definitions_list(NULL, why, sizeof(why)), *needed;
	const struct counter_options options = {.list = list};
	int status;

	if (!list)
		return cli_usage("--counters: %s", why);
	status = check_names(names, &options);
	needed = cli_need(definitions_needed(list, names));
	session_set(session, "RTL_COUNTERS_DEFINITIONS", needed);
	free(needed);
	free(list);
	return status;
}

static int check_sample(const char *sample, const char *kernels)
{
	unsigned ms;

	if (!sample)
		return CLI_OK;
	if (!cli_number(sample, &ms) || !ms || ms > COUNTERS_SAMPLE_MS_MOST)
		return cli_usage("--counters-sample %s: must be a number of ms from 1 to %d",
				 sample, COUNTERS_SAMPLE_MS_MOST);
	if (kernels)
		return cli_usage("--counters-kernels chooses dispatches, and --counters-sample "
				 "counts all that a GPU does: give one of them");
	return CLI_OK;
}

static int check_kernels(const char *pattern)
{
	regex_t compiled;
	char why[128];

	if (!pattern)
		return CLI_OK;
	if (pattern_compile(&compiled, pattern, why, sizeof(why))) {
		regfree(&compiled);
		return CLI_OK;
	}
	return cli_usage("--counters-kernels %s: %s", pattern, why);
}

/* By option, else by its variable. */
static const char *asked(const char *option, const char *variable)
{
	const char *value = option ? option : getenv(variable);

	return value && *value ? value : NULL;
}

/* Without names of counters. */
static int check_none(const struct session *session)
{
	if (session->counters)
		return cli_usage("--counters: give at least one name");
	if (asked(session->counters_sample, "RTL_COUNTERS_SAMPLE"))
		return cli_usage("--counters-sample needs --counters, which names the counters");
	if (session->counters_passes || session->counters_kernels)
		return cli_usage("--counters-passes and --counters-kernels need --counters");
	return CLI_OK;
}

static int check(struct session *session, const char *list)
{
	const char *sample = asked(session->counters_sample, "RTL_COUNTERS_SAMPLE");
	const char *kernels = asked(session->counters_kernels, "RTL_COUNTERS_KERNELS");
	const char *passes = asked(session->counters_passes, "RTL_COUNTERS_PASSES");
	const char *mode = session_mode(session), *source = session_source(session);
	int status = check_sample(sample, kernels);

	if (!status && source && !strcmp(source, "runtime"))
		status = cli_usage("--counters: counters need intercepted queues; use the source "
				   "queue, not runtime");
	if (!status && !sample && mode && !strcmp(mode, "lite"))
		status = cli_usage(
			"--counters: mode lite does not record all dispatches; use mode standard");
	if (!status)
		status = set_definitions(session, list);
	if (!status && passes && strcmp(passes, "rotate") != 0 && strcmp(passes, "fail") != 0)
		status = cli_usage("--counters-passes %s: must be rotate or fail", passes);
	return status ? status : check_kernels(kernels);
}

int session_prepare_counters(struct session *session)
{
	const char *list = asked(session->counters, "RTL_COUNTERS");
	const char *const set[][2] = {
		{"RTL_COUNTERS", session->counters},
		{"RTL_COUNTERS_PASSES", session->counters_passes},
		{"RTL_COUNTERS_SAMPLE", session->counters_sample},
		{"RTL_COUNTERS_KERNELS", session->counters_kernels},
	};

	if (!list || (session->counters && !*session->counters))
		return check_none(session);
	for (size_t i = 0; i < sizeof(set) / sizeof(*set); i++)
		if (set[i][1])
			session_set(session, set[i][0], set[i][1]);
	return check(session, list);
}
