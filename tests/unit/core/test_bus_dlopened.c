/* SPDX-License-Identifier: MIT */
/* A library whose constructor registers a stream and publishes: what the program's hooks say. */
#include <dlfcn.h>

__attribute__((constructor)) static void load(void)
{
	void (*fn)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "in_constructor");

	if (fn)
		fn();
}
