/* SPDX-License-Identifier: MIT */
#include "life.h"

#include <rtl/collector.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "bus.h"
#include "log.h"

static bool strict_failed;

static void complain(const char *name, const char *text, const char *wanted)
{
	strict_failed = true;
	log_line(RTL_LEVEL_ERROR, "bus", "invalid %s=%s (expected %s); using the default", name,
		 text, wanted);
}

/* NULL: it is not set. */
static const char *value_of(const char *name)
{
	const char *text = secure_getenv(name);

	return text && *text ? text : NULL;
}

/* A number of bytes with K, M or G behind it; 0: not one. */
static size_t parse_bytes(const char *text)
{
	static const char units[] = "kmgKMG";
	char *end;
	const unsigned long long n = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	const unsigned shift = unit ? 10 * (1 + (unsigned)(unit - units) % 3) : 0;

	if (end == text || *text == '-' || end[unit != NULL] || n > (1ull << 40 >> shift))
		return 0;
	return (size_t)(n << shift);
}

static size_t bytes(const char *name, size_t fallback, size_t least)
{
	const char *text = value_of(name);
	size_t n;

	if (!text)
		return fallback;
	n = parse_bytes(text);
	if (n >= least)
		return n;
	complain(name, text, "a size of at least 64K, e.g. 4M");
	return fallback;
}

/* The least of what the machine has and of the limits of the process's control groups (cgroups(7), version 2). */
static uint64_t memory_bytes(void)
{
	uint64_t least = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE), limit;
	char groups[PATH_MAX], path[PATH_MAX + 32], text[32], *group, *end;

	(void)read_text("/proc/self/cgroup", groups, sizeof(groups));
	group = strstr(groups, "0::/");
	if (!group)
		return least;
	group += strlen("0::");
	group[strcspn(group, "\n")] = '\0';
	do { /* it, and all that it lies in */
		snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.max", group);
		(void)read_text(path, text, sizeof(text));
		limit = strtoull(text, NULL, 10); /* "max", or a file that is not there: 0 */
		least = limit && limit < least ? limit : least;
		end = strrchr(group, '/');
		if (end)
			*end = '\0';
	} while (end);
	return least;
}

/* A sixteenth of the memory, 256M to 400M: with what `rtl` has of its own it is under 500 MB. */
static size_t default_total(void)
{
	const uint64_t least = RTL_BUFFER_TOTAL_LEAST, most = 400u << 20;
	const uint64_t share = memory_bytes() / 16;

	return (size_t)(share < least ? least : share > most ? most : share);
}

/* One of two words. */
static bool choice(const char *name, const char *no, const char *yes, bool fallback,
		   const char *wanted)
{
	const char *text = value_of(name);

	if (!text)
		return fallback;
	if (!strcmp(text, no) || !strcmp(text, yes))
		return !strcmp(text, yes);
	complain(name, text, wanted);
	return fallback;
}

/* clock.c has read it, before there was a log. */
static void check_clock(void)
{
	const char *text = value_of("RTL_CLOCK");

	if (text && strcmp(text, "boottime"))
		complain("RTL_CLOCK", text, "boottime");
}

static uint32_t number(const char *name, uint32_t fallback, uint32_t most, const char *what)
{
	const char *text = value_of(name);
	unsigned long n;
	char *end;

	if (!text)
		return fallback;
	n = strtoul(text, &end, 10);
	if (!*end && *text != '-' && n <= most)
		return (uint32_t)n;
	complain(name, text, what);
	return fallback;
}

static uint32_t milliseconds(const char *name, uint32_t fallback)
{
	return number(name, fallback, 86400000, "a number of milliseconds");
}

/* Seconds, with a fraction or not. */
static uint64_t seconds(const char *name)
{
	const char *text = value_of(name), *at = text;
	uint64_t ns = 0, unit = 1000000000;

	if (!text)
		return 0;
	for (; *at >= '0' && *at <= '9' && ns < 1000000000000000000u; at++)
		ns = ns * 10 + (uint64_t)(*at - '0') * unit;
	if (*at == '.')
		while (*++at >= '0' && *at <= '9')
			ns += (uint64_t)(*at - '0') * (unit /= 10);
	if (!*at && *text != '.' && ns < 1000000000000000000u)
		return ns;
	complain(name, text, "a number of seconds, e.g. 10 or 0.5");
	return 0;
}

/* A set-user-ID program does not let its user choose what it loads and writes. Said once; in a race twice. */
static void say_if_secured(void)
{
	static bool said; /* relaxed: nothing else depends on it */
	const char *collector = getenv("RTL_COLLECTOR"), *subscribers = getenv("RTL_SUBSCRIBERS");

	if (!getauxval(AT_SECURE) || !((collector && *collector) || (subscribers && *subscribers)))
		return;
	if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		log_line(RTL_LEVEL_WARNING, "bus",
			 "set-user-ID program: RTL_* variables are ignored, it is not traced");
}

void settings_read(struct bus_settings *settings)
{
	say_if_secured();
	strict_failed = false;
	settings->strict = choice("RTL_STRICT", "0", "1", false, "0 or 1");
	settings->ring_bytes = bytes("RTL_BUFFER_SIZE", RTL_BUFFER_SIZE_DEFAULT, 64u << 10);
	settings->total_bytes = bytes("RTL_BUFFER_TOTAL", default_total(), 64u << 10);
	/* Relaxed: in a child other threads may publish already; it is what it was. */
	__atomic_store_n(&settings->wait,
			 choice("RTL_BUFFER_POLICY", "discard", "wait", true, "wait or discard"),
			 __ATOMIC_RELAXED);
	check_clock();
	settings->exit_timeout_ms = milliseconds("RTL_EXIT_TIMEOUT", 120000);
	settings->stall_timeout_ms = milliseconds("RTL_STALL_TIMEOUT", 30000);
	settings->periods = (struct periods){seconds("RTL_DELAY"), seconds("RTL_DURATION"),
					     number("RTL_REPEAT", 1, UINT32_MAX, "a number")};
	if (strict_failed && settings->strict)
		start_refuse();
}
