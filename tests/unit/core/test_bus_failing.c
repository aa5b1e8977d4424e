/* SPDX-License-Identifier: MIT */
/* To be preloaded: lets the FAIL_NTH-th allocation (memory, mapping, blocks of a file, thread) that librtl asks for
 * fail; with FAIL_ON=1 all those after it as well. A process in which there were not so many ends with status 79. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static uintptr_t begin, end; /* of librtl */
static long nth, seen;
static bool all_after;

static int find(struct dl_phdr_info *info, size_t size, void *user)
{
	if (!strstr(info->dlpi_name, "librtl.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD) {
			uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

			begin = !begin || at < begin ? at : begin;
			end = at + info->dlpi_phdr[i].p_memsz;
		}
	return 1;
}

/* From here on; what was before is not rtl's. */
EXPORT void failing_start(void);
void failing_start(void)
{
	nth = atol(getenv("FAIL_NTH"));
	all_after = getenv("FAIL_ON") != NULL;
	dl_iterate_phdr(find, NULL);
}

EXPORT bool failing_reached(void);
bool failing_reached(void)
{
	return __atomic_load_n(&seen, __ATOMIC_RELAXED) >= nth;
}

static bool fails(const void *caller)
{
	uintptr_t at = (uintptr_t)caller;
	long n;

	if (at < begin || at >= end)
		return false;
	n = __atomic_add_fetch(&seen, 1, __ATOMIC_RELAXED);
	if (n != nth && !(all_after && n > nth))
		return false;
	errno = ENOMEM;
	return true;
}

#define CALLER           __builtin_return_address(0)
#define REAL(type, name) ((type)(uintptr_t)dlsym(RTLD_NEXT, name))

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

EXPORT void *malloc(size_t size)
{
	return fails(CALLER) ? NULL : __libc_malloc(size);
}

EXPORT void *calloc(size_t count, size_t size)
{
	return fails(CALLER) ? NULL : __libc_calloc(count, size);
}

EXPORT void *realloc(void *old, size_t size)
{
	return fails(CALLER) ? NULL : __libc_realloc(old, size);
}

EXPORT char *strdup(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = fails(CALLER) ? NULL : __libc_malloc(size);

	return copy ? memcpy(copy, text, size) : NULL;
}

EXPORT int asprintf(char **out, const char *format, ...)
{
	va_list args;
	int n;

	if (fails(CALLER))
		return -1;
	va_start(args, format);
	n = vasprintf(out, format, args);
	va_end(args);
	return n;
}

EXPORT void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	typedef void *(*fn)(void *, size_t, int, int, int, off_t);

	return fails(CALLER) ? MAP_FAILED
			     : REAL(fn, "mmap")(at, size, protection, flags, fd, offset);
}

EXPORT int posix_fallocate(int fd, off_t offset, off_t size)
{
	typedef int (*fn)(int, off_t, off_t);

	return fails(CALLER) ? ENOSPC : REAL(fn, "posix_fallocate")(fd, offset, size);
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
			  void *user)
{
	typedef int (*fn)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	return fails(CALLER) ? EAGAIN : REAL(fn, "pthread_create")(thread, attr, run, user);
}
