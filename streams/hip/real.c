/* SPDX-License-Identifier: MIT */
#include "real.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <rtl/publish.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/next.h"
#include "../common/shared.h"
#include "../common/threads.h"
#include "calls.h"
#include "preload.h"

/* Libraries that have functions of HIP: libamdhip64 and, from ROCm 6 on, libhiprtc. */
static const char *const libraries[] = {"libamdhip64.so", "libhiprtc.so", NULL};

#define MODULES_MAX 8

struct range {
	uintptr_t within, begin, end;
};

/* Address ranges of HIP's libraries and of our own. Entries are added, never changed. */
static struct range modules[MODULES_MAX];
static unsigned module_count;
STATIC_LOCK(module_lock); /* of who adds */

hip_any_fn hip_real_functions[HIP_FUNCTIONS];

/* ---- where code belongs */

static int find_range(struct dl_phdr_info *info, size_t size, void *user)
{
	struct range *range = user;
	uintptr_t begin = UINTPTR_MAX, end = 0;

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
	const unsigned count = __atomic_load_n(&module_count, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < count; i++)
		if ((uintptr_t)code - modules[i].begin < modules[i].end - modules[i].begin)
			return true;
	return false;
}

bool hip_find_range(uintptr_t *begin, uintptr_t *end)
{
	struct range hip = {.within = (uintptr_t)hip_find_real(HIP_ID_hipInit)};

	if (!hip.within || !dl_iterate_phdr(find_range, &hip))
		return false;
	*begin = hip.begin;
	*end = hip.end;
	return true;
}

/* Under module_lock. */
static void add_module(uintptr_t code)
{
	struct range range = {.within = code};
	const unsigned count = __atomic_load_n(&module_count, __ATOMIC_RELAXED);

	if (hip_is_internal((void *)code) || count == MODULES_MAX ||
	    !loaded_iterate(find_range, &range))
		return;
	modules[count] = range;
	__atomic_store_n(&module_count, count + 1, __ATOMIC_RELEASE);
}

/* ---- finding functions */

hip_any_fn hip_find_real(enum hip_id id)
{
	return (hip_any_fn)next_function(hip_functions[id].symbol, libraries);
}

__attribute__((noreturn)) static void end_for_want_of(const char *symbol)
{
	rtl_log(RTL_LEVEL_ERROR, "hip",
		"the program calls %s, which its HIP does not have: it ends here, as it would "
		"without rtl",
		symbol);
	_exit(127); /* as the loader does */
}

static void start_at(hip_any_fn real)
{
	hip_start();
	HOLD_LOCK(&module_lock);
	add_module((uintptr_t)real);
	add_module((uintptr_t)hip_resolve);
}

void hip_set_real(enum hip_id id, hip_any_fn real)
{
	start_at(real);
	/* release: with the acquire in hip_real */
	__atomic_store_n(&hip_real_functions[id], real, __ATOMIC_RELEASE);
}

hip_any_fn hip_resolve(enum hip_id id)
{
	hip_any_fn real = hip_find_real(id), none = NULL;

	if (!real)
		end_for_want_of(hip_functions[id].symbol);
	start_at(real);
	if (reports.before_first_call)
		reports.before_first_call();
	/* What HIP's table has put there meanwhile stays: behind `real` the table would lead to us
	 * again. Release: as above; acquire: as hip_real. */
	return __atomic_compare_exchange_n(&hip_real_functions[id], &none, real, false,
					   __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)
		       ? real
		       : none;
}

void *hip_find_ours(const char *symbol)
{
	static void *handle; /* relaxed: the same, whoever opens it */
	void *ours = __atomic_load_n(&handle, __ATOMIC_RELAXED);
	Dl_info info;

	if (!ours) {
		if (!dladdr((void *)hip_resolve, &info))
			return NULL;
		ours = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
		__atomic_store_n(&handle, ours, __ATOMIC_RELAXED);
	}
	return ours ? lookup_symbol(ours, symbol) : NULL;
}

void *hip_ours(const char *name, const void *found)
{
	/* not HIP's (the one is in streams/hsa/report), or of another HIP than ours calls */
	if (hip_find_function(name) == HIP_FUNCTIONS &&
	    strcmp(name, "hipRegisterTracerCallback") != 0)
		return NULL;
	return next_function(name, libraries) != found ? NULL : hip_find_ours(name);
}

void hip_replace(void **function)
{
	void *ours;
	Dl_info info;

	if (!function || !*function || !dladdr(*function, &info) || info.dli_saddr != *function ||
	    !info.dli_sname)
		return;
	ours = hip_ours(info.dli_sname, *function);
	if (ours)
		*function = ours;
}

bool hip_is_preloaded(void)
{
	struct range range = {.within = (uintptr_t)hip_resolve};
	/* Not RTLD_DEFAULT, which finds ours, too, where only HSA has loaded it. */
	const uintptr_t first = (uintptr_t)lookup_symbol(dlopen(NULL, RTLD_LAZY), "hipInit");

	return loaded_iterate(find_range, &range) && first >= range.begin && first < range.end;
}

/* ---- HIP's dispatch table. Source: hip/amd_detail/hip_api_trace.hpp; table.def. */

struct hip_table {
	uint64_t size; /* of all of it, bytes */
	void *entries[];
};

#define HIP_TABLE(name) #name,
static const char *const names[] = {
#include "table.def"
};

/* Relaxed: set while HIP begins, before anything can ask. */
static const struct hip_table *taken;

bool hip_table_taken(void)
{
	return __atomic_load_n(&taken, __ATOMIC_RELAXED) != NULL;
}

static bool is_usable(const struct hip_table *table)
{
	return table && table->size > sizeof(*table) && table->size % sizeof(void *) == 0 &&
	       table->size < 65536;
}

void hip_table_take(void *handed)
{
	struct hip_table *table = handed;
	size_t count;

	if (!hip_mode_has_calls() || table == taken)
		return;
	if (hip_table_taken() || !is_usable(table)) {
		rtl_log(RTL_LEVEL_WARNING, "hip", "a table of HIP is not used: %s",
			hip_table_taken() ? "a second HIP is in this process" : "its size is none");
		return;
	}
	__atomic_store_n(&taken, table, __ATOMIC_RELAXED);
	count = (table->size - sizeof(*table)) / sizeof(void *);
	for (size_t i = 0; i < count && i < sizeof(names) / sizeof(*names); i++) {
		const enum hip_id id = hip_find_function(names[i]);
		void *ours =
			id == HIP_FUNCTIONS || !table->entries[i] ? NULL : hip_find_ours(names[i]);

		if (!ours)
			continue;
		hip_set_real(id, (hip_any_fn)table->entries[i]);
		table->entries[i] = ours;
	}
}
