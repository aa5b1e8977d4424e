/* SPDX-License-Identifier: MIT */
/*
 * OnLoad and OnUnload: how the HSA runtime takes us in (HSA_TOOLS_LIB, or, from 5.3 on, any
 * library in the process that exports HSA_AMD_TOOL_PRIORITY).
 *
 * When nobody subscribes, nothing is touched: the program runs as if we were not there.
 *
 * Threads: the runtime calls them from hsa_init and hsa_shut_down, under its own lock.
 */
#include "onload.h"

#include <pthread.h>
#include <rtl/events.h>
#include <stdlib.h>

#include "../../events/events.h"
#include "../../hip/bypass.h"
#include "../../hip/preload.h"
#include "agents.h"
#include "calls.h"
#include "code_objects.h"
#include "copies.h"
#include "copy_publish.h"
#include "ends.h"
#include "harvest.h"
#include "harvest_queues.h"
#include "interceptor.h"
#include "kernel_table.h"
#include "kernels.h"
#include "memory.h"
#include "publish.h"
#include "queue.h"
#include "relay.h"
#include "signal_watch.h"
#include "submitters.h"
#include "waits.h"

#define EXPORT __attribute__((visibility("default")))

/* Where several tools ask to be loaded, those with lower numbers come first: we are among the
 * last, next to the application. */
EXPORT extern const uint32_t HSA_AMD_TOOL_PRIORITY;
const uint32_t HSA_AMD_TOOL_PRIORITY = 1000;

EXPORT bool OnLoad(struct root_table *root, uint64_t runtime_version, uint64_t failed_count,
		   const char *const *failed_names);
EXPORT void OnUnload(void);

/* The tables that are hooked. */
static const struct root_table *taken;

static hsa_status_t signal_destroy(hsa_signal_t signal)
{
	signal_watch_destroyed(signal.handle);
	return interceptor.hsa.signal_destroy(signal);
}

static void hook(struct root_table *root)
{
	*table_core(root->core, CORE_QUEUE_CREATE) = (void *)queue_create;
	*table_core(root->core, CORE_QUEUE_DESTROY) = (void *)queue_destroy;
	if (interceptor.hsa.queue_create_described)
		*table_amd(root->amd, AMD_QUEUE_CREATE) = (void *)queue_create_described;
	if (interceptor.hsa.counted_queue_acquire)
		*table_amd(root->amd, AMD_COUNTED_QUEUE_ACQUIRE) = (void *)queue_acquire_counted;
	*table_amd(root->amd, AMD_QUEUE_INTERCEPT_CREATE) = (void *)queue_intercept_create;
	*table_amd(root->amd, AMD_QUEUE_INTERCEPT_REGISTER) = (void *)queue_intercept_register;
	*table_amd(root->amd, AMD_PROFILING_SET_PROFILER_ENABLED) =
		(void *)queue_set_profiler_enabled;
	*table_core(root->core, CORE_EXECUTABLE_LOAD_CODE_OBJECT) = (void *)kernels_load;
	*table_core(root->core, CORE_EXECUTABLE_LOAD_AGENT_CODE_OBJECT) =
		(void *)kernels_load_agent;
	*table_core(root->core, CORE_EXECUTABLE_FREEZE) = (void *)kernels_executable_freeze;
	*table_core(root->core, CORE_EXECUTABLE_DESTROY) = (void *)kernels_executable_destroy;
	copies_hook(root);
	waits_hook(root);
	*table_core(root->core, CORE_SIGNAL_DESTROY) = (void *)signal_destroy;
}

/* Whether somebody wants events of ours, or may want some later: subscribers are there. */
static bool somebody_may_want(void)
{
	const char *subscribers = getenv("RTL_SUBSCRIBERS");
	const char *session = getenv("RTL_COLLECTOR"); /* which may be paused just now */

	if ((subscribers && *subscribers) || (session && *session))
		return true;
	for (unsigned type = 0; type < 256; type++) {
		if (rtl_enabled(interceptor.stream, (uint16_t)type) ||
		    rtl_enabled(interceptor.copies, (uint16_t)type))
			return true;
	}
	return false;
}

static void in_child(void)
{
	atomic_store_explicit(&interceptor.state, INTERCEPTOR_ENDED, memory_order_relaxed);
	harvest_forked();
}

static void at_finish(void *user)
{
	(void)user;
	interceptor_stop(INTERCEPTOR_ENDED);
	hip_report_bypass();
}

/* Once in a process. */
static bool prepare_process(void)
{
	static bool done;

	if (done)
		return true;
	if (kernel_table_init() || rtl_at_finish(at_finish, NULL))
		return false;
	publish_init();
	(void)pthread_atfork(NULL, NULL, in_child);
	ends_init();
	done = true;
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

/* The runtime has ended, or ends. */
static void forget_runtime(void)
{
	queue_forget_all();
	submitters_forget();
	copies_forget();
	memory_forget();
	agents_forget();
	code_objects_forget();
	relay_forget();
}

static bool start(struct root_table *root)
{
	const char *missing;

	if (is_second_copy() || rtl_stream_register(&hsa_stream_info, &interceptor.stream) ||
	    rtl_stream_register(&copy_stream_info, &interceptor.copies) || !somebody_may_want())
		return false;
	if (!config_read(&interceptor.config))
		return false;
	calls_register();
	memory_register();
	missing = tables_usable(root) ? interceptor_take_functions(root) : "table";
	if (missing) {
		rtl_log(RTL_LEVEL_ERROR, "hsa",
			"this HSA runtime has no %s: GPU work is not traced", missing);
		return false;
	}
	if (!prepare_process())
		return false;
	/* What threads have left that were at work when the end came, of a runtime that is gone. */
	forget_runtime();
	harvest_queues_forget();
	slots_forget_signals();
	interceptor_read_clock();
	hook(root);
	if (hip_mode_has_calls())
		submitters_hook(root);
	taken = root;
	memory_hook(root);
	calls_hook(root); /* outermost */
	atomic_store_explicit(&interceptor.state, INTERCEPTOR_ON, memory_order_relaxed);
	return true;
}

bool onload_take(struct root_table *root)
{
	const int state = atomic_load_explicit(&interceptor.state, memory_order_relaxed);

	if (state == INTERCEPTOR_OFF)
		return start(root);
	if (state == INTERCEPTOR_ON && root != taken) {
		rtl_log(RTL_LEVEL_WARNING, "hsa",
			"a second HSA runtime is in this process: only the first is traced");
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
	interceptor_stop(INTERCEPTOR_OFF);
	forget_runtime();
	slots_free_signals();
}
