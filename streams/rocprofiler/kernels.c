/* SPDX-License-Identifier: MIT */
/*
 * Names of kernels, by the objects that dispatches name: noted when an executable is frozen. Tells the tool
 * of symbols (KSYMBOL) and code objects (CODEOBJ).
 *
 * Threads: any; one lock, not held around callbacks. Names stay: a tool keeps them.
 */
#include <hsa/hsa_ven_amd_loader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "callbacks.h"
#include "demangle.h"
#include "dispatch.h"

struct kernel {
	struct kernel *next;
	uint64_t object;
	uint64_t executable;
	char *name;
};

#define BUCKETS 1024u

static struct {
	pthread_mutex_t lock;
	struct kernel *buckets[BUCKETS]; /* by object */
	struct kernel *gone;             /* their names are used again */
} kernels = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __typeof__(hsa_executable_freeze) *next_freeze;
static __typeof__(hsa_executable_destroy) *next_destroy;

static struct kernel **bucket_of(uint64_t object)
{
	return &kernels.buckets[(object >> 6) % BUCKETS];
}

const char *kernel_name(uint64_t object)
{
	const char *name = NULL;

	pthread_mutex_lock(&kernels.lock);
	for (const struct kernel *kernel = *bucket_of(object); kernel && !name;
	     kernel = kernel->next) {
		if (kernel->object == object)
			name = kernel->name;
	}
	pthread_mutex_unlock(&kernels.lock);
	return name ? name : "(unknown kernel)";
}

const amd_kernel_code_t *kernel_code(uint64_t object)
{
	hsa_ven_amd_loader_1_00_pfn_t loader = {0};
	const void *code = NULL;

	if (hsa->get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof(loader), &loader) ||
	    !loader.hsa_ven_amd_loader_query_host_address ||
	    loader.hsa_ven_amd_loader_query_host_address((const void *)(uintptr_t)object, &code))
		return (const amd_kernel_code_t *)(uintptr_t)object;
	return code;
}

/* As the original's tools show it: "name(int*) [clone .kd]". */
static char *readable(char *symbol)
{
	size_t length = strlen(symbol);
	bool descriptor = length > 3 && !strcmp(symbol + length - 3, ".kd");
	char *plain, *text = NULL;

	if (descriptor)
		symbol[length - 3] = '\0';
	plain = demangle(symbol);
	if (descriptor)
		symbol[length - 3] = '.';
	if (!plain)
		return symbol;
	if (asprintf(&text, "%s%s", plain, descriptor ? " [clone .kd]" : "") < 0)
		text = NULL;
	free(plain);
	if (!text)
		return symbol;
	free(symbol);
	return text;
}

/* As in the original: the name is the tool's to free, and there is none when the kernel goes. */
static void tell_symbol(const struct kernel *kernel, uint64_t object, bool unload)
{
	rocprofiler_hsa_callback_data_t data = {0};

	if (!callbacks_are_told(ROCPROFILER_HSA_CB_ID_KSYMBOL))
		return;
	data.ksymbol.object = object;
	data.ksymbol.unload = unload;
	if (!unload) {
		data.ksymbol.name = strdup(kernel->name);
		if (!data.ksymbol.name)
			return;
		data.ksymbol.name_length = (uint32_t)strlen(kernel->name);
	}
	callbacks_tell(ROCPROFILER_HSA_CB_ID_KSYMBOL, &data);
}

/* One that is gone and had the name; NULL: none. */
static struct kernel *take_gone(const char *name)
{
	struct kernel **at = &kernels.gone, *taken;

	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	taken = *at;
	if (taken)
		*at = taken->next;
	return taken;
}

static void add(uint64_t executable, uint64_t object, char *symbol)
{
	char *name = readable(symbol);
	struct kernel *kernel;

	pthread_mutex_lock(&kernels.lock);
	kernel = take_gone(name);
	if (kernel) {
		free(name);
	} else {
		kernel = calloc(1, sizeof(*kernel));
		if (kernel)
			kernel->name = name;
		else
			free(name);
	}
	if (kernel) {
		struct kernel **bucket = bucket_of(object);
		kernel->object = object;
		kernel->executable = executable;
		kernel->next = *bucket;
		*bucket = kernel;
	}
	pthread_mutex_unlock(&kernels.lock);
	if (kernel)
		tell_symbol(kernel, object, false);
}

static hsa_status_t on_symbol(hsa_executable_t executable, hsa_agent_t agent,
			      hsa_executable_symbol_t symbol, void *user)
{
	hsa_symbol_kind_t kind = HSA_SYMBOL_KIND_VARIABLE;
	uint64_t object = 0;
	uint32_t length = 0;
	char *name;

	(void)agent;
	(void)user;
	(void)hsa->symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_TYPE, &kind);
	(void)hsa->symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object);
	(void)hsa->symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME_LENGTH, &length);
	if (kind != HSA_SYMBOL_KIND_KERNEL)
		return HSA_STATUS_SUCCESS;
	name = calloc(1, (size_t)length + 1);
	if (!name)
		return HSA_STATUS_SUCCESS;
	(void)hsa->symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_NAME, name);
	add(executable.handle, object, name);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_freeze(hsa_executable_t executable, const char *options)
{
	hsa_status_t status = next_freeze(executable, options);
	struct gpu *gpu;

	if (status)
		return status;
	for (uint32_t i = 0; (gpu = gpu_at(i)); i++)
		(void)hsa->iterate_agent_symbols(executable, gpu->agent, on_symbol, NULL);
	callbacks_tell_code(executable, false);
	return status;
}

static struct kernel **find_of(uint64_t executable)
{
	for (uint32_t i = 0; i < BUCKETS; i++) {
		for (struct kernel **at = &kernels.buckets[i]; *at; at = &(*at)->next) {
			if ((*at)->executable == executable)
				return at;
		}
	}
	return NULL;
}

static void forget(uint64_t executable)
{
	struct kernel **at, *kernel;

	do {
		kernel = NULL;
		pthread_mutex_lock(&kernels.lock);
		at = find_of(executable);
		if (at) {
			kernel = *at;
			*at = kernel->next;
		}
		pthread_mutex_unlock(&kernels.lock);
		if (!kernel)
			continue;
		tell_symbol(kernel, kernel->object, true);
		pthread_mutex_lock(&kernels.lock);
		kernel->next = kernels.gone;
		kernels.gone = kernel;
		pthread_mutex_unlock(&kernels.lock);
	} while (kernel);
}

static hsa_status_t on_destroy(hsa_executable_t executable)
{
	callbacks_tell_code(executable, true);
	forget(executable.handle);
	return next_destroy(executable);
}

void kernels_hook(struct root_table *table)
{
	(void)table_hook(table_core(table->core, CORE_EXECUTABLE_FREEZE), (void *)on_freeze,
			 &next_freeze);
	(void)table_hook(table_core(table->core, CORE_EXECUTABLE_DESTROY), (void *)on_destroy,
			 &next_destroy);
}
