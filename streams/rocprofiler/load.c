/* SPDX-License-Identifier: MIT */
/* The HSA runtime's tool: OnLoad reads the environment, loads the tool library and hooks what it needs.
 * Called by the runtime, on one thread, before the program can use it. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "context.h"

EXPORT extern const uint32_t HSA_AMD_TOOL_PRIORITY;
/* As the original of ROCm 6: tools of lower priority come first. */
const uint32_t HSA_AMD_TOOL_PRIORITY = 25;

EXPORT bool OnLoad(struct root_table *table, uint64_t runtime_version, uint64_t failed_count,
		   const char *const *failed_names);
EXPORT void OnUnload(void);

static bool loaded;
static void *tool;
static void (*tool_unload)(void);

/* Of the specification and the original, and not supported: said by name. */
static void refuse_variables(void)
{
	static const char *const refused[] = {
		"ROCP_MCOPY_DATA",   "ROCPROFILER_TRACE", "ROCPROFILER_SESS", "ROCP_PROXY_QUEUE",
		"ROCP_DUMP_CODEOBJ", "ROCP_ONLOAD_TRACE", "ROCPROFILER_LOG",
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		const char *value = secure_getenv(refused[i]);
		if (value && *value && strcmp(value, "0") != 0)
			complain("%s is not supported", refused[i]);
	}
}

static void refuse_settings(const rocprofiler_settings_t *settings)
{
	if (settings->memcopy_tracking)
		complain("memcopy_tracking is not supported: rtl trace records copies");
	if (settings->k_concurrent)
		complain("k_concurrent is not supported: kernels that are counted run one at a "
			 "time");
	if (settings->obj_dumping)
		complain("obj_dumping is not supported");
}

/* False after a line: the library cannot be used. */
static bool load_tool(const char *path, rocprofiler_settings_t *settings)
{
	void (*load)(void), (*load_with)(rocprofiler_settings_t * settings);

	tool = dlopen(path, RTLD_NOW);
	if (!tool) {
		complain("ROCP_TOOL_LIB: %s", dlerror());
		return false;
	}
	*(void **)&load = dlsym(tool, "OnLoadTool");
	*(void **)&load_with = dlsym(tool, "OnLoadToolProp");
	*(void **)&tool_unload = dlsym(tool, "OnUnloadTool");
	if ((!load && !load_with) || !tool_unload) {
		complain("ROCP_TOOL_LIB: %s is no tool: it needs OnLoadTool or OnLoadToolProp, and "
			 "OnUnloadTool",
			 path);
		dlclose(tool);
		tool = NULL;
		return false;
	}
	if (load)
		load();
	else
		load_with(settings);
	return true;
}

/* ---- rtl's own tool ---- */

/* A program that PAPI is in names this library alone in HSA_TOOLS_LIB, after `rtl trace` has named both. rtl's comes
 * first, as it would by the variable; it calls one OnLoad. */
static void (*rtl_unload)(void);

static void load_rtl(struct root_table *table, uint64_t version)
{
	const char *rtl = secure_getenv("RTL_LIBRARY"), *slash = rtl ? strrchr(rtl, '/') : NULL;
	__typeof__(OnLoad) *load = NULL;
	char path[PATH_MAX];
	void *library;

	if (!slash || snprintf(path, sizeof(path), "%.*s/librtl_rocm.so", (int)(slash - rtl),
			       rtl) >= (int)sizeof(path))
		return;
	library = dlopen(path, RTLD_NOW);
	if (library)
		*(void **)&load = dlsym(library, "OnLoad");
	if (!load)
		return;
	(void)load(table, version, 0, NULL);
	*(void **)&rtl_unload = dlsym(library, "OnUnload");
}

enum mode { MODE_STANDALONE, MODE_INTERCEPT, MODE_TIMES, MODE_UNSET, MODE_BAD };

static enum mode read_mode(void)
{
	const char *value = secure_getenv("ROCP_HSA_INTERCEPT");

	if (!value || !*value)
		return MODE_UNSET;
	if (*value >= '0' && *value <= '2' && !value[1])
		return (enum mode)(*value - '0');
	complain("ROCP_HSA_INTERCEPT is '%s': 0, 1 (intercepting) or 2 (with times) were expected",
		 value);
	return MODE_BAD;
}

bool OnLoad(struct root_table *table, uint64_t runtime_version, uint64_t failed_count,
	    const char *const *failed_names)
{
	const char *path = secure_getenv("ROCP_TOOL_LIB");
	const enum mode mode = read_mode();
	bool intercepts = mode == MODE_INTERCEPT || mode == MODE_TIMES;
	rocprofiler_settings_t settings = {
		.intercept_mode = 1,
		.code_obj_tracking = 1,
		.trace_size = 32 << 20,
		.trace_local = 1,
		.timeout = UINT64_MAX,
		.timestamp_on = mode == MODE_TIMES,
	};

	load_rtl(table, runtime_version);
	if (mode == MODE_BAD)
		return false;
	loaded = true;
	runtime_keep_waits(table);
	refuse_variables();
	/* aqlprofile's stop reads as well if this is 0, and its read fails: we read by ourselves. The library looks
	 * at it when the runtime loads it, which is later. */
	if (secure_getenv("AQLPROFILE_READ_API"))
		(void)setenv("AQLPROFILE_READ_API", "1", 1);
	if (path && *path) {
		if (!load_tool(path, &settings))
			return false;
		refuse_settings(&settings);
		runtime_timeout_ns = settings.timeout;
		/* What the variable leaves open: the tool may count dispatches, or take samples. */
		intercepts = intercepts || (mode == MODE_UNSET && settings.intercept_mode);
	}
	/* As in the original: tools that set opt_mode look for names by themselves, and take no times. */
	dispatch_terse = settings.opt_mode;
	dispatch_times = settings.timestamp_on && !dispatch_terse;
	kernels_hook(table);
	kernels_are_told(settings.hsa_intercepting);
	dispatch_hook(table, intercepts, !intercepts || mode == MODE_UNSET);
	return true;
}

void OnUnload(void)
{
	if (!loaded)
		return;
	service_finish();
	if (tool_unload)
		tool_unload();
	service_finish();
	kernels_are_told(false);
	runtime_forget();
	loaded = false;
	if (rtl_unload)
		rtl_unload();
}
