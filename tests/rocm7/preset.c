/* SPDX-License-Identifier: MIT
 *
 * Preloaded: ROCr's model mode takes the length of an array from a variable that it has not
 * initialised, allocates up to 4 GiB and zeroes them. What ROCr zeroes of such a size is
 * left to the kernel here, which maps zero pages when they are touched. All other calls go
 * to the C library.
 *
 * Threads: any.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE_BYTES (64u << 20)
#define PAGE_BYTES  4096u

typedef void *memset_fn(void *to, int value, size_t bytes);

static memset_fn *next_memset;

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

/* ROCr's heap, so private memory: dropped pages come back as zeroes. */
static void zero_lazily(char *to, size_t bytes)
{
	uintptr_t mask = PAGE_BYTES - 1;
	char *first = (char *)(((uintptr_t)to + mask) & ~mask);
	char *last = (char *)(((uintptr_t)to + bytes) & ~mask);

	if (madvise(first, (size_t)(last - first), MADV_DONTNEED))
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
