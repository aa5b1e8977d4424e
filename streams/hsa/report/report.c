/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <stdlib.h>

#include "../../common/next.h"
#include "interceptor.h"
#include "parts.h"
#include "reported.h"

/* Which HIP is asked; NULL: none. Written in hsa_init. */
static const struct report_way *way;
/* HIP has done what is not known. Relaxed: what comes meanwhile is ignored. */
static bool refused;

void *report_find(const char *symbol)
{
	static const char *const libraries[] = {"libamdhip64.so", NULL};

	return next_function(symbol, libraries);
}

enum report_wait report_has_waited(const char *function)
{
	if (!strncmp(function, "hipStreamSynchronize", 20))
		return REPORT_STREAM;
	if (!strncmp(function, "hipDeviceSynchronize", 20))
		return REPORT_ALL;
	if (strstr(function, "Synchronize") || strstr(function, "Query"))
		return REPORT_SOME;
	return (!strncmp(function, "hipMemcpy", 9) || !strncmp(function, "hipMemset", 9)) &&
			       !strstr(function, "Async")
		       ? REPORT_SOME
		       : REPORT_NO_WAIT;
}

void report_await(enum report_wait wait)
{
	if (wait >= REPORT_STREAM)
		reported_await(wait == REPORT_ALL);
	else if (wait == REPORT_SOME)
		reported_help();
}

void report_refuse(const char *why)
{
	if (__atomic_exchange_n(&refused, true, __ATOMIC_RELAXED))
		return;
	rtl_log(RTL_LEVEL_ERROR, "hsa",
		"source: runtime is given up, GPU work is not traced from here on: %s; use the "
		"source queue",
		why);
	rtl_stream_count_missed(interceptor.stream, "HIP does not report its work as it should", 1);
}

/* The first way that HIP has; or NULL, and why it cannot be used. */
static const struct report_way *find_way(const char **why)
{
	static const struct report_way *const ways[] = {&report_profiler, &report_tracer};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		*why = ways[i]->find();
		if (!*why)
			return ways[i];
		if (**why)
			return NULL;
	}
	return NULL;
}

/* Which way to take; or NULL, and why it is queues. */
static const struct report_way *choose(bool is_asked, const char **why)
{
	const char *counters = getenv("RTL_COUNTERS");
	const struct report_way *found;

	*why = counters && *counters ? "hardware counters are read in intercepted queues" : NULL;
	found = *why ? NULL : find_way(why);
	if (found && !is_asked)
		*why = found->doubt;
	return *why ? NULL : found;
}

/* RTL_SOURCE becomes what it means here: queue or runtime. */
static bool accept(void)
{
	enum config_source *source = &interceptor.config.source;
	const bool is_asked = *source == CONFIG_RUNTIME;
	const char *why;

	if (*source == CONFIG_QUEUE)
		return true;
	way = choose(is_asked, &why);
	if (way) {
		*source = CONFIG_RUNTIME;
		rtl_log(RTL_LEVEL_INFO, "hsa", "source: runtime, %s", way->name);
		return true;
	}
	if (!is_asked) {
		*source = CONFIG_QUEUE;
		rtl_log(RTL_LEVEL_INFO, "hsa", "source: queue, not runtime: %s", why);
		return true;
	}
	rtl_log(RTL_LEVEL_ERROR, "hsa",
		"source: runtime is not available, GPU work is not traced: %s; use queue or auto",
		why);
	return false;
}

const char *rtl_publisher_source(bool is_asked, bool *is_runtime)
{
	const char *why;
	const struct report_way *found = choose(is_asked, &why);

	*is_runtime = found;
	return found ? found->name : why;
}

static void hook(struct root_table *root)
{
	if (interceptor.config.source != CONFIG_RUNTIME)
		return;
	if (callers_init(interceptor.config.slots) || !way->start() || reported_start(way->poll))
		report_refuse("there is no memory");
}

static void stop(uint32_t timeout_ms)
{
	if (interceptor.config.source != CONFIG_RUNTIME)
		return;
	way->stop(timeout_ms);
	reported_stop(timeout_ms);
	/* Last: what has been reported is published by now, or counted. */
	reported_abandon(way->lost, way->lost_copies);
}

static void forked(void)
{
	if (!way)
		return;
	way->forked();
	reported_forked();
}

const struct hsa_part report_part = {
	.accept = accept, .hook = hook, .stop = stop, .forked = forked};
