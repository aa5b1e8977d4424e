/* SPDX-License-Identifier: MIT */
/* OnLoad and OnUnload: how the HSA runtime takes us in (HSA_TOOLS_LIB, or, from 5.3 on, any library in the process that
 * exports HSA_AMD_TOOL_PRIORITY). When nobody subscribes, nothing is touched: the program runs as if we were not there.
 *
 * Threads: the runtime calls them from hsa_init and hsa_shut_down, under its own lock. */
#include <dlfcn.h>
#include <pthread.h>
#include <rtl/events.h>
#include <stdlib.h>
#include <string.h>
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
	const char *attachable = secure_getenv("RTL_ATTACHABLE");

	if ((subscribers && *subscribers) || (session && *session) || (attachable && *attachable))
		return true;
	for (unsigned type = 0; type < 256; type++) {
		if (rtl_enabled(interceptor.stream, (uint16_t)type) ||
		    rtl_enabled(interceptor.copies, (uint16_t)type))
			return true;
	}
	return false;
}

/* Nothing is recorded any more; what is under way gets the configured time to end. */
static void stop(void *unused)
{
	if (interceptor_on())
		__atomic_store_n(&interceptor.listened,
				 rtl_enabled(interceptor.stream, RTL_TASK_END), __ATOMIC_RELAXED);
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

/* Once in a process. */
static bool prepare_process(void)
{
	static bool done;

	if (done)
		return true;
	for (const struct hsa_part *const *part = hsa_parts; *part; part++)
		if ((*part)->prepare && !(*part)->prepare())
			return false;
	if (rtl_at_finish(stop, NULL))
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

/* Whether another copy of this library (one that is installed, one that is built) does the work. */
static bool is_second_copy(void)
{
	if (interceptor.stream != &rtl_stream_none || !rtl_stream_find(RTL_STREAM_HSA))
		return false;
	rtl_log(RTL_LEVEL_INFO, "hsa", "another copy of the interceptor is loaded: this one rests");
	return true;
}

/* If another tool makes the queues: it had the tables before us, or after, and HIP reports. */
static void tell_of_other(struct root_table *root)
{
	void **queue_create = table_entry(root, ENTRY_hsa_queue_create);
	Dl_info runtime, other;

	if (!dladdr(root, &runtime) || !dladdr(*queue_create, &other) ||
	    runtime.dli_fbase == other.dli_fbase)
		return;
	rtl_log(RTL_LEVEL_WARNING, "hsa",
		interceptor.config.source == CONFIG_RUNTIME
			? "%s intercepts queues, so HIP reports the times of its barriers as those "
			  "of kernels: use the source queue"
			: "%s was loaded before rtl and sees no dispatches: load it after rtl "
			  "(LD_PRELOAD, HSA_TOOLS_LIB)",
		other.dli_fname);
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
	missing = "table";
	if (root && root->version.size >= offsetof(struct root_table, finalizer) && root->core &&
	    root->amd)
		missing = interceptor_take_functions(root);
	if (missing) {
		rtl_log(RTL_LEVEL_ERROR, "hsa",
			"this HSA runtime has no %s: GPU work is not traced", missing);
		return false;
	}
	if (!prepare_process())
		return false;
	system_clock_read();
	tell_of_other(root);
	EACH_PART(hook, root);
	taken = root;
	__atomic_store_n(&interceptor.state, INTERCEPTOR_ON, __ATOMIC_RELAXED);
	return true;
}

/* Hooks the tables, which OnLoad or librocprofiler-register has handed over, unless they are hooked or nobody
 * listens. Returns whether it has. In hsa_init, under the runtime's own lock. */
static bool onload_take(struct root_table *root)
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

/* In hsa_shut_down: the runtime is about to end. One that begins after it is not traced. */
void OnUnload(void)
{
	if (!interceptor_on())
		return;
	stop(NULL);
	EACH_PART(runtime_ends);
}

/* Tells of success always: a tool that fails is only one more thing to go wrong. */
bool OnLoad(struct root_table *root, uint64_t runtime_version, uint64_t failed_count,
	    const char *const *failed_names)
{
	(void)onload_take(root);
	return true;
}

/* How librocprofiler-register takes us in: AMD's runtimes from 6.1 on hand it their function tables before they look
 * for tools of HSA_TOOLS_LIB, and it gives them to the one function rocprofiler_set_api_table that it finds: ours, with
 * ROCPROFILER_REGISTER_LIBRARY, or where we are preloaded and some tool for rocprofiler-sdk is in the process, too.
 * Then they go on to the next function of that name, or to rocprofiler-sdk, which librocprofiler-register would have
 * loaded if it had not found us. That makes its queues by our functions; we do not by its. Nobody tells of the runtime's
 * end in this way.
 *
 * Threads: in hsa_init, under the runtime's own lock; the hooks: any, one at a time.
 * Source: projects/rocprofiler-register in ROCm/rocm-systems, rocprofiler_register.cpp. */
#define SDK "librocprofiler-sdk.so"

typedef int set_api_table_fn(const char *name, uint64_t version, uint64_t instance, void **tables,
			     uint64_t count);

EXPORT set_api_table_fn rocprofiler_set_api_table;

static struct {
	__typeof__(hsa_init) *init;
	__typeof__(hsa_shut_down) *shut_down;
	/* How often hsa_init was called more than hsa_shut_down. Relaxed: a number by itself. */
	int32_t inits;
} runtime;

static hsa_status_t count_init(void)
{
	const hsa_status_t status = runtime.init();

	if (!status)
		__atomic_fetch_add(&runtime.inits, 1, __ATOMIC_RELAXED);
	return status;
}

static hsa_status_t shut_down(void)
{
	if (__atomic_sub_fetch(&runtime.inits, 1, __ATOMIC_RELAXED) == 0)
		OnUnload();
	return runtime.shut_down();
}

/* In the first hsa_init, which is not ours yet. */
static void take(struct root_table *root)
{
	if (!onload_take(root))
		return;
	__atomic_store_n(&runtime.inits, 1, __ATOMIC_RELAXED);
	table_hook(root, ENTRY_hsa_init, (void *)count_init, &runtime.init);
	table_hook(root, ENTRY_hsa_shut_down, (void *)shut_down, &runtime.shut_down);
}

/* The function of that name that would have been found without us; NULL if there is none. */
static set_api_table_fn *find_next(void)
{
	set_api_table_fn *next;
	void *sdk;

	*(void **)&next = dlsym(RTLD_NEXT, "rocprofiler_set_api_table");
	if (next || !dlsym(RTLD_DEFAULT, "rocprofiler_configure"))
		return next;
	sdk = dlopen(SDK, RTLD_LAZY | RTLD_GLOBAL);
	if (!sdk) {
		rtl_log(RTL_LEVEL_WARNING, "hsa",
			"a tool for rocprofiler-sdk is here, but %s cannot be loaded: %s", SDK,
			dlerror());
		return NULL;
	}
	*(void **)&next = dlsym(sdk, "rocprofiler_set_api_table");
	return next;
}

int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance, void **tables,
			      uint64_t count)
{
	const bool has_table = name && tables && count;
	set_api_table_fn *next = find_next();
	int status = 0;

	if (has_table && !strcmp(name, "hsa"))
		take(tables[0]);
	if (next && next != rocprofiler_set_api_table)
		status = next(name, version, instance, tables, count);
	if (interceptor.config.source == CONFIG_RUNTIME && taken && has_table && tables[0] == taken)
		tell_of_other(tables[0]);
	/* Ours call what is in it directly. */
	if (has_table && !strcmp(name, "hip"))
		hip_table_take(tables[0]);
	return status;
}
