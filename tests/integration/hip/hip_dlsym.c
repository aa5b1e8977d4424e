/* SPDX-License-Identifier: MIT */
/*
 * hip_dlsym HIP [CODE_OBJECT [table|both]]: uses HIP as Triton and ctypes do: loads the library for itself
 * alone, finds each function in it by dlsym, and, where there is hipGetProcAddress, more by that;
 * launches a kernel of the code object (module_add of tests/programs). Says what it called, for
 * hip_compare.py. Then that dlsym still does what it should otherwise.
 *
 * table: does what AMD's builds of HIP do when they begin, and Debian's do not: gives a dispatch table of HIP's
 * functions to librocprofiler-register (the real one), which hands it to the tool that it finds; then calls HIP by
 * the table, as HIP's exported functions do there. both: calls an exported function as well, which a preload sees and
 * the table does not.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HIP_TABLE(name) #name,
static const char *const names[] = {
#include "table.def"
};
#define COUNT (sizeof(names) / sizeof(names[0]))

static void *hip;
static struct {
	uint64_t size; /* 0: it is not used */
	void *entries[COUNT];
} table;

static void fail(const char *what)
{
	printf("hip_dlsym: FAILED: %s\n", what);
	exit(1);
}

/* The loader's own: that of rtl would find rtl's functions. */
static void *look_up(void *library, const char *name)
{
	void *(*own)(void *, const char *);

	*(void **)&own = dlvsym(RTLD_DEFAULT, "dlsym", "GLIBC_2.2.5");
	return own ? own(library, name) : NULL;
}

static void register_table(void)
{
	int (*add)(const char *, uint32_t (*)(void), uint32_t, void **, uint64_t, uint64_t *);
	void *library = dlopen("librocprofiler-register.so.0", RTLD_NOW | RTLD_GLOBAL);
	void *tables[] = {&table};
	uint64_t id;

	if (!library)
		fail(dlerror());
	table.size = sizeof(table);
	for (size_t i = 0; i < COUNT; i++)
		table.entries[i] = look_up(hip, names[i]);
	*(void **)&add = look_up(library, "rocprofiler_register_library_api_table");
	if (!add || add("hip", NULL, 70200, tables, 1, &id))
		fail("no tool took the table");
}

static void *find(const char *name)
{
	void *found = NULL;

	for (size_t i = 0; table.size && i < COUNT; i++)
		found = strcmp(names[i], name) ? found : table.entries[i];
	if (!table.size)
		found = dlsym(hip, name);
	if (!found)
		fail(name);
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
	int32_t (*get_address)(const char *, void **, int, uint64_t, void *);
	int32_t version = 0;
	void *function = NULL;

	*(void **)&get_address = dlsym(hip, "hipGetProcAddress");
	if (!get_address)
		return;
	CALL("hipRuntimeGetVersion", (int32_t *), &version);
	called("hipGetProcAddress", get_address("hipMalloc", &function, version, 0, NULL));
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
	if (!hip)
		fail(dlerror());
	if (argc > 3)
		register_table();
	CALL("hipInit", (unsigned), 0);
	CALL("hipGetDeviceCount", (int32_t *), &number);
	CALL("hipGetDeviceCount", (int32_t *), NULL);
	if (argc > 2)
		launch(argv[2]);
	if (argc > 3 && !strcmp(argv[3], "both")) /* preloaded, too */
		CALL_AS("hipGetDeviceCount", dlsym(RTLD_DEFAULT, "hipGetDeviceCount"), (int32_t *),
			&number);
	if (argc <= 3)
		looked_up();
	if (argc <= 3 && otherwise()) {
		printf("hip_dlsym: FAILED: dlsym differs: %d\n", otherwise());
		return 1;
	}
	printf("hip_dlsym: ok\n");
	return 0;
}
