/* SPDX-License-Identifier: MIT */
/* See host.h. */
#include "host.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool host_is(const struct rtl_host *host, const char *where)
{
	const char *is = host->property(host, "where");

	return is && strcmp(is, where) == 0;
}

void host_say(const struct rtl_host *host, int level, const char *format, ...)
{
	char line[PATH_MAX + 512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	host->report(host, level, line);
}
