/* SPDX-License-Identifier: MIT */
#include "lookup.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "../hip/real.h"
#include "../roctx/functions.h"

#if defined(__x86_64__) && defined(__GLIBC__)

__attribute__((visibility("hidden"))) void *(*lookup_next)(void *handle, const char *name);

static void find_next(void)
{
	static const char *const versions[] = {"GLIBC_2.2.5", "GLIBC_2.34"};
	void *next = NULL;

	for (size_t i = 0; !next && i < sizeof(versions) / sizeof(*versions); i++)
		next = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	if (!next)
		abort(); /* every glibc has it */
	/* relaxed: whoever finds it finds the same */
	__atomic_store_n((void **)&lookup_next, next, __ATOMIC_RELAXED);
}

__attribute__((visibility("hidden"), used)) void *lookup_replacement(void *handle, const char *name)
{
	void *found, *ours;

	if (__builtin_expect(!__atomic_load_n((void **)&lookup_next, __ATOMIC_RELAXED), 0))
		find_next();
	/* By these handles the program finds ours, or wants what is behind it. */
	if (handle == RTLD_NEXT || handle == RTLD_DEFAULT || !name)
		return NULL;
	/* _Z: HIP 5 has functions of C++ */
	if (strncmp(name, "hip", 3) != 0 && strncmp(name, "_Z", 2) != 0 &&
	    strncmp(name, "roctx", 5) != 0)
		return NULL;
	found = lookup_next(handle, name);
	if (!found)
		return NULL;
	ours = *name == 'r' ? roctx_ours(name, found) : hip_ours(name, found);
	return ours;
}

void *lookup_symbol(void *handle, const char *name)
{
	if (!__atomic_load_n((void **)&lookup_next, __ATOMIC_RELAXED))
		find_next();
	return lookup_next(handle, name);
}

/* dlsym(handle, name): as C, but that the end is a jump, which no compiler promises. */
__asm__(".text\n"
	".globl dlsym\n"
	".type dlsym, @function\n"
	"dlsym:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	pushq %rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq %rsi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	call lookup_replacement\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rsi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq %rdi\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	testq %rax, %rax\n"
	"	jnz 1f\n"
	"	jmp *lookup_next(%rip)\n"
	"1:	ret\n"
	"	.cfi_endproc\n"
	".size dlsym, .-dlsym\n");

#else

void *lookup_symbol(void *handle, const char *name)
{
	return dlsym(handle, name);
}

#endif
