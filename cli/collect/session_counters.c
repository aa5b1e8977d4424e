/* SPDX-License-Identifier: MIT */
/*
 * Hardware counters that a command is to collect: what can be wrong with them is found before a program
 * starts, as far as that is known without its GPUs.
 */
#include <definitions.h>
#include <errno.h>
#include <metrics.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "pattern.h"
#include "session.h"

/* For which there may be definitions; which of them the program has is seen when it runs. */
static const char *const architectures[] = {
	"gfx906",  "gfx908",  "gfx90a",  "gfx942",  "gfx950",  "gfx900",  "gfx940",  "gfx941",
	"gfx1030", "gfx1031", "gfx1032", "gfx1100", "gfx1101", "gfx1102", "gfx1200", "gfx1201",
};
#define ARCHITECTURES (sizeof(architectures) / sizeof(*architectures))

struct name_list {
	char *copy;
	char **names; /* those that some GPU has become NULL */
	size_t count, unknown;
};

static int split(struct name_list *names, const char *list)
{
	char *rest, *name;

	names->copy = strdup(list);
	names->names = calloc(strlen(list) / 2 + 1, sizeof(*names->names));
	if (!names->copy || !names->names)
		return cli_failed("out of memory");
	rest = names->copy;
	while ((name = strsep(&rest, ","))) {
		name += strspn(name, " \t");
		name[strcspn(name, " \t")] = '\0';
		if (*name)
			names->names[names->count++] = name;
	}
	names->unknown = names->count;
	return names->count ? CLI_OK : cli_usage("--counters: give at least one name");
}

/* Strikes out what that GPU has; false after a line in `why` if nothing is defined for it. */
static bool look_in(struct name_list *names, const struct counter_options *options,
		    const char *architecture, char *why, size_t size)
{
	char message[512];
	struct counter_set *set = counter_set_load(architecture, options, why, size);
	const bool defined = set;

	for (size_t i = 0; set && i < names->count; i++) {
		struct metric *metric;

		if (!names->names[i])
			continue;
		metric = metric_compile(set, names->names[i], message, sizeof(message));
		if (!metric)
			continue;
		names->names[i] = NULL;
		names->unknown--;
		metric_destroy(metric);
	}
	counter_set_destroy(set);
	return defined;
}

static int say_unknown(const struct counter_options *options, const char *name)
{
	struct cli_nearest nearest = cli_nearest_to(name, strlen(name));
	char why[512];

	for (size_t i = 0; i < ARCHITECTURES; i++) {
		struct counter_set *set =
			counter_set_load(architectures[i], options, why, sizeof(why));

		for (size_t k = 0; set && k < counter_set_count(set); k++)
			cli_nearest_look(&nearest, counter_set_at(set, k)->name);
		counter_set_destroy(set);
	}
	return cli_usage("--counters: no GPU that rtl knows has a counter or metric %s; %s%s%s`rtl "
			 "list-counters` tells which there are",
			 name, *nearest.name ? "did you mean " : "", nearest.name,
			 *nearest.name ? "? " : "");
}

static int check_names(const char *list, const struct counter_options *options)
{
	struct name_list names = {0};
	int status = split(&names, list);
	bool defined = false;
	char why[512];

	for (size_t i = 0; !status && names.unknown && i < ARCHITECTURES; i++)
		defined |= look_in(&names, options, architectures[i], why, sizeof(why));
	if (!status && !defined)
		status = cli_usage("--counters: %s", why);
	for (size_t i = 0; !status && i < names.count; i++)
		if (names.names[i])
			status = say_unknown(options, names.names[i]);
	free(names.names);
	free(names.copy);
	return status;
}

/* What the program is handed: it reads neither YAML nor XML. */
static int set_definitions(struct session *session, const char *names)
{
	char why[512], *list = definitions_list(NULL, why, sizeof(why)), *needed = NULL;
	const struct counter_options options = {.list = list};
	int status = list ? check_names(names, &options) : cli_usage("--counters: %s", why);

	if (!status && !(needed = definitions_needed(list, names)))
		status = cli_failed("out of memory");
	if (!status)
		status = session_set(session, "RTL_COUNTERS_DEFINITIONS", needed);
	free(needed);
	free(list);
	return status;
}

static int check_passes(const char *passes)
{
	if (!passes || !strcmp(passes, "rotate") || !strcmp(passes, "fail"))
		return CLI_OK;
	return cli_usage("--counters-passes %s: must be rotate or fail", passes);
}

static int check_sample(const char *sample, const char *kernels)
{
	unsigned long ms;
	char *end;

	if (!sample)
		return CLI_OK;
	errno = 0;
	ms = strtoul(sample, &end, 10);
	if (*end || errno || *sample == '-' || !ms || ms > COUNTERS_SAMPLE_MS_MOST)
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

static int set(struct session *session, const char *variable, const char *option)
{
	return option ? session_set(session, variable, option) : CLI_OK;
}

/* Without names of counters. */
static int check_none(const struct session *session)
{
	if (session->counters)
		return cli_usage("--counters: give at least one name");
	if (asked(session->counters_sample, "RTL_COUNTERS_SAMPLE"))
		return cli_usage("--counters-sample: which counters? Name them with --counters");
	if (session->counters_passes || session->counters_kernels)
		return cli_usage("--counters-passes and --counters-kernels go with --counters");
	return CLI_OK;
}

static int check(struct session *session, const char *list)
{
	const char *sample = asked(session->counters_sample, "RTL_COUNTERS_SAMPLE");
	const char *kernels = asked(session->counters_kernels, "RTL_COUNTERS_KERNELS");
	const char *mode = session_mode(session), *source = session_source(session);
	int status = check_sample(sample, kernels);

	if (!status && source && !strcmp(source, "runtime"))
		status = cli_usage(
			"--counters: counters need intercepted queues; use the source queue, "
			"not runtime");
	if (!status && !sample && mode && !strcmp(mode, "lite"))
		status = cli_usage("--counters: mode lite does not follow all dispatches; use mode "
				   "standard");
	if (!status)
		status = set_definitions(session, list);
	if (!status)
		status = check_passes(asked(session->counters_passes, "RTL_COUNTERS_PASSES"));
	return status ? status : check_kernels(kernels);
}

int session_prepare_counters(struct session *session)
{
	const char *list = asked(session->counters, "RTL_COUNTERS");
	int status;

	if (!list || (session->counters && !*session->counters))
		return check_none(session);
	status = check(session, list);
	if (!status)
		status = set(session, "RTL_COUNTERS", session->counters);
	if (!status)
		status = set(session, "RTL_COUNTERS_PASSES", session->counters_passes);
	if (!status)
		status = set(session, "RTL_COUNTERS_SAMPLE", session->counters_sample);
	return status ? status : set(session, "RTL_COUNTERS_KERNELS", session->counters_kernels);
}
