/* SPDX-License-Identifier: MIT */
/*
 * hip_register HIP CODE_OBJECT: does what AMD's builds of HIP do when they begin, and Debian's do
 * not: gives a dispatch table of HIP's functions to librocprofiler-register (the real one), which
 * hands it to the tool that it finds; then calls HIP by the table, as HIP's exported functions do
 * there. Says what it called, for hip_compare.py. With a third argument it calls the exported
 * functions as well, which a preload sees and the table does not.
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

static struct {
	uint64_t size;
	void *entries[COUNT];
} table = {.size = sizeof(table)};

/* The loader's own: that of rtl would find rtl's functions. */
static void *look_up(void *library, const char *name)
{
	void *(*own)(void *, const char *);

	*(void **)&own = dlvsym(RTLD_DEFAULT, "dlsym", "GLIBC_2.2.5");
	return own ? own(library, name) : NULL;
}

static void fail(const char *what)
{
	printf("hip_register: FAILED: %s\n", what);
	exit(1);
}

static void make_table(const char *path)
{
	void *hip = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!hip)
		fail(dlerror());
	for (size_t i = 0; i < COUNT; i++)
		table.entries[i] = look_up(hip, names[i]);
}

static void register_table(void)
{
	int (*add)(const char *, uint32_t (*)(void), uint32_t, void **, uint64_t, uint64_t *);
	void *library = dlopen("librocprofiler-register.so.0", RTLD_NOW | RTLD_GLOBAL);
	void *tables[] = {&table};
	uint64_t id;

	if (!library)
		fail(dlerror());
	*(void **)&add = look_up(library, "rocprofiler_register_library_api_table");
	if (!add || add("hip", NULL, 70200, tables, 1, &id))
		fail("no tool took the table");
}

static void *entry(const char *name)
{
	for (size_t i = 0; i < COUNT; i++)
		if (!strcmp(names[i], name) && table.entries[i])
			return table.entries[i];
	fail(name);
	return NULL;
}

#define CALL(name, types, ...)                                                                     \
	do {                                                                                       \
		int32_t(*function_) types = (int32_t(*) types)entry(name);                         \
		printf("call %s %d 0x0 -1\n", name, function_(__VA_ARGS__));                       \
	} while (0)

int main(int argc, char **argv)
{
	void *module = NULL, *function = NULL, *data = NULL;
	unsigned zero = 0;
	void *arguments[] = {&data, &zero, &zero};
	int32_t number;

	if (argc < 3)
		fail("HIP CODE_OBJECT");
	make_table(argv[1]);
	register_table();
	CALL("hipInit", (unsigned), 0);
	CALL("hipGetDeviceCount", (int32_t *), &number);
	CALL("hipModuleLoad", (void **, const char *), &module, argv[2]);
	CALL("hipModuleGetFunction", (void **, void *, const char *), &function, module,
	     "_Z10module_addPjjj");
	CALL("hipModuleLaunchKernel",
	     (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
	      void **, void **),
	     function, 3, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL);
	printf("kernels 1 module_add\n");
	CALL("hipDeviceSynchronize", (void), );
	if (argc > 3) {
		int32_t (*count)(int32_t *) =
			(int32_t(*)(int32_t *))dlsym(RTLD_DEFAULT, "hipGetDeviceCount");

		if (!count)
			fail("not preloaded");
		printf("call hipGetDeviceCount %d 0x0 -1\n", count(&number));
	}
	printf("hip_register: ok\n");
	return 0;
}
