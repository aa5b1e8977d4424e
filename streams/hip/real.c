/* SPDX-License-Identifier: MIT */
/* See real.h. */
#include "real.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <rtl/publish.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "preload.h"

/* Libraries that have functions of HIP: libamdhip64 and, from ROCm 6 on, libhiprtc. */
static const char *const libraries[] = {"libamdhip64.so", "libhiprtc.so"};

#define LIBRARIES   (sizeof(libraries) / sizeof(*libraries))
#define MODULES_MAX 8

/* Address ranges of HIP's libraries and of our own. Entries are added, never changed. */
static struct {
	uintptr_t begin, end;
} modules[MODULES_MAX];
static _Atomic unsigned module_count;
static pthread_mutex_t module_lock = PTHREAD_MUTEX_INITIALIZER; /* of who adds */

hip_any_fn hip_real_functions[HIP_FUNCTIONS];

/* ---- where code belongs */

struct range {
	uintptr_t within, begin, end;
};

static int find_range(struct dl_phdr_info *info, size_t size, void *user)
{
	struct range *range = user;
	uintptr_t begin = UINTPTR_MAX, end = 0;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD)
			continue;
		if (info->dlpi_addr + segment->p_vaddr < begin)
			begin = info->dlpi_addr + segment->p_vaddr;
		if (info->dlpi_addr + segment->p_vaddr + segment->p_memsz > end)
			end = info->dlpi_addr + segment->p_vaddr + segment->p_memsz;
	}
	if (range->within < begin || range->within >= end)
		return 0;
	range->begin = begin;
	range->end = end;
	return 1;
}

bool hip_is_internal(const void *code)
{
	/* acquire: with the release in add_module, the ranges below it are complete */
	const unsigned count = atomic_load_explicit(&module_count, memory_order_acquire);

	for (unsigned i = 0; i < count; i++)
		if ((uintptr_t)code - modules[i].begin < modules[i].end - modules[i].begin)
			return true;
	return false;
}

/* Under module_lock. */
static void add_module(uintptr_t code)
{
	struct range range = {.within = code};
	const unsigned count = atomic_load_explicit(&module_count, memory_order_relaxed);

	if (hip_is_internal((void *)code) || count == MODULES_MAX ||
	    !dl_iterate_phdr(find_range, &range))
		return;
	modules[count].begin = range.begin;
	modules[count].end = range.end;
	atomic_store_explicit(&module_count, count + 1, memory_order_release);
}

/* ---- finding functions */

struct search {
	const char *library;
	char path[PATH_MAX];
};

static int find_loaded(struct dl_phdr_info *info, size_t size, void *user)
{
	struct search *search = user;
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)size;
	if (!slash || strncmp(slash + 1, search->library, strlen(search->library)) != 0 ||
	    strlen(info->dlpi_name) >= sizeof(search->path))
		return 0;
	strcpy(search->path, info->dlpi_name);
	return 1;
}

/* Python and others load HIP for a few libraries only: then it is not behind us. */
static void *find_in_loaded(const char *symbol)
{
	for (size_t i = 0; i < LIBRARIES; i++) {
		struct search search = {.library = libraries[i]};
		void *handle, *found;

		if (!dl_iterate_phdr(find_loaded, &search))
			continue;
		handle = dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD);
		found = handle ? dlsym(handle, symbol) : NULL;
		if (found)
			return found; /* and the library stays: we keep its address */
		if (handle)
			dlclose(handle);
	}
	return NULL;
}

hip_any_fn hip_find_real(enum hip_id id)
{
	const char *symbol = hip_functions[id].symbol;
	void *found = dlsym(RTLD_NEXT, symbol);

	return (hip_any_fn)(found ? found : find_in_loaded(symbol));
}

__attribute__((noreturn)) static void end_for_want_of(const char *symbol)
{
	rtl_log(RTL_LEVEL_ERROR, "hip",
		"the program calls %s, which its HIP does not have: it ends here, as it would "
		"without rtl",
		symbol);
	_exit(127); /* as the loader does */
}

hip_any_fn hip_resolve(enum hip_id id)
{
	hip_any_fn real = hip_find_real(id);

	if (!real)
		end_for_want_of(hip_functions[id].symbol);
	hip_start();
	pthread_mutex_lock(&module_lock);
	add_module((uintptr_t)real);
	add_module((uintptr_t)hip_resolve);
	pthread_mutex_unlock(&module_lock);
	__atomic_store_n(&hip_real_functions[id], real, __ATOMIC_RELEASE);
	return real;
}

bool hip_is_preloaded(void)
{
	struct range range = {.within = (uintptr_t)hip_resolve};
	const uintptr_t first = (uintptr_t)dlsym(RTLD_DEFAULT, "hipInit");

	return dl_iterate_phdr(find_range, &range) && first >= range.begin && first < range.end;
}
