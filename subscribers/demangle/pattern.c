/* SPDX-License-Identifier: MIT */
/* See pattern.h. */
#include "pattern.h"

#include <stdio.h>
#include <string.h>

#define LENGTH_MOST (64u << 10)
#define GROUPS_MOST 400u

/* An upper bound of how deep they are nested. */
static size_t count_groups(const char *pattern)
{
	size_t groups = 0;

	for (; (pattern = strchr(pattern, '(')); pattern++)
		groups++;
	return groups;
}

bool pattern_compile(regex_t *regex, const char *pattern, char *why, size_t size)
{
	int error;

	if (strlen(pattern) > LENGTH_MOST || count_groups(pattern) > GROUPS_MOST) {
		snprintf(why, size, "it is longer than %u bytes or has more than %u groups",
			 LENGTH_MOST, GROUPS_MOST);
		return false;
	}
	error = regcomp(regex, pattern, REG_EXTENDED | REG_NOSUB);
	if (error)
		regerror(error, regex, why, size);
	return !error;
}
