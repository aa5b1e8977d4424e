/* SPDX-License-Identifier: MIT */
/*
 * OnLoad and OnUnload: how the HSA runtime takes us in (HSA_TOOLS_LIB, or, from 5.3 on, any
 * library in the process that exports HSA_AMD_TOOL_PRIORITY).
 *
 * When nobody subscribes, nothing is touched: the program runs as if we were not there.
 *
 * Threads: the runtime calls them from hsa_init and hsa_shut_down, under its own lock.
 */
#include <pthread.h>
#include <rtl/events.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../common/shared.h"
#include "../../hip/preload.h"
#include "events/events.h"
#include "interceptor.h"
#include "parts.h"
#include "system_clock.h"

#define EXPORT __attribute__((visibility("default")))

/* Where several tools ask to be loaded, those with lower numbers come first: we are among the
 * last, next to the application. */
EXPORT extern const uint32_t HSA_AMD_TOOL_PRIORITY;
const uint32_t HSA_AMD_TOOL_PRIORITY = 1000;

EXPORT bool OnLoad(struct root_table *root, uint64_t runtime_version, uint64_t failed_count,
		   const char *const *failed_names);
EXPORT void OnUnload(void);

/* Calls that function of all parts that have it. */
#define EACH_PART(member, ...)                                                                     \
	do {                                                                                       \
		for (const struct hsa_part *const *part = hsa_parts; *part; part++) {              \
			if ((*part)->member)                                                       \
				(*part)->member(__VA_ARGS__);                                      \
		}                                                                                  \
	} while (0)

/* The tables that are hooked. */
static const struct root_table *taken;

/* Whether somebody wants events of ours, or may want some later: subscribers are there. */
static bool somebody_may_want(void)
{
	const char *subscribers = secure_getenv("RTL_SUBSCRIBERS");
	const char *session = secure_getenv("RTL_COLLECTOR"); /* which may be paused just now */

	if ((subscribers && *subscribers) || (session && *session))
		return true;
	for (unsigned type = 0; type < 256; type++) {
		if (rtl_enabled(interceptor.stream, (uint16_t)type) ||
		    rtl_enabled(interceptor.copies, (uint16_t)type))
			return true;
	}
	return false;
}

/* Nothing is recorded any more; what is under way gets the configured time to end. */
static void stop(void)
{
	/* First: what threads that go on submit would never come to an end. */
	if (__atomic_exchange_n(&interceptor.state, INTERCEPTOR_ENDED, __ATOMIC_RELAXED) ==
	    INTERCEPTOR_ON)
		EACH_PART(stop, interceptor.config.exit_timeout_ms);
}

static void in_child(void)
{
	__atomic_store_n(&interceptor.state, INTERCEPTOR_ENDED, __ATOMIC_RELAXED);
	EACH_PART(forked);
}

static void at_finish(void *user)
{
	(void)user;
	stop();
}

/* Once in a process. */
static bool prepare_process(void)
{
	static bool done;

	if (done)
		return true;
	for (const struct hsa_part *const *part = hsa_parts; *part; part++)
		if ((*part)->prepare && !(*part)->prepare())
			return false;
	if (rtl_at_finish(at_finish, NULL))
		return false;
	(void)pthread_atfork(NULL, NULL, in_child);
	done = true;
	return true;
}

/* Whether all that is asked for can be had. Does not return if not and RTL_STRICT is 1. */
static bool all_accept(void)
{
	for (const struct hsa_part *const *part = hsa_parts; *part; part++) {
		if (!(*part)->accept || (*part)->accept())
			continue;
		if (interceptor.config.strict)
			_exit(2);
		return false;
	}
	return true;
}

static bool tables_usable(const struct root_table *root)
{
	return root && root->version.size >= offsetof(struct root_table, finalizer) && root->core &&
	       root->amd;
}

/* Whether another copy of this library (one that is installed, one that is built) does the work. */
static bool is_second_copy(void)
{
	if (interceptor.stream != &rtl_stream_none || !rtl_stream_find(RTL_STREAM_HSA))
		return false;
	rtl_log(RTL_LEVEL_INFO, "hsa", "another copy of the interceptor is loaded: this one rests");
	return true;
}

static bool start(struct root_table *root)
{
	const char *missing;

	if (is_second_copy() || rtl_stream_register(&hsa_stream_info, &interceptor.stream) ||
	    rtl_stream_register(&copy_stream_info, &interceptor.copies) || !somebody_may_want())
		return false;
	work_streams_set(interceptor.stream, interceptor.copies);
	if (!config_read(&interceptor.config) || !all_accept())
		return false;
	EACH_PART(register_streams);
	missing = tables_usable(root) ? interceptor_take_functions(root) : "table";
	if (missing) {
		rtl_log(RTL_LEVEL_ERROR, "hsa",
			"this HSA runtime has no %s: GPU work is not traced", missing);
		return false;
	}
	if (!prepare_process())
		return false;
	system_clock_read();
	EACH_PART(hook, root);
	taken = root;
	__atomic_store_n(&interceptor.state, INTERCEPTOR_ON, __ATOMIC_RELAXED);
	return true;
}

bool onload_take(struct root_table *root)
{
	static bool told;
	const int state = __atomic_load_n(&interceptor.state, __ATOMIC_RELAXED);

	if (state == INTERCEPTOR_OFF)
		return start(root);
	if (state == INTERCEPTOR_ENDED || root != taken) {
		if (!told)
			rtl_log(RTL_LEVEL_WARNING, "hsa",
				"a second HSA runtime is in this process, or the first has ended "
				"and begins again: only the first is traced, until it ends");
		told = true;
		rtl_stream_count_missed(interceptor.stream, "second HSA runtime", 1);
	}
	return false;
}

/* Tells of success always: a tool that fails is only one more thing to go wrong. */
bool OnLoad(struct root_table *root, uint64_t runtime_version, uint64_t failed_count,
	    const char *const *failed_names)
{
	(void)runtime_version;
	(void)failed_count;
	(void)failed_names;
	(void)onload_take(root);
	return true;
}

void OnUnload(void)
{
	onload_leave();
}

void onload_leave(void)
{
	if (!interceptor_on())
		return;
	stop();
	EACH_PART(runtime_ends);
}
