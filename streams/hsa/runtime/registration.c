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
#include <stdbool.h>
#include <string.h>

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
	/* How often hsa_init was called more than hsa_shut_down. Relaxed: a number by itself. */
	int32_t inits;
} runtime;

static hsa_status_t init(void)
{
	const hsa_status_t status = runtime.init();

	if (!status)
		__atomic_fetch_add(&runtime.inits, 1, __ATOMIC_RELAXED);
	return status;
}

static hsa_status_t shut_down(void)
{
	if (__atomic_sub_fetch(&runtime.inits, 1, __ATOMIC_RELAXED) == 0)
		onload_leave();
	return runtime.shut_down();
}

/* In the first hsa_init, which is not ours yet. */
static void take(struct root_table *root)
{
	if (!onload_take(root))
		return;
	__atomic_store_n(&runtime.inits, 1, __ATOMIC_RELAXED);
	table_hook(root, ENTRY_hsa_init, (void *)init, &runtime.init);
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
