/* SPDX-License-Identifier: MIT */
/* What the program asks of HSA: see callbacks.h. */
#include "callbacks.h"

#include <hsa/hsa_ven_amd_loader.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"

/* Entries that only this library hooks; the same in all layouts of the core table. */
enum {
	CORE_MEMORY_ALLOCATE = 33,
	CORE_MEMORY_ASSIGN_AGENT = 36,
};

static struct {
	pthread_mutex_t lock; /* of all below */
	rocprofiler_hsa_callbacks_t functions;
	void *arg;
} callbacks = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool hooked;
static _Thread_local bool telling __attribute__((tls_model("initial-exec")));

static __typeof__(hsa_memory_allocate) *next_allocate;
static __typeof__(hsa_memory_assign_agent) *next_assign;
static __typeof__(hsa_memory_copy) *next_copy;
static __typeof__(hsa_amd_memory_pool_allocate) *next_pool_allocate;
static __typeof__(hsa_amd_memory_pool_free) *next_pool_free;
static __typeof__(hsa_amd_agents_allow_access) *next_allow;
static __typeof__(hsa_amd_memory_async_copy) *next_async_copy;

EXPORT hsa_status_t rocprofiler_set_hsa_callbacks(const rocprofiler_hsa_callbacks_t functions,
						  void *arg)
{
	pthread_mutex_lock(&callbacks.lock);
	callbacks.functions = functions;
	callbacks.arg = arg;
	pthread_mutex_unlock(&callbacks.lock);
	dispatch_set_submit_callback(functions.submit, arg);
	return HSA_STATUS_SUCCESS;
}

/* What is to be called now, on this thread; NULL: nothing. */
static rocprofiler_hsa_callback_fun_t function_of(rocprofiler_hsa_cb_id_t id, void **arg)
{
	rocprofiler_hsa_callback_fun_t functions[6];

	_Static_assert(sizeof(functions) == sizeof(callbacks.functions), "in the order of the ids");
	if (!hooked || telling || runtime_own_call || (unsigned)id > 5)
		return NULL;
	pthread_mutex_lock(&callbacks.lock);
	memcpy(functions, &callbacks.functions, sizeof(functions));
	*arg = callbacks.arg;
	pthread_mutex_unlock(&callbacks.lock);
	return functions[id];
}

bool callbacks_are_told(rocprofiler_hsa_cb_id_t id)
{
	void *arg;

	return function_of(id, &arg) != NULL;
}

void callbacks_tell(rocprofiler_hsa_cb_id_t id, const rocprofiler_hsa_callback_data_t *data)
{
	void *arg;
	rocprofiler_hsa_callback_fun_t function = function_of(id, &arg);

	if (!function)
		return;
	telling = true;
	(void)function(id, data, arg);
	telling = false;
}

/* ---- memory ---- */

static void tell_agents(uint32_t count, const hsa_agent_t *agents, const void *ptr)
{
	for (uint32_t i = 0; i < count; i++) {
		rocprofiler_hsa_callback_data_t data = {0};
		struct gpu *gpu = gpu_if_any(agents[i]);
		if (runtime_find())
			return;
		(void)hsa->agent_get_info(agents[i], HSA_AGENT_INFO_DEVICE, &data.device.type);
		data.device.id = gpu ? gpu->index : 0;
		data.device.agent = agents[i];
		data.device.ptr = ptr;
		callbacks_tell(ROCPROFILER_HSA_CB_ID_DEVICE, &data);
	}
}

static hsa_status_t on_allocate(hsa_region_t region, size_t size, void **ptr)
{
	rocprofiler_hsa_callback_data_t data = {0};
	hsa_status_t status = next_allocate(region, size, ptr);

	if (status || runtime_find())
		return status;
	data.allocate.ptr = *ptr;
	data.allocate.size = size;
	(void)runtime.region_get_info(region, HSA_REGION_INFO_SEGMENT, &data.allocate.segment);
	(void)runtime.region_get_info(region, HSA_REGION_INFO_GLOBAL_FLAGS,
				      &data.allocate.global_flag);
	callbacks_tell(ROCPROFILER_HSA_CB_ID_ALLOCATE, &data);
	return status;
}

static hsa_status_t on_assign(void *ptr, hsa_agent_t agent, hsa_access_permission_t access)
{
	hsa_status_t status = next_assign(ptr, agent, access);

	if (!status)
		tell_agents(1, &agent, ptr);
	return status;
}

static hsa_status_t on_allow(uint32_t count, const hsa_agent_t *agents, const uint32_t *flags,
			     const void *ptr)
{
	hsa_status_t status = next_allow(count, agents, flags, ptr);

	if (!status)
		tell_agents(count, agents, ptr);
	return status;
}

static hsa_status_t on_pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags,
				     void **ptr)
{
	rocprofiler_hsa_callback_data_t data = {0};
	hsa_status_t status = next_pool_allocate(pool, size, flags, ptr);

	if (status || !size || runtime_find())
		return status;
	data.allocate.ptr = *ptr;
	data.allocate.size = size;
	(void)hsa->memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT,
					&data.allocate.segment);
	(void)hsa->memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS,
					&data.allocate.global_flag);
	callbacks_tell(ROCPROFILER_HSA_CB_ID_ALLOCATE, &data);
	return status;
}

static hsa_status_t on_pool_free(void *ptr)
{
	rocprofiler_hsa_callback_data_t data = {0};

	data.allocate.ptr = ptr;
	callbacks_tell(ROCPROFILER_HSA_CB_ID_ALLOCATE, &data);
	return next_pool_free(ptr);
}

static void tell_copy(const void *dst, const void *src, size_t size)
{
	rocprofiler_hsa_callback_data_t data = {0};

	data.memcopy.dst = dst;
	data.memcopy.src = src;
	data.memcopy.size = size;
	callbacks_tell(ROCPROFILER_HSA_CB_ID_MEMCOPY, &data);
}

static hsa_status_t on_copy(void *dst, const void *src, size_t size)
{
	hsa_status_t status = next_copy(dst, src, size);

	if (!status)
		tell_copy(dst, src, size);
	return status;
}

static hsa_status_t on_async_copy(void *dst, hsa_agent_t dst_agent, const void *src,
				  hsa_agent_t src_agent, size_t size, uint32_t dep_count,
				  const hsa_signal_t *deps, hsa_signal_t completion)
{
	hsa_status_t status =
		next_async_copy(dst, dst_agent, src, src_agent, size, dep_count, deps, completion);

	if (!status)
		tell_copy(dst, src, size);
	return status;
}

/* ---- code ---- */

struct code {
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
	rocprofiler_hsa_callback_data_t data = {0}, memory = {0};

	(void)executable;
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
	callbacks_tell(ROCPROFILER_HSA_CB_ID_CODEOBJ, &data);
	memory.allocate.ptr = (const void *)(uintptr_t)data.codeobj.load_base;
	memory.allocate.size = code->unload ? 0 : data.codeobj.load_size;
	memory.allocate.segment = HSA_AMD_SEGMENT_GLOBAL;
	memory.allocate.global_flag = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED;
	memory.allocate.is_code = 1;
	callbacks_tell(ROCPROFILER_HSA_CB_ID_ALLOCATE, &memory);
	return HSA_STATUS_SUCCESS;
}

void callbacks_tell_code(hsa_executable_t executable, bool unload)
{
	hsa_ven_amd_loader_1_01_pfn_t loader = {0};
	struct code code = {&loader, unload};

	if (!hooked || runtime_find() ||
	    hsa->get_major_extension_table(HSA_EXTENSION_AMD_LOADER, 1, sizeof(loader), &loader) ||
	    !loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects)
		return;
	(void)loader.hsa_ven_amd_loader_executable_iterate_loaded_code_objects(executable, on_code,
									       &code);
}

/* ---- hooks ---- */

void callbacks_hook(struct root_table *table)
{
	struct function_table *core = table->core, *amd = table->amd;

	(void)table_hook(table_core(core, (enum core_entry)CORE_MEMORY_ALLOCATE),
			 (void *)on_allocate, &next_allocate);
	(void)table_hook(table_core(core, (enum core_entry)CORE_MEMORY_ASSIGN_AGENT),
			 (void *)on_assign, &next_assign);
	(void)table_hook(table_core(core, CORE_MEMORY_COPY), (void *)on_copy, &next_copy);
	(void)table_hook(table_amd(amd, AMD_MEMORY_POOL_ALLOCATE), (void *)on_pool_allocate,
			 &next_pool_allocate);
	(void)table_hook(table_amd(amd, AMD_MEMORY_POOL_FREE), (void *)on_pool_free,
			 &next_pool_free);
	(void)table_hook(table_amd(amd, AMD_AGENTS_ALLOW_ACCESS), (void *)on_allow, &next_allow);
	(void)table_hook(table_amd(amd, AMD_MEMORY_ASYNC_COPY), (void *)on_async_copy,
			 &next_async_copy);
	hooked = true;
}

void callbacks_end(void)
{
	hooked = false;
}
