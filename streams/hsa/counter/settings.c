/* SPDX-License-Identifier: MIT */
#include <demangle.h>
#include <errno.h>
#include <pattern.h>
#include <rtl/rtl.h>
#include <stdlib.h>

#include "plan.h"

#define TIMEOUT_S     10
#define MAX_TIMEOUT_S 3600

struct counter_settings counter_settings;

static regex_t kernels;
static bool has_kernels;

static const char *setting(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value ? value : NULL;
}

static bool has_name(const char *name)
{
	for (size_t i = 0; i < counter_settings.count; i++)
		if (!strcmp(counter_settings.names[i], name))
			return true;
	return false;
}

/* Commas in brackets or parentheses would be part of a name; there are none. */
static bool read_names(const char *list)
{
	struct counter_settings *settings = &counter_settings;
	char *copy = strdup(list), *rest = copy, *name;

	settings->names = calloc(strlen(list) / 2 + 1, sizeof(*settings->names));
	if (!copy || !settings->names)
		return false;
	while ((name = strsep(&rest, ","))) {
		name += strspn(name, " \t");
		name[strcspn(name, " \t")] = '\0';
		if (*name && !has_name(name))
			settings->names[settings->count++] = name;
	}
	return true;
}

static bool read_passes(void)
{
	const char *passes = setting("RTL_COUNTERS_PASSES");

	counter_settings.rotate = !passes || !strcmp(passes, "rotate");
	if (counter_settings.rotate || !strcmp(passes, "fail"))
		return true;
	rtl_log(RTL_LEVEL_ERROR, "counters",
		"RTL_COUNTERS_PASSES=%s: must be rotate or fail; nothing is counted", passes);
	return false;
}

/* A number from 1 to `most`; it stays where the variable is not set. */
static bool read_number(const char *variable, const char *what, unsigned long most,
			unsigned long *number)
{
	const char *text = setting(variable);
	unsigned long found;
	char *end;

	if (!text)
		return true;
	errno = 0;
	found = strtoul(text, &end, 10);
	if (*end || errno || *text == '-' || !found || found > most) {
		rtl_log(RTL_LEVEL_ERROR, "counters",
			"%s=%s: must be a number of %s from 1 to %lu; nothing is counted", variable,
			text, what, most);
		return false;
	}
	*number = found;
	return true;
}

static bool read_times(void)
{
	unsigned long timeout_s = TIMEOUT_S, sample_ms = 0;

	if (!read_number("RTL_COUNTERS_TIMEOUT", "seconds", MAX_TIMEOUT_S, &timeout_s) ||
	    !read_number("RTL_COUNTERS_SAMPLE", "ms", COUNTERS_SAMPLE_MS_MOST, &sample_ms))
		return false;
	counter_settings.timeout_ns = timeout_s * 1000000000u;
	counter_settings.sample_ns = sample_ms * 1000000u;
	return true;
}

static bool read_kernels(void)
{
	const char *text = setting("RTL_COUNTERS_KERNELS");
	char why[128];

	if (!text)
		return true;
	if (counter_settings.sample_ns) {
		rtl_log(RTL_LEVEL_ERROR, "counters",
			"RTL_COUNTERS_KERNELS chooses dispatches, and RTL_COUNTERS_SAMPLE counts "
			"all that a GPU does: set one of them; nothing is counted");
		return false;
	}
	if (!pattern_compile(&kernels, text, why, sizeof(why))) {
		rtl_log(RTL_LEVEL_ERROR, "counters",
			"RTL_COUNTERS_KERNELS=%s: %s; nothing is counted", text, why);
		return false;
	}
	has_kernels = true;
	return true;
}

bool counter_settings_read(void)
{
	static bool read, good;
	const char *list = setting("RTL_COUNTERS");

	if (!list && setting("RTL_COUNTERS_SAMPLE")) {
		rtl_log(RTL_LEVEL_ERROR, "counters",
			"RTL_COUNTERS_SAMPLE is set, and RTL_COUNTERS names no counters: nothing "
			"is counted");
		return false;
	}
	if (read || !list)
		return !list || good;
	read = true;
	good = read_names(list) && read_passes() && read_times() && read_kernels();
	if (!good)
		counter_settings.count = 0;
	return good;
}

bool counter_settings_fit(const char *symbol)
{
	char *readable = has_kernels && symbol ? demangle(symbol) : NULL;
	const char *name = readable ? readable : symbol ? symbol : "";
	const bool fits = !has_kernels || !regexec(&kernels, name, 0, NULL, 0);

	free(readable);
	return fits;
}
