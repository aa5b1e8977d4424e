/* SPDX-License-Identifier: MIT */
/*
 * hip_dlsym HIP [CODE_OBJECT]: uses HIP as Triton and ctypes do: loads the library for itself
 * alone, finds each function in it by dlsym, and, where there is hipGetProcAddress, more by that;
 * launches a kernel of the code object (module_add of tests/programs). Says what it called, for
 * hip_compare.py. Then that dlsym still does what it should otherwise.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *hip;

static void *find(const char *name)
{
	void *found = dlsym(hip, name);

	if (!found) {
		printf("hip_dlsym: FAILED: %s\n", dlerror());
		exit(1);
	}
	return found;
}

static void called(const char *name, long result)
{
	printf("call %s %ld 0x0 -1\n", name, result);
}

/* Calls the function of that name, found in that way. */
#define CALL_AS(name, function, types, ...)                                                        \
	do {                                                                                       \
		int32_t(*function_) types = (int32_t(*) types)(function);                          \
		called(name, function_(__VA_ARGS__));                                              \
	} while (0)
#define CALL(name, types, ...) CALL_AS(name, find(name), types, __VA_ARGS__)

static void launch(const char *path)
{
	void *module = NULL, *function = NULL;
	void *data = NULL;
	unsigned zero = 0;
	void *arguments[] = {&data, &zero, &zero};

	CALL("hipModuleLoad", (void **, const char *), &module, path);
	CALL("hipModuleGetFunction", (void **, void *, const char *), &function, module,
	     "_Z10module_addPjjj");
	CALL("hipModuleLaunchKernel",
	     (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
	      void **, void **),
	     function, 3, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL);
	printf("kernels 1 module_add\n");
	CALL("hipDeviceSynchronize", (void), );
}

static void looked_up(void)
{
	int32_t (*look_up)(const char *, void **, int, uint64_t, void *);
	int32_t version = 0;
	void *function = NULL;

	*(void **)&look_up = dlsym(hip, "hipGetProcAddress");
	if (!look_up)
		return;
	CALL("hipRuntimeGetVersion", (int32_t *), &version);
	called("hipGetProcAddress", look_up("hipMalloc", &function, version, 0, NULL));
	void *memory = NULL;
	CALL_AS("hipMalloc", function, (void **, size_t), &memory, 64);
	CALL("hipFree", (void *), memory);
}

static int otherwise(void)
{
	void *self = dlopen(NULL, RTLD_NOW);
	const char *error;

	/* what is not there is not found, and dlerror says so */
	if (dlsym(hip, "hipNonesuch") || !(error = dlerror()) || !strstr(error, "hipNonesuch"))
		return 1;
	/* behind us in the search order, which is told by who calls */
	if (dlsym(RTLD_NEXT, "strlen") != (void *)strlen && !dlsym(RTLD_NEXT, "getpid"))
		return 2;
	if (dlsym(RTLD_NEXT, "main") || !self || dlsym(self, "hip_dlsym_here") != NULL)
		return 3;
	return dlsym(RTLD_DEFAULT, "getpid") == NULL;
}

int main(int argc, char **argv)
{
	int32_t number = 0;

	hip = argc > 1 ? dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL) : NULL;
	if (!hip) {
		printf("hip_dlsym: FAILED: %s\n", dlerror());
		return 1;
	}
	CALL("hipInit", (unsigned), 0);
	CALL("hipGetDeviceCount", (int32_t *), &number);
	CALL("hipGetDeviceCount", (int32_t *), NULL);
	if (argc > 2)
		launch(argv[2]);
	looked_up();
	if (otherwise()) {
		printf("hip_dlsym: FAILED: dlsym differs: %d\n", otherwise());
		return 1;
	}
	printf("hip_dlsym: ok\n");
	return 0;
}
