/* SPDX-License-Identifier: MIT */
/* Names of kernels, by the objects that dispatches name: noted when an executable is frozen. Where the tool's
 * settings ask for it (hsa_intercepting), tells it of symbols (KSYMBOL) and code objects (CODEOBJ).
 *
 * Threads: any; two locks, not held around callbacks. Names stay: a tool keeps them. */
#include <hsa/hsa_ven_amd_loader.h>
#include <stdio.h>

#include "context.h"
#include "demangle.h"
#include "map.h"

struct kernel {
	struct kernel *next;
	uint64_t object;
	uint64_t executable;
	char *name;
};

static struct {
	pthread_mutex_t lock;
	struct kernel *first, *gone; /* the latter is only added to */
	struct map by_object;
} kernels = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __typeof__(hsa_executable_freeze) *next_freeze;
static __typeof__(hsa_executable_destroy) *next_destroy;

const char *kernel_name(uint64_t object)
{
	HOLD_LOCK(&kernels.lock);
	const struct kernel *kernel = map_pointer(&kernels.by_object, object);

	return kernel ? kernel->name : "(unknown kernel)";
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
	if (plain && asprintf(&text, "%s%s", plain, descriptor ? " [clone .kd]" : "") < 0)
		text = NULL;
	free(plain);
	if (!text)
		return symbol;
	free(symbol);
	return text;
}

/* ---- what the tool is told */

static struct {
	pthread_mutex_t lock; /* of all below */
	rocprofiler_hsa_callbacks_t functions;
	void *arg;
	bool wanted; /* by the tool's settings, until it has ended */
} callbacks = {.lock = PTHREAD_MUTEX_INITIALIZER};

hsa_status_t rocprofiler_set_hsa_callbacks(const rocprofiler_hsa_callbacks_t functions, void *arg)
{
	HOLD_LOCK(&callbacks.lock);
	callbacks.functions = functions;
	callbacks.arg = arg;
	if (functions.allocate || functions.device || functions.memcopy || functions.submit)
		complain("HSA callbacks are told of code objects and kernels alone; rtl trace "
			 "records memory, copies and dispatches");
	return HSA_STATUS_SUCCESS;
}

void kernels_are_told(bool wanted)
{
	HOLD_LOCK(&callbacks.lock);
	callbacks.wanted = wanted;
}

/* What is to be called now; NULL: nothing. */
static rocprofiler_hsa_callback_fun_t function_of(rocprofiler_hsa_cb_id_t id, void **arg)
{
	HOLD_LOCK(&callbacks.lock);
	*arg = callbacks.arg;
	if (!callbacks.wanted)
		return NULL;
	return id == ROCPROFILER_HSA_CB_ID_KSYMBOL ? callbacks.functions.ksymbol
						   : callbacks.functions.codeobj;
}

struct code {
	rocprofiler_hsa_callback_fun_t function;
	void *arg;
	const hsa_ven_amd_loader_1_01_pfn_t *loader;
	bool unload;
};

#define ASK(what, into)                                                                            \
	((void)ask(object, HSA_VEN_AMD_LOADER_LOADED_CODE_OBJECT_INFO_##what, &(into)))

static hsa_status_t on_code(hsa_executable_t executable, hsa_loaded_code_object_t object,
			    void *user)
{
	const struct code *code = user;
	__typeof__(hsa_ven_amd_loader_loaded_code_object_get_info) *ask =
		code->loader->hsa_ven_amd_loader_loaded_code_object_get_info;
	rocprofiler_hsa_callback_data_t data = {0};

	data.codeobj.storage_file = -1;
	data.codeobj.unload = code->unload;
	ASK(CODE_OBJECT_STORAGE_TYPE, data.codeobj.storage_type);
	if (data.codeobj.storage_type == HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_FILE)
		ASK(CODE_OBJECT_STORAGE_FILE, data.codeobj.storage_file);
	if (data.codeobj.storage_type == HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY) {
		ASK(CODE_OBJECT_STORAGE_MEMORY_BASE, data.codeobj.memory_base);
		ASK(CODE_OBJECT_STORAGE_MEMORY_SIZE, data.codeobj.memory_size);
	}
	ASK(LOAD_BASE, data.codeobj.load_base);
	ASK(LOAD_SIZE, data.codeobj.load_size);
	ASK(LOAD_DELTA, data.codeobj.load_delta);
	ASK(URI_LENGTH, data.codeobj.uri_length);
	/* Stays, as the original's does: a tool keeps it. */
	data.codeobj.uri = calloc(1, (size_t)data.codeobj.uri_length + 1);
	if (!data.codeobj.uri)
		return HSA_STATUS_SUCCESS;
	ASK(URI, *data.codeobj.uri);
	(void)code->function(ROCPROFILER_HSA_CB_ID_CODEOBJ, &data, code->arg);
	return HSA_STATUS_SUCCESS;
}

/* The code objects of an executable that was loaded, or is about to go. */
static void tell_code(hsa_executable_t executable, bool unload)
{
	hsa_ven_amd_loader_1_01_pfn_t loader = {0};
	struct code code = {.loader = &loader, .unload = unload};

	code.function = function_of(ROCPROFILER_HSA_CB_ID_CODEOBJ, &code.arg);
	if (!code.function || runtime_find() ||
	    hsa->get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof(loader), &loader) ||
	    !loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects)
		return;
	(void)loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects(executable, on_code,
									       &code);
}

/* As in the original: the name is the tool's to free, and there is none when the kernel goes. */
static void tell_symbol(const struct kernel *kernel, bool unload)
{
	void *arg;
	rocprofiler_hsa_callback_fun_t function = function_of(ROCPROFILER_HSA_CB_ID_KSYMBOL, &arg);
	rocprofiler_hsa_callback_data_t data = {0};

	if (!function)
		return;
	data.ksymbol.object = kernel->object;
	data.ksymbol.unload = unload;
	if (!unload) {
		data.ksymbol.name = strdup(kernel->name);
		if (!data.ksymbol.name)
			return;
		data.ksymbol.name_length = (uint32_t)strlen(kernel->name);
	}
	(void)function(ROCPROFILER_HSA_CB_ID_KSYMBOL, &data, arg);
}

static void add(uint64_t executable, uint64_t object, char *symbol)
{
	struct kernel *kernel = malloc(sizeof(*kernel));
	char *name = readable(symbol);

	if (!kernel) {
		free(name);
		return;
	}
	pthread_mutex_lock(&kernels.lock);
	*kernel = (struct kernel){kernels.first, object, executable, name};
	kernels.first = kernel;
	(void)map_set(&kernels.by_object, object, (uintptr_t)kernel);
	pthread_mutex_unlock(&kernels.lock);
	tell_symbol(kernel, false);
}

static hsa_status_t on_symbol(hsa_executable_t executable, hsa_agent_t agent,
			      hsa_executable_symbol_t symbol, void *user)
{
	hsa_symbol_kind_t kind = HSA_SYMBOL_KIND_VARIABLE;
	uint64_t object = 0;
	uint32_t length = 0;
	char *name;

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
	tell_code(executable, false);
	return status;
}

static void forget(uint64_t executable)
{
	struct kernel *before, *kernel;

	pthread_mutex_lock(&kernels.lock);
	before = kernels.gone;
	for (struct kernel **at = &kernels.first; (kernel = *at);) {
		if (kernel->executable != executable) {
			at = &kernel->next;
			continue;
		}
		*at = kernel->next;
		(void)map_take(&kernels.by_object, kernel->object);
		kernel->next = kernels.gone;
		kernels.gone = kernel;
	}
	kernel = kernels.gone;
	pthread_mutex_unlock(&kernels.lock);
	for (; kernel != before; kernel = kernel->next)
		tell_symbol(kernel, true);
}

static hsa_status_t on_destroy(hsa_executable_t executable)
{
	tell_code(executable, true);
	forget(executable.handle);
	return next_destroy(executable);
}

void kernels_hook(struct root_table *table)
{
	(void)table_hook(table, ENTRY_hsa_executable_freeze, (void *)on_freeze, &next_freeze);
	(void)table_hook(table, ENTRY_hsa_executable_destroy, (void *)on_destroy, &next_destroy);
}
