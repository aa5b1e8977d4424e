/* SPDX-License-Identifier: MIT */
/* hip_local LIBRARY: loads a library that needs HIP, as Python loads modules: HIP is not among what the program's own
 * names are looked up in. Calls its hip_user_run. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*run)(void) = library ? (int (*)(void))dlsym(library, "hip_user_run") : NULL;

	if (!run || run()) {
		printf("hip_local: FAILED: %s\n", run ? "hip_user_run" : dlerror());
		return 1;
	}
	printf("hip_local: ok\n");
	return 0;
}
