/* SPDX-License-Identifier: MIT
 *
 * Preloaded: ROCr's model mode takes the length of two arrays from a variable that it has not
 * initialised. All other calls go to the C library.
 *
 * - One of up to 4 GiB, which it zeroes: the kernel does that here, when pages are touched. Nothing is
 *   reserved for them, so that a child made by fork has room for a copy.
 * - One of up to 32 GiB, for counters of the driver's that nobody asks for: it is not had. ROCr goes on
 *   without, as on a machine that has less memory.
 *
 * With both a fork fails for the life of a process if the two together are larger than the memory.
 *
 * Threads: any.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE_BYTES (64u << 20)
#define PAGE_BYTES  4096u

typedef void *memset_fn(void *to, int value, size_t bytes);

/* The C library's own, under a name that needs no search: the search itself may allocate. */
void *__libc_calloc(size_t count, size_t bytes);

static memset_fn *next_memset;

/* Here for programs to find: tool.cpp sets it, they call it (tests/programs/check.h). */
__attribute__((visibility("default"))) void (*rocm7_settle)(void);

__attribute__((constructor)) static void init(void)
{
	next_memset = (memset_fn *)dlsym(RTLD_NEXT, "memset");
}

/* Not a loop, which compilers turn into a call of memset(). */
static void fill(char *to, int value, size_t bytes)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
}

static bool is_rocr(const void *code)
{
	Dl_info info;

	return dladdr(code, &info) && info.dli_fname && strstr(info.dli_fname, "libhsa-runtime64");
}

/* ROCr's heap, so private memory, whose pages are replaced by such as are made when they are touched. */
static void zero_lazily(char *to, size_t bytes)
{
	uintptr_t mask = PAGE_BYTES - 1;
	char *first = (char *)(((uintptr_t)to + mask) & ~mask);
	char *last = (char *)(((uintptr_t)to + bytes) & ~mask);

	if (mmap(first, (size_t)(last - first), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
		last = first;
	fill(to, 0, (size_t)(first - to));
	fill(last, 0, (size_t)(to + bytes - last));
}

__attribute__((visibility("default"))) void *memset(void *to, int value, size_t bytes)
{
	if (!value && bytes >= LARGE_BYTES && is_rocr(__builtin_return_address(0))) {
		zero_lazily(to, bytes);
		return to;
	}
	if (next_memset)
		return next_memset(to, value, bytes);
	fill(to, value, bytes);
	return to;
}

__attribute__((visibility("default"))) void *calloc(size_t count, size_t bytes)
{
	size_t all;

	if (!__builtin_mul_overflow(count, bytes, &all) && all >= LARGE_BYTES &&
	    is_rocr(__builtin_return_address(0))) {
		errno = ENOMEM;
		return NULL;
	}
	return __libc_calloc(count, bytes);
}
