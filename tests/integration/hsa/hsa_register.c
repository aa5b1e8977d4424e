/* SPDX-License-Identifier: MIT */
/*
 * hsa_register: a tool library that does what AMD's builds of the HSA runtime do before they load
 * tools, and Debian's do not: gives the function tables to librocprofiler-register (the real one,
 * of the fetched ROCm 7), which hands them to the tool that it finds. Ends the program if it finds
 * none. There is none of that for ROCm 5: with HSA_REGISTER_DIRECT=TOOL it hands the tables to
 * that tool itself, in the same way. Threads: in hsa_init, under the runtime's lock. No locks.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* rocprofiler-register.h, which is C++. */
typedef int register_fn(const char *name, uint32_t (*import)(void), uint32_t version, void **tables,
			uint64_t count, uint64_t *id);

__attribute__((visibility("default"))) bool OnLoad(void *root, uint64_t version, uint64_t failed,
						   const char *const *names);

typedef int set_api_table_fn(const char *name, uint64_t version, uint64_t instance, void **tables,
			     uint64_t count);

static void *find(const char *library, const char *function)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
	void *found = handle ? dlsym(handle, function) : NULL;

	if (!found) {
		printf("hsa_register: FAILED: %s\n", dlerror());
		fflush(stdout);
		abort();
	}
	return found;
}

bool OnLoad(void *root, uint64_t version, uint64_t failed, const char *const *names)
{
	const char *direct = getenv("HSA_REGISTER_DIRECT");
	set_api_table_fn *set_api_table;
	register_fn *add;
	uint64_t id = 0;
	int status;

	if (direct) {
		*(void **)&set_api_table = find(direct, "rocprofiler_set_api_table");
		status = set_api_table("hsa", 11800, 0, &root, 1);
	} else {
		*(void **)&add = find("librocprofiler-register.so.0",
				      "rocprofiler_register_library_api_table");
		status = add("hsa", NULL, 11800, &root, 1, &id);
	}
	if (status) {
		printf("hsa_register: FAILED: no tool took the tables (%d)\n", status);
		fflush(stdout);
		abort();
	}
	return true;
}
