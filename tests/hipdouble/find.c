/* SPDX-License-Identifier: MIT */
#include "find.h"

#include <dlfcn.h>
#include <stddef.h>

void *hip_find(const char *name)
{
	/* A handle finds what the library has itself. It stays: HIP is never unloaded. */
	static void *hip;

	if (!hip)
		hip = dlopen("libamdhip64.so.7", RTLD_LAZY | RTLD_NOLOAD);
	if (!hip)
		return NULL;
	/* By version: dlsym may be another's, who would record our calls as the program's. */
	void *found = dlvsym(hip, name, "hip_4.2");
	return found ? found : dlvsym(hip, name, "hip_5.3");
}

void *library_find(const char *library, const char *name)
{
	void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
	void *found = handle ? dlsym(handle, name) : NULL;

	if (handle)
		dlclose(handle); /* HIP keeps it */
	return found;
}
