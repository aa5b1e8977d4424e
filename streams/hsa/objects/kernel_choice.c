/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "kernels.h"

#include <demangle.h>
#include <pattern.h>
#include <rtl/publish.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct patterns {
	regex_t *list;
	size_t count;
};

bool kernel_choice_on;
static struct patterns wanted, excluded;

static void refuse(const char *variable, const char *pattern, const char *why)
{
	const char *strict = secure_getenv("RTL_STRICT");

	rtl_log(RTL_LEVEL_ERROR, "hsa",
		"%s: '%.80s' is not a regular expression (%s): it chooses no kernels", variable,
		pattern, why);
	if (strict && !strcmp(strict, "1"))
		_exit(2);
}

static void add(struct patterns *patterns, const char *variable, const char *pattern)
{
	regex_t *added = ARRAY_ADD(patterns->list, patterns->count);
	char why[128] = "out of memory";

	if (added && pattern_compile(added, pattern, why, sizeof(why)))
		return;
	patterns->count -= added != NULL;
	refuse(variable, pattern, why);
}

static void read_patterns(struct patterns *patterns, const char *variable)
{
	const char *value = secure_getenv(variable);
	char *lines = value && *value ? strdup(value) : NULL, *rest = lines, *line;

	while (rest && (line = strsep(&rest, "\n")))
		if (*line)
			add(patterns, variable, line);
	free(lines);
}

void kernel_choice_init(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	read_patterns(&wanted, "RTL_KERNEL");
	read_patterns(&excluded, "RTL_EXCLUDE");
	kernel_choice_on = wanted.count || excluded.count;
}

static bool fits(const struct patterns *patterns, const char *name)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (!regexec(&patterns->list[i], name, 0, NULL, 0))
			return true;
	return false;
}

bool kernel_choice_leaves_out(const char *symbol)
{
	char *readable = demangle(symbol);
	const char *name = readable ? readable : symbol;
	const bool leaves_out = (wanted.count && !fits(&wanted, name)) || fits(&excluded, name);

	free(readable);
	return leaves_out;
}
