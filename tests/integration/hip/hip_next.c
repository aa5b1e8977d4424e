/* SPDX-License-Identifier: MIT */
/* A library that asks for the function behind its own: hip_next_number, which has more than one
 * definition. Built with another number as a second one. */
#include <dlfcn.h>
#include <stddef.h>

__attribute__((visibility("default"))) int hip_next_number(void);
__attribute__((visibility("default"))) int HIP_NEXT_ASK(void);

int hip_next_number(void)
{
	return HIP_NEXT_NUMBER;
}

/* The number of the one behind this library's; 0: there is none. */
int HIP_NEXT_ASK(void)
{
	int (*next)(void);

	*(void **)&next = dlsym(RTLD_NEXT, "hip_next_number");
	return next ? next() : 0;
}
