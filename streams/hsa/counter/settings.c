/* SPDX-License-Identifier: MIT */
/* What is asked for: see settings.h. */
#include "settings.h"

#include <demangle.h>
#include <errno.h>
#include <regex.h>
#include <rtl/rtl.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_S     10
#define MAX_TIMEOUT_S 3600

struct counter_settings counter_settings;

static regex_t kernels;
static bool has_kernels;

static const char *setting(const char *name)
{
	const char *value = getenv(name);

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

static bool read_timeout(void)
{
	const char *text = setting("RTL_COUNTERS_TIMEOUT");
	unsigned long seconds = TIMEOUT_S;
	char *end;

	if (text) {
		errno = 0;
		seconds = strtoul(text, &end, 10);
		if (*end || errno || *text == '-' || !seconds || seconds > MAX_TIMEOUT_S) {
			rtl_log(RTL_LEVEL_ERROR, "counters",
				"RTL_COUNTERS_TIMEOUT=%s: must be a number of seconds from 1 to "
				"%d; nothing is counted",
				text, MAX_TIMEOUT_S);
			return false;
		}
	}
	counter_settings.timeout_ns = seconds * 1000000000u;
	return true;
}

static bool read_kernels(void)
{
	const char *text = setting("RTL_COUNTERS_KERNELS");
	char why[128];
	int error;

	if (!text)
		return true;
	error = regcomp(&kernels, text, REG_EXTENDED | REG_NOSUB);
	if (error) {
		regerror(error, &kernels, why, sizeof(why));
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

	if (read || !list)
		return !list || good;
	read = true;
	good = read_names(list) && read_passes() && read_timeout() && read_kernels();
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
