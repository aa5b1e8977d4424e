/* SPDX-License-Identifier: MIT */
/* host.h: what subscribers ask their host, and tell it, and what time it is. Threads: as the host says. */
#pragma once

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <rtl/subscriber.h>

#define HOST_TEXT_(x) #x
#define HOST_TEXT(x)  HOST_TEXT_(x)
/** The version of rtl, as a text. */
#define HOST_RTL_VERSION                                                                           \
	HOST_TEXT(RTL_VERSION_MAJOR)                                                               \
	"." HOST_TEXT(RTL_VERSION_MINOR) "." HOST_TEXT(RTL_VERSION_PATCH)

/** The descriptor of a subscriber that comes with rtl; its functions are plugin_create and so on. */
#define HOST_SUBSCRIBER(called, words, infos)                                                      \
	RTL_EXPORT_SUBSCRIBER = {.abi_version = RTL_ABI_VERSION,                                   \
				 .struct_size = sizeof(struct rtl_subscriber),                     \
				 .name = called,                                                   \
				 .version = HOST_RTL_VERSION,                                      \
				 .description = words,                                             \
				 .settings = infos,                                                \
				 .setting_count = sizeof(infos) / sizeof(*(infos)),                \
				 .create = plugin_create,                                          \
				 .stream = plugin_stream,                                          \
				 .process_begin = plugin_process_begin,                            \
				 .process_end = plugin_process_end,                                \
				 .flush = plugin_flush,                                            \
				 .finish = plugin_finish,                                          \
				 .destroy = plugin_destroy}

/** Whether it runs there: "process", "collector", "replay", "recover". False where it does not say. */
static inline bool host_is(const struct rtl_host *host, const char *where)
{
	const char *is = host->property(host, "where");

	return is && strcmp(is, where) == 0;
}

/** The same of an error, which is its value. */
#define host_fail(host, error, ...) (host_say((host), RTL_LEVEL_ERROR, __VA_ARGS__), (error))

/** What a tracepoint is called, readable where that is known; NULL: it is not there, or has no name. */
static inline const char *host_tracepoint_name(const struct rtl_tracepoint *tp)
{
	const char *readable = rtl_tracepoint_value(tp, "demangled");

	return readable && *readable ? readable : tp && *tp->name ? tp->name : NULL;
}

/** An unsigned number of so many bytes, up to 8, in a payload: the least ones first. */
static inline uint64_t host_number(const void *at, uint32_t size)
{
	uint64_t value = 0;

	memcpy(&value, at, size);
	return value;
}

/** What a clock shows, in ns. */
static inline uint64_t host_clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/** Says a line. */
__attribute__((format(printf, 3, 4))) static inline void
host_say(const struct rtl_host *host, int level, const char *format, ...)
{
	char line[PATH_MAX + 512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	host->report(host, level, line);
}
