/* SPDX-License-Identifier: MIT */
#include "next.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../hip/real.h"
#include "threads.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Somebody has looked, or is about to. Relaxed: set by the thread that takes the lock then. */
static bool used;
/* By this thread, around a fork. */
static __thread bool held __attribute__((tls_model("initial-exec")));

/* Not for ever: a program may look by itself, and call us from there. */
static bool take(void)
{
	const struct timespec until = time_from_now(1000000000);

	return !pthread_mutex_timedlock(&lock, &until);
}

int loaded_iterate(int (*look)(struct dl_phdr_info *info, size_t size, void *user), void *user)
{
	bool taken;
	int result;

	__atomic_store_n(&used, true, __ATOMIC_RELAXED);
	taken = take();
	result = dl_iterate_phdr(look, user);
	if (taken)
		pthread_mutex_unlock(&lock);
	return result;
}

static void before_fork(void)
{
	held = __atomic_load_n(&used, __ATOMIC_RELAXED) && take();
}

static void in_parent(void)
{
	if (held)
		pthread_mutex_unlock(&lock);
	held = false;
}

static void in_child(void)
{
	if (__atomic_load_n(&used, __ATOMIC_RELAXED))
		pthread_mutex_init(&lock, NULL);
	held = false;
}

__attribute__((constructor)) static void watch_forks(void)
{
	(void)pthread_atfork(before_fork, in_parent, in_child);
}

struct search {
	const char *library;
	char path[PATH_MAX];
};

static int find_loaded(struct dl_phdr_info *info, size_t size, void *user)
{
	struct search *search = user;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	if (!slash || strncmp(slash + 1, search->library, strlen(search->library)) != 0 ||
	    strlen(info->dlpi_name) >= sizeof(search->path))
		return 0;
	strcpy(search->path, info->dlpi_name);
	return 1;
}

/* Python and others load libraries for a few modules only: then they are not behind us. */
static void *find_in_loaded(const char *symbol, const char *library)
{
	struct search search = {.library = library};
	void *handle, *found;

	if (!loaded_iterate(find_loaded, &search))
		return NULL;
	handle = dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD);
	found = handle ? lookup_symbol(handle, symbol) : NULL;
	if (handle && !found)
		dlclose(handle);
	return found; /* and the library stays: its address is kept */
}

void *next_function(const char *symbol, const char *const *libraries)
{
	void *found = dlsym(RTLD_NEXT, symbol);

	for (; !found && *libraries; libraries++)
		found = find_in_loaded(symbol, *libraries);
	return found;
}

/* ---- dlsym in the program's place */

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
	void *found;

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
	return !found ? NULL : *name == 'r' ? roctx_ours(name, found) : hip_ours(name, found);
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
