/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the HSA interceptor share: its settings, the runtime's own functions, its
 * state and the stream.
 *
 * Threads: set up in OnLoad, before any other HSA call of the application; read by all
 * afterwards. `state` changes later: see below.
 */
#pragma once

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
 * MAY be there: (the member, the function, and its type, where not all headers have that function). */
#define HSA_FUNCTIONS(MUST, MAY)                                                                   \
	MUST(system_get_info, hsa_system_get_info)                                                 \
	MUST(iterate_agents, hsa_iterate_agents)                                                   \
	MUST(agent_get_info, hsa_agent_get_info)                                                   \
	MUST(queue_create, hsa_queue_create)                                                       \
	MUST(queue_destroy, hsa_queue_destroy)                                                     \
	MUST(queue_add_write_index, hsa_queue_add_write_index_scacq_screl)                         \
	MUST(queue_load_read_index, hsa_queue_load_read_index_scacquire)                           \
	MUST(signal_create, hsa_signal_create)                                                     \
	MUST(signal_destroy, hsa_signal_destroy)                                                   \
	MUST(signal_store, hsa_signal_store_screlease)                                             \
	MUST(signal_subtract, hsa_signal_subtract_screlease)                                       \
	MUST(get_major_extension_table, hsa_system_get_major_extension_table)                      \
	MUST(load_agent_code_object, hsa_executable_load_agent_code_object)                        \
	MUST(executable_freeze, hsa_executable_freeze)                                             \
	MUST(executable_destroy, hsa_executable_destroy)                                           \
	MUST(symbol_get_info, hsa_executable_symbol_get_info)                                      \
	MUST(iterate_agent_symbols, hsa_executable_iterate_agent_symbols)                          \
	MUST(iterate_memory_pools, hsa_amd_agent_iterate_memory_pools)                             \
	MUST(memory_pool_get_info, hsa_amd_memory_pool_get_info)                                   \
	MUST(set_profiler_enabled, hsa_amd_profiling_set_profiler_enabled)                         \
	MUST(convert_tick, hsa_amd_profiling_convert_tick_to_system_domain)                        \
	MUST(amd_signal_create, hsa_amd_signal_create)                                             \
	MUST(signal_async_handler, hsa_amd_signal_async_handler)                                   \
	MUST(intercept_create, hsa_amd_queue_intercept_create, intercept_create_fn)                \
	MUST(intercept_register, hsa_amd_queue_intercept_register, intercept_register_fn)          \
	MAY(status_string, hsa_status_string)                                                      \
	MAY(register_event_handler, hsa_amd_register_system_event_handler)                         \
	MAY(queue_set_priority, hsa_amd_queue_set_priority)                                        \
	MAY(queue_cu_set_mask, hsa_amd_queue_cu_set_mask)                                          \
	MAY(queue_create_described, hsa_amd_queue_create, queue_create_described_fn)               \
	MAY(counted_queue_acquire, hsa_amd_counted_queue_acquire, counted_queue_acquire_fn)        \
	MAY(async_copy, hsa_amd_memory_async_copy)                                                 \
	MAY(async_copy_rect, hsa_amd_memory_async_copy_rect)                                       \
	MAY(async_copy_on_engine, hsa_amd_memory_async_copy_on_engine, async_copy_on_engine_fn)    \
	MAY(async_batch_copy, hsa_amd_memory_async_batch_copy, async_batch_copy_fn)                \
	MAY(iterate_regions, hsa_agent_iterate_regions)                                            \
	MAY(region_get_info, hsa_region_get_info)                                                  \
	MAY(memory_copy, hsa_memory_copy)                                                          \
	MAY(memory_fill, hsa_amd_memory_fill)                                                      \
	MAY(pointer_info, hsa_amd_pointer_info)                                                    \
	MAY(async_copy_enable, hsa_amd_profiling_async_copy_enable)                                \
	MAY(memory_pool_allocate, hsa_amd_memory_pool_allocate)                                    \
	MAY(memory_pool_free, hsa_amd_memory_pool_free)                                            \
	MAY(agents_allow_access, hsa_amd_agents_allow_access)

#define HSA_SECOND(first, second, ...) second
#define HSA_MEMBER(member, ...)        __typeof__(HSA_SECOND(__VA_ARGS__, __VA_ARGS__, )) *member;
struct hsa_functions {
	HSA_FUNCTIONS(HSA_MEMBER, HSA_MEMBER)
};
#undef HSA_MEMBER
#undef HSA_SECOND

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
	bool listened; /* somebody did when it ended; relaxed */
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
