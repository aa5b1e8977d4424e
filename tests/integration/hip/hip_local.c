/* SPDX-License-Identifier: MIT */
/*
 * hip_local LIBRARY [deepbind|namespace]: loads a library that needs HIP, as Python loads modules:
 * HIP is not among what the program's own names are looked up in. Or so that the library finds its
 * own HIP before anything else, or in a namespace of its own. Calls its hip_user_run.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void *load(const char *library, const char *how)
{
	if (!strcmp(how, "namespace"))
		return dlmopen(LM_ID_NEWLM, library, RTLD_NOW | RTLD_LOCAL);
	return dlopen(library, RTLD_NOW | RTLD_LOCAL | (*how ? RTLD_DEEPBIND : 0));
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? load(argv[1], argc > 2 ? argv[2] : "") : NULL;
	int (*run)(void) = library ? (int (*)(void))dlsym(library, "hip_user_run") : NULL;
	int *works = library ? (int *)dlsym(library, "hip_user_works") : NULL;

	if (works && argc > 2)
		*works = 1;
	if (!run || run()) {
		printf("hip_local: FAILED: %s\n", run ? "hip_user_run" : dlerror());
		return 1;
	}
	printf("hip_local: ok\n");
	return 0;
}
