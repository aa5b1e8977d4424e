/* SPDX-License-Identifier: MIT */
/* What the parts of the HSA interceptor share: see interceptor.h. */
#include "interceptor.h"

#include <inttypes.h>
#include <stdio.h>

struct interceptor interceptor = {.stream = &rtl_stream_none, .copies = &rtl_stream_none};

uint64_t interceptor_string(const char *text)
{
	uint64_t id = 0;

	(void)rtl_string_intern(text, &id);
	return id;
}

void interceptor_set_number(uint64_t uid, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	(void)rtl_tracepoint_set(uid, key, text);
}

static bool take(void **entry, void *function)
{
	if (!entry || !*entry)
		return false;
	*(void **)function = *entry;
	return true;
}

#define CORE(entry, member)                                                                        \
	if (!take(table_core(root->core, entry), &interceptor.hsa.member))                         \
	return #member
#define AMD(entry, member)                                                                         \
	if (!take(table_amd(root->amd, entry), &interceptor.hsa.member))                           \
	return #member

const char *interceptor_take_functions(struct root_table *root)
{
	CORE(CORE_SYSTEM_GET_INFO, system_get_info);
	CORE(CORE_ITERATE_AGENTS, iterate_agents);
	CORE(CORE_AGENT_GET_INFO, agent_get_info);
	CORE(CORE_QUEUE_CREATE, queue_create);
	CORE(CORE_QUEUE_DESTROY, queue_destroy);
	CORE(CORE_QUEUE_ADD_WRITE_INDEX_SCACQ_SCREL, queue_add_write_index);
	CORE(CORE_QUEUE_LOAD_READ_INDEX_SCACQUIRE, queue_load_read_index);
	CORE(CORE_SIGNAL_CREATE, signal_create);
	CORE(CORE_SIGNAL_DESTROY, signal_destroy);
	CORE(CORE_SIGNAL_STORE_SCRELEASE, signal_store);
	CORE(CORE_SIGNAL_SUBTRACT_SCRELEASE, signal_subtract);
	CORE(CORE_SYSTEM_GET_MAJOR_EXTENSION_TABLE, get_major_extension_table);
	CORE(CORE_EXECUTABLE_LOAD_CODE_OBJECT, load_code_object);
	CORE(CORE_EXECUTABLE_LOAD_AGENT_CODE_OBJECT, load_agent_code_object);
	CORE(CORE_EXECUTABLE_FREEZE, executable_freeze);
	CORE(CORE_EXECUTABLE_DESTROY, executable_destroy);
	CORE(CORE_EXECUTABLE_SYMBOL_GET_INFO, symbol_get_info);
	CORE(CORE_EXECUTABLE_ITERATE_AGENT_SYMBOLS, iterate_agent_symbols);
	AMD(AMD_AGENT_ITERATE_MEMORY_POOLS, iterate_memory_pools);
	AMD(AMD_MEMORY_POOL_GET_INFO, memory_pool_get_info);
	AMD(AMD_PROFILING_SET_PROFILER_ENABLED, set_profiler_enabled);
	AMD(AMD_PROFILING_CONVERT_TICK, convert_tick);
	AMD(AMD_SIGNAL_CREATE, amd_signal_create);
	AMD(AMD_SIGNAL_ASYNC_HANDLER, signal_async_handler);
	AMD(AMD_QUEUE_INTERCEPT_CREATE, intercept_create);
	AMD(AMD_QUEUE_INTERCEPT_REGISTER, intercept_register);
	(void)take(table_amd(root->amd, AMD_QUEUE_SET_PRIORITY),
		   &interceptor.hsa.queue_set_priority);
	(void)take(table_amd(root->amd, AMD_QUEUE_CU_SET_MASK), &interceptor.hsa.queue_cu_set_mask);
	(void)take(table_amd(root->amd, AMD_QUEUE_CREATE), &interceptor.hsa.queue_create_described);
	(void)take(table_amd(root->amd, AMD_COUNTED_QUEUE_ACQUIRE),
		   &interceptor.hsa.counted_queue_acquire);
	(void)take(table_amd(root->amd, AMD_MEMORY_ASYNC_COPY), &interceptor.hsa.async_copy);
	(void)take(table_amd(root->amd, AMD_MEMORY_ASYNC_COPY_RECT),
		   &interceptor.hsa.async_copy_rect);
	(void)take(table_amd(root->amd, AMD_MEMORY_ASYNC_COPY_ON_ENGINE),
		   &interceptor.hsa.async_copy_on_engine);
	(void)take(table_amd(root->amd, AMD_MEMORY_ASYNC_BATCH_COPY),
		   &interceptor.hsa.async_batch_copy);
	(void)take(table_core(root->core, CORE_MEMORY_COPY), &interceptor.hsa.memory_copy);
	(void)take(table_amd(root->amd, AMD_MEMORY_FILL), &interceptor.hsa.memory_fill);
	(void)take(table_amd(root->amd, AMD_POINTER_INFO), &interceptor.hsa.pointer_info);
	(void)take(table_amd(root->amd, AMD_PROFILING_ASYNC_COPY_ENABLE),
		   &interceptor.hsa.async_copy_enable);
	(void)take(table_amd(root->amd, AMD_MEMORY_POOL_ALLOCATE),
		   &interceptor.hsa.memory_pool_allocate);
	(void)take(table_amd(root->amd, AMD_MEMORY_POOL_FREE), &interceptor.hsa.memory_pool_free);
	(void)take(table_amd(root->amd, AMD_AGENTS_ALLOW_ACCESS),
		   &interceptor.hsa.agents_allow_access);
	return NULL;
}
