/* SPDX-License-Identifier: MIT */
/* Memory that the application allocates and releases: the stream rtl.hsa.mem, the table of what is allocated, and
 * totals.
 *
 * The wrappers of calls (call_wrappers.c) call memory_begin and memory_end. Once they are in the tables, allocations
 * are followed whether or not somebody listens, so that releases know sizes, and totals are right, when somebody does.
 *
 * Threads: memory_register in OnLoad, calls on any. One lock, for the table and the totals. */
#pragma once

#include <rtl/events.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is allocated. */
struct memory_entry {
	uint64_t key; /* never 0 */
	uint64_t bytes;
	uint64_t pool;
	uint32_t place;
	uint32_t holders; /* releases until it is gone */
	uint64_t allocated_ns;
};

enum memory_does {
	MEMORY_ALLOCATES,
	MEMORY_LOCKS,    /* memory that is there */
	MEMORY_RELEASES, /* nothing, if the address is 0 */
	MEMORY_RETAINS,  /* one more release is to come */
};

/* A function of calls.def. */
struct memory_function {
	uint8_t does; /* enum memory_does */
	uint8_t kind; /* enum rtl_hsa_mem_kind */
	/* Which of its arguments is a pool or region, how much it is, and the address; or, of what allocates and
	 * retains, where the function writes that. */
	uint8_t pool, bytes, address;
};
#define MEMORY_NO_POOL 255

#define MEMORY_FUNCTIONS(F)                                                                        \
	F(hsa_memory_allocate, ALLOCATES, REGION, 0, 1, 2)                                         \
	F(hsa_memory_free, RELEASES, REGION, 0, 0, 0)                                              \
	F(hsa_amd_memory_pool_allocate, ALLOCATES, POOL, 0, 1, 3)                                  \
	F(hsa_amd_memory_pool_free, RELEASES, POOL, 0, 0, 0)                                       \
	F(hsa_amd_vmem_handle_create, ALLOCATES, HANDLE, 0, 1, 4)                                  \
	F(hsa_amd_vmem_handle_release, RELEASES, HANDLE, 0, 0, 0)                                  \
	F(hsa_amd_vmem_retain_alloc_handle, RETAINS, HANDLE, 0, 0, 0)                              \
	F(hsa_amd_vmem_address_reserve, ALLOCATES, ADDRESSES, MEMORY_NO_POOL, 1, 0)                \
	F(hsa_amd_vmem_address_reserve_align, ALLOCATES, ADDRESSES, MEMORY_NO_POOL, 1, 0)          \
	F(hsa_amd_vmem_address_free, RELEASES, ADDRESSES, 0, 0, 0)                                 \
	F(hsa_amd_memory_lock, LOCKS, LOCKED, MEMORY_NO_POOL, 1, 0)                                \
	F(hsa_amd_memory_lock_to_pool, LOCKS, LOCKED, MEMORY_NO_POOL, 1, 0)                        \
	F(hsa_amd_memory_unlock, RELEASES, LOCKED, 0, 0, 0)                                        \
	F(hsa_amd_ipc_memory_attach, ALLOCATES, ATTACHED, MEMORY_NO_POOL, 1, 4)                    \
	F(hsa_amd_ipc_memory_detach, RELEASES, ATTACHED, 0, 0, 0)

/* A call under way. */
struct memory_operation {
	const struct memory_function *function;
	uint32_t number;     /* of the function, in calls.def */
	uint16_t begin_type; /* the end's is one more */
	bool remembered;     /* of a release: the entry is */
	uint64_t instance;
	uint64_t begin_ticks; /* 0: it is not followed */
	struct rtl_hsa_mem mem;
	struct memory_entry entry; /* of a release: what is released */
};

/* Around a call, whose arguments are `values`. */
void memory_begin(struct memory_operation *op, const struct memory_function *function,
		  uint32_t number, const uint64_t *values);
void memory_end(struct memory_operation *op, const uint64_t *values, uint32_t status);

/* Registers the stream if the mode, or RTL_STREAMS, asks for memory. */
void memory_register(void);
bool memory_is_registered(void);
