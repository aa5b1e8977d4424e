/* SPDX-License-Identifier: MIT */
/* See subscriber_name.h. */
#include "subscriber_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rtl/plugin.h>

#include "cli.h"

/* Of a subscriber's file; who writes a name may forget any of them. */
static const char before[] = "lib", kind[] = "_sub", suffix[] = ".so";

static size_t without(const char *text, size_t length, const char *end)
{
	const size_t n = strlen(end);

	return length > n && !strncmp(text + length - n, end, n) ? length - n : length;
}

/* What tells a subscriber's file from others: NAME of libNAME_sub.so, or of what is written for that. */
static char *distinct_part(const char *name, size_t length)
{
	const size_t n = strlen(before);

	if (length > n && !strncmp(name, before, n)) {
		name += n;
		length -= n;
	}
	length = without(name, length, suffix);
	return strndup(name, without(name, length, kind));
}

static void look_at(void *nearest, const char *path)
{
	const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
	char *part = distinct_part(file, strlen(file));

	if (part)
		cli_nearest_look(nearest, part);
	free(part);
}

int subscriber_refuse(const char *spec, int error, const char *message)
{
	const int length = (int)strcspn(spec, "?");
	char *part = distinct_part(spec, (size_t)length);
	struct cli_nearest nearest = {.name = ""};

	if (part && error == RTL_ENOENT && strstr(message, "' not found in ")) {
		nearest = cli_nearest_to(part, strlen(part));
		rtl_plugin_list(look_at, &nearest);
	}
	if (*nearest.name)
		cli_error("subscriber '%.*s' not found; did you mean %s%s%s%s?", length, spec,
			  before, nearest.name, kind, suffix);
	else
		cli_error("%s", message);
	free(part);
	return error == RTL_EINVAL ? CLI_USAGE : CLI_FAILED;
}
