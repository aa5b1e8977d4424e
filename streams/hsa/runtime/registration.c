/* SPDX-License-Identifier: MIT */
/*
 * How librocprofiler-register takes us in: AMD's runtimes from 6.1 on hand it their function tables
 * before they look for tools of HSA_TOOLS_LIB, and it gives them to the one function
 * rocprofiler_set_api_table that it finds: ours, with ROCPROFILER_REGISTER_LIBRARY, or where we
 * are preloaded and some tool for rocprofiler-sdk is in the process, too.
 *
 * In the second case the other tool needs the tables more than we do: they go on to the next
 * function of that name, or to rocprofiler-sdk, which librocprofiler-register would have loaded
 * if it had not found us. Then they are ours: whatever is hooked already is the runtime to us.
 *
 * Nobody tells of the runtime's end in this way; so its hsa_init and hsa_shut_down are counted.
 *
 * Threads: in hsa_init, under the runtime's own lock; the hooks: any, one at a time.
 * Source: projects/rocprofiler-register in ROCm/rocm-systems, rocprofiler_register.cpp.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "../../common/fork_lock.h"
#include "../../hip/preload.h"
#include "interceptor.h"
#include "parts.h"

#define EXPORT __attribute__((visibility("default")))
#define SDK    "librocprofiler-sdk.so"

typedef int set_api_table_fn(const char *name, uint64_t version, uint64_t instance, void **tables,
			     uint64_t count);

EXPORT set_api_table_fn rocprofiler_set_api_table;

static struct {
	__typeof__(hsa_init) *init;
	__typeof__(hsa_shut_down) *shut_down;
	/* Held over the runtime's functions: nobody begins what another thread is about to end. */
	pthread_mutex_t lock;
	/* How often hsa_init was called more than hsa_shut_down. The lock's, but for `take` where
	 * the runtime begins without us: then nobody ends it. */
	int32_t inits;
} runtime = {.lock = PTHREAD_MUTEX_INITIALIZER};
FORK_LOCK(runtime, runtime.lock);

/* This thread has the lock: a tool that is loaded may begin the runtime, too. */
static __thread bool inside __attribute__((tls_model("initial-exec")));

/* Whether this call has taken it. */
static bool lock(void)
{
	if (inside)
		return false;
	pthread_mutex_lock(&runtime.lock);
	inside = true;
	return true;
}

static void unlock(bool taken)
{
	if (!taken)
		return;
	inside = false;
	pthread_mutex_unlock(&runtime.lock);
}

static hsa_status_t init(void)
{
	const bool taken = lock();
	const hsa_status_t status = runtime.init();

	if (!status)
		__atomic_fetch_add(&runtime.inits, 1, __ATOMIC_RELAXED);
	unlock(taken);
	return status;
}

/*
 * A thread that calls hsa_init while another one's begins the runtime is not counted: the table was
 * not ours yet. Then the end is seen too early. What is forgotten cannot be followed again, but it
 * is told.
 */
static void tell_if_it_goes_on(void)
{
	static bool told; /* the lock's */
	uint64_t ticks;

	if (interceptor_on() || interceptor.hsa.system_get_info(HSA_SYSTEM_INFO_TIMESTAMP,
								&ticks) != HSA_STATUS_SUCCESS)
		return;
	rtl_stream_count_missed(interceptor.stream, "several threads began the runtime at once", 1);
	if (!told)
		rtl_log(RTL_LEVEL_WARNING, "hsa",
			"several threads began the HSA runtime at once: its work is not traced "
			"from here on until it has ended and begins again");
	told = true;
}

static hsa_status_t shut_down(void)
{
	const bool taken = lock(),
		   last = __atomic_fetch_sub(&runtime.inits, 1, __ATOMIC_RELAXED) == 1;
	hsa_status_t status;

	if (last)
		onload_leave();
	status = runtime.shut_down();
	if (last)
		tell_if_it_goes_on();
	unlock(taken);
	return status;
}

static void take(struct root_table *root)
{
	if (!onload_take(root))
		return;
	table_hook(table_core(root->core, CORE_INIT), (void *)init, &runtime.init);
	table_hook(table_core(root->core, CORE_SHUT_DOWN), (void *)shut_down, &runtime.shut_down);
	/* Within our own function, that counts it. */
	__atomic_store_n(&runtime.inits, inside ? 0 : 1, __ATOMIC_RELAXED);
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
	set_api_table_fn *next = find_next();
	int status = 0;

	if (next && next != rocprofiler_set_api_table)
		status = next(name, version, instance, tables, count);
	if (name && !strcmp(name, "hsa") && tables && count)
		take(tables[0]);
	else if (name && !strcmp(name, "hip") && tables && count)
		hip_table_take(tables[0]);
	return status;
}
