/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the HSA interceptor share: its settings, the runtime's own functions, its
 * state and the stream.
 *
 * Threads: set up in OnLoad, before any other HSA call of the application; read by all
 * afterwards. `state` changes later: see below.
 */
#ifndef STREAMS_HSA_INTERCEPTOR_H
#define STREAMS_HSA_INTERCEPTOR_H

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <rtl/rtl.h>
#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "table.h"

typedef void (*packet_writer)(const void *packets, uint64_t count);
typedef void (*packet_interceptor)(const void *packets, uint64_t count, uint64_t index, void *data,
				   packet_writer write);
typedef void (*queue_error_callback)(hsa_status_t status, hsa_queue_t *queue, void *data);

/*
 * A queue's descriptor, version 1, of hsa_amd_queue_create (hsa_ext_amd.h of ROCm 7.15, interface
 * version 1.26), which no header that we are built with need have.
 */
struct queue_descriptor {
	uint16_t version;
	uint16_t flags;      /* where its memory is */
	uint8_t engine_type; /* 0: compute */
	uint8_t reserved_header[3];
	uint32_t queue_size_bytes;
	uint32_t priority; /* hsa_amd_queue_priority_t */
	queue_error_callback callback;
	void *callback_data;
	hsa_queue_t *queue; /* out */
	struct {
		const uint32_t *cu_mask;
		uint32_t type; /* hsa_queue_type32_t */
		uint32_t private_segment_size;
		uint32_t cu_mask_count; /* bits */
		uint32_t reserved[3];
	} compute; /* one of a union */
	uint32_t traffic_class;
	uint8_t reserved[20];
};
_Static_assert(sizeof(struct queue_descriptor) == 96, "hsa_amd_queue_create_desc_t");
_Static_assert(offsetof(struct queue_descriptor, compute) == 40, "hsa_amd_queue_create_desc_t");

/* Functions that not all headers have. */
typedef hsa_status_t intercept_create_fn(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
					 queue_error_callback callback, void *data,
					 uint32_t private_bytes, uint32_t group_bytes,
					 hsa_queue_t **queue);
typedef hsa_status_t intercept_register_fn(hsa_queue_t *queue, packet_interceptor interceptor,
					   void *data);
typedef hsa_status_t
queue_create_described_fn(hsa_agent_t agent, struct queue_descriptor *descriptors, uint32_t count);
typedef hsa_status_t counted_queue_acquire_fn(hsa_agent_t agent, uint32_t type, uint32_t priority,
					      queue_error_callback callback, void *data,
					      uint64_t flags, hsa_queue_t **queue);
typedef hsa_status_t async_copy_on_engine_fn(void *dst, hsa_agent_t dst_agent, const void *src,
					     hsa_agent_t src_agent, size_t size, uint32_t dep_count,
					     const hsa_signal_t *deps, hsa_signal_t completion,
					     uint32_t engine, bool force_sdma);
typedef hsa_status_t async_batch_copy_fn(const void *ops, uint32_t op_count, uint32_t dep_count,
					 const hsa_signal_t *deps);

/* The runtime's functions as they were when OnLoad was called: another tool's, if one was first. MUST or
 * MAY be there: (the table, the entry, its type, the member). */
#define HSA_FUNCTIONS(MUST, MAY)                                                                   \
	MUST(core, CORE_SYSTEM_GET_INFO, hsa_system_get_info, system_get_info)                     \
	MUST(core, CORE_ITERATE_AGENTS, hsa_iterate_agents, iterate_agents)                        \
	MUST(core, CORE_AGENT_GET_INFO, hsa_agent_get_info, agent_get_info)                        \
	MUST(core, CORE_QUEUE_CREATE, hsa_queue_create, queue_create)                              \
	MUST(core, CORE_QUEUE_DESTROY, hsa_queue_destroy, queue_destroy)                           \
	MUST(core, CORE_QUEUE_ADD_WRITE_INDEX_SCACQ_SCREL, hsa_queue_add_write_index_scacq_screl,  \
	     queue_add_write_index)                                                                \
	MUST(core, CORE_QUEUE_LOAD_READ_INDEX_SCACQUIRE, hsa_queue_load_read_index_scacquire,      \
	     queue_load_read_index)                                                                \
	MUST(core, CORE_SIGNAL_CREATE, hsa_signal_create, signal_create)                           \
	MUST(core, CORE_SIGNAL_DESTROY, hsa_signal_destroy, signal_destroy)                        \
	MUST(core, CORE_SIGNAL_STORE_SCRELEASE, hsa_signal_store_screlease, signal_store)          \
	MUST(core, CORE_SIGNAL_SUBTRACT_SCRELEASE, hsa_signal_subtract_screlease, signal_subtract) \
	MUST(core, CORE_SYSTEM_GET_MAJOR_EXTENSION_TABLE, hsa_system_get_major_extension_table,    \
	     get_major_extension_table)                                                            \
	MUST(core, CORE_EXECUTABLE_LOAD_CODE_OBJECT, hsa_executable_load_code_object,              \
	     load_code_object)                                                                     \
	MUST(core, CORE_EXECUTABLE_LOAD_AGENT_CODE_OBJECT, hsa_executable_load_agent_code_object,  \
	     load_agent_code_object)                                                               \
	MUST(core, CORE_EXECUTABLE_FREEZE, hsa_executable_freeze, executable_freeze)               \
	MUST(core, CORE_EXECUTABLE_DESTROY, hsa_executable_destroy, executable_destroy)            \
	MUST(core, CORE_EXECUTABLE_SYMBOL_GET_INFO, hsa_executable_symbol_get_info,                \
	     symbol_get_info)                                                                      \
	MUST(core, CORE_EXECUTABLE_ITERATE_AGENT_SYMBOLS, hsa_executable_iterate_agent_symbols,    \
	     iterate_agent_symbols)                                                                \
	MUST(amd, AMD_AGENT_ITERATE_MEMORY_POOLS, hsa_amd_agent_iterate_memory_pools,              \
	     iterate_memory_pools)                                                                 \
	MUST(amd, AMD_MEMORY_POOL_GET_INFO, hsa_amd_memory_pool_get_info, memory_pool_get_info)    \
	MUST(amd, AMD_PROFILING_SET_PROFILER_ENABLED, hsa_amd_profiling_set_profiler_enabled,      \
	     set_profiler_enabled)                                                                 \
	MUST(amd, AMD_PROFILING_CONVERT_TICK, hsa_amd_profiling_convert_tick_to_system_domain,     \
	     convert_tick)                                                                         \
	MUST(amd, AMD_SIGNAL_CREATE, hsa_amd_signal_create, amd_signal_create)                     \
	MUST(amd, AMD_SIGNAL_ASYNC_HANDLER, hsa_amd_signal_async_handler, signal_async_handler)    \
	MUST(amd, AMD_QUEUE_INTERCEPT_CREATE, intercept_create_fn, intercept_create)               \
	MUST(amd, AMD_QUEUE_INTERCEPT_REGISTER, intercept_register_fn, intercept_register)         \
	MAY(amd, AMD_QUEUE_SET_PRIORITY, hsa_amd_queue_set_priority, queue_set_priority)           \
	MAY(amd, AMD_QUEUE_CU_SET_MASK, hsa_amd_queue_cu_set_mask, queue_cu_set_mask)              \
	MAY(amd, AMD_QUEUE_CREATE, queue_create_described_fn, queue_create_described)              \
	MAY(amd, AMD_COUNTED_QUEUE_ACQUIRE, counted_queue_acquire_fn, counted_queue_acquire)       \
	MAY(amd, AMD_MEMORY_ASYNC_COPY, hsa_amd_memory_async_copy, async_copy)                     \
	MAY(amd, AMD_MEMORY_ASYNC_COPY_RECT, hsa_amd_memory_async_copy_rect, async_copy_rect)      \
	MAY(amd, AMD_MEMORY_ASYNC_COPY_ON_ENGINE, async_copy_on_engine_fn, async_copy_on_engine)   \
	MAY(amd, AMD_MEMORY_ASYNC_BATCH_COPY, async_batch_copy_fn, async_batch_copy)               \
	MAY(core, CORE_AGENT_ITERATE_REGIONS, hsa_agent_iterate_regions, iterate_regions)          \
	MAY(core, CORE_REGION_GET_INFO, hsa_region_get_info, region_get_info)                      \
	MAY(core, CORE_MEMORY_COPY, hsa_memory_copy, memory_copy)                                  \
	MAY(amd, AMD_MEMORY_FILL, hsa_amd_memory_fill, memory_fill)                                \
	MAY(amd, AMD_POINTER_INFO, hsa_amd_pointer_info, pointer_info)                             \
	MAY(amd, AMD_PROFILING_ASYNC_COPY_ENABLE, hsa_amd_profiling_async_copy_enable,             \
	    async_copy_enable)                                                                     \
	MAY(amd, AMD_MEMORY_POOL_ALLOCATE, hsa_amd_memory_pool_allocate, memory_pool_allocate)     \
	MAY(amd, AMD_MEMORY_POOL_FREE, hsa_amd_memory_pool_free, memory_pool_free)                 \
	MAY(amd, AMD_AGENTS_ALLOW_ACCESS, hsa_amd_agents_allow_access, agents_allow_access)

#define HSA_MEMBER(table, entry, type, member) __typeof__(type) *member;
struct hsa_functions {
	HSA_FUNCTIONS(HSA_MEMBER, HSA_MEMBER)
};
#undef HSA_MEMBER

enum interceptor_state {
	INTERCEPTOR_OFF, /* hooks, where there are any, only pass on */
	INTERCEPTOR_ON,
	INTERCEPTOR_ENDED, /* for good: the runtime or the process ends, or it is the child of a fork */
};

struct interceptor {
	struct rtl_stream *stream;
	struct rtl_stream *copies; /* rtl.hsa.copy */
	struct hsa_functions hsa;
	struct config config;
	/* enum interceptor_state. Relaxed everywhere: it tells hooks to do less, and orders
	 * nothing; what must be seen with it has its own ordering. */
	int state;
};

extern struct interceptor interceptor;

static inline bool interceptor_on(void)
{
	return __atomic_load_n(&interceptor.state, __ATOMIC_RELAXED) == INTERCEPTOR_ON;
}

/* An interned string; 0 if there is no memory for it. */
uint64_t interceptor_string(const char *text);

/* A tracepoint's metadata as a decimal number. */
void interceptor_set_number(uint64_t uid, const char *key, uint64_t value);

/*
 * Finds the runtime's functions in its tables and keeps them.
 * Returns NULL, or the name of one that must be there and is not.
 */
const char *interceptor_take_functions(struct root_table *root);

/*
 * The runtime's own thread that calls handlers of signals: completions depend on it, so nothing of
 * ours waits on it.
 *
 * Threads: any; handler_thread_find once for each runtime, on a thread of ours.
 */

/* Its id, 0 if not known. Relaxed: a fact by itself. */
extern uint32_t handler_thread;

static inline uint32_t handler_thread_id(void)
{
	return __atomic_load_n(&handler_thread, __ATOMIC_RELAXED);
}

/* Whether the calling thread is it, as far as known. */
static inline bool handler_thread_is_this(void)
{
	return handler_thread_id() == rtl_thread_id();
}

/* Finds out which it is. It is known some time later. */
void handler_thread_find(void);

#endif
