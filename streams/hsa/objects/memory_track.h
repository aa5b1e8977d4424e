/* SPDX-License-Identifier: MIT */
/*
 * The calls that allocate and release memory, as events of rtl.hsa.mem: what is known of them, the
 * table of what is allocated, and how much is in use.
 *
 * Threads: any. One lock, see memory.h.
 */
#ifndef STREAMS_HSA_MEMORY_TRACK_H
#define STREAMS_HSA_MEMORY_TRACK_H

#include <hsa/hsa.h>
#include <rtl/events.h>
#include <stdbool.h>

#include "memory_table.h"

/* The hooked functions. */
enum memory_function {
	REGION_ALLOCATE,
	REGION_FREE,
	POOL_ALLOCATE,
	POOL_FREE,
	HANDLE_CREATE,
	HANDLE_RELEASE,
	HANDLE_RETAIN,
	RESERVE,
	RESERVE_ALIGN,
	RESERVE_FREE,
	LOCK,
	LOCK_TO_POOL,
	UNLOCK,
	ATTACH,
	DETACH,
	MEMORY_FUNCTIONS,
};

/* Their names, in that order. */
extern const char *const memory_function_names[MEMORY_FUNCTIONS];

/* A call under way. */
struct memory_operation {
	enum memory_function function;
	uint16_t begin_type; /* the end's is one more */
	uint64_t instance;
	uint64_t begin_ticks; /* 0: it is not followed */
	struct rtl_hsa_mem mem;
	struct memory_entry entry; /* of a release: what is released */
	bool remembered;           /* the entry is */
};

/* Before memory is allocated; pool: a handle of a pool or region, or 0. */
struct memory_operation memory_allocation(enum memory_function function, uint32_t kind,
					  uint64_t pool, uint64_t bytes);

/* After it; address: where the function has written what it is. Returns status. */
hsa_status_t memory_allocated(struct memory_operation *op, hsa_status_t status,
			      const void *address);

/* Before memory is released; address 0: nothing is. It is forgotten there: another thread may get the same address right
 * after the call. */
struct memory_operation memory_release(enum memory_function function, uint32_t kind,
				       uint64_t address);

/* After it. Returns status. */
hsa_status_t memory_released(struct memory_operation *op, hsa_status_t status);

/* It takes one more release to release it. */
void memory_retained(uint32_t kind, uint64_t address);

/* Registers the stream. */
bool memory_track_init(void);

/* Whether that has been done. */
bool memory_track_ready(void);

/* All memory is gone. */
void memory_track_forget(void);

#endif
