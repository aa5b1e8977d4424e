/* SPDX-License-Identifier: MIT */
#include "hip.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct hip hip;

static unsigned long calls[HIP_FUNCTION_COUNT]; /* relaxed: read when all threads have ended */

static const char *const names[HIP_FUNCTION_COUNT] = {
#define HIP_NAME(name, parameters) #name,
	HIP_FUNCTIONS(HIP_NAME)
#undef HIP_NAME
		"hipExtModuleLaunchKernel",
};

/* A function of C++ in HIP 5. */
#define EXT_MANGLED                                                                                \
	"_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihip"     \
	"Event_tS6_j"

static void *find(const char *name)
{
	void *symbol = dlsym(hip.library, name);

	if (!symbol)
		selftest_fail("the HIP runtime has no %s", name);
	return symbol;
}

void hip_open(void)
{
	static const char *const files[] = {"libamdhip64.so.8", "libamdhip64.so.7",
					    "libamdhip64.so.6", "libamdhip64.so.5"};
	char error[512] = "";

	for (size_t i = 0; !hip.library && i < sizeof(files) / sizeof(*files); i++) {
		hip.file = files[i];
		hip.library = dlopen(files[i], RTLD_NOW | RTLD_GLOBAL);
		if (!hip.library)
			snprintf(error, sizeof(error), "%s", dlerror());
	}
	if (!hip.library)
		selftest_fail("no HIP runtime: %s", error);
#define HIP_FIND(name, parameters) hip.name = (int(*) parameters)find(#name);
	HIP_FUNCTIONS(HIP_FIND)
#undef HIP_FIND
	void *extended = dlsym(hip.library, "hipExtModuleLaunchKernel");
	*(void **)&hip.hipExtModuleLaunchKernel =
		extended ? extended : dlsym(hip.library, EXT_MANGLED);
}

void hip_check(enum hip_at at, int error)
{
	__atomic_fetch_add(&calls[at], 1, __ATOMIC_RELAXED);
	if (error)
		selftest_fail("%s failed: hipError_t %d", names[at], error);
}

void hip_print_calls(void)
{
	for (size_t i = 0; i < HIP_FUNCTION_COUNT; i++) {
		unsigned long count = __atomic_load_n(&calls[i], __ATOMIC_RELAXED);

		if (count)
			printf("api %s %lu\n", names[i], count);
	}
}
