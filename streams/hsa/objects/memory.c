/* SPDX-License-Identifier: MIT */
/* Memory that the application allocates and releases: see memory.h. */
#include "memory.h"

#include <rtl/events.h>

#include "calls.h"
#include "interceptor.h"
#include "memory_pools.h"
#include "memory_track.h"

/* What was in the tables. */
static void *next[MEMORY_FUNCTIONS];

#define NEXT(function, type) ((__typeof__(type) *)next[function])

static hsa_status_t region_allocate(hsa_region_t region, size_t size, void **ptr)
{
	struct memory_operation op =
		memory_allocation(REGION_ALLOCATE, RTL_HSA_MEM_REGION, region.handle, size);

	return memory_allocated(&op, NEXT(REGION_ALLOCATE, hsa_memory_allocate)(region, size, ptr),
				ptr);
}

static hsa_status_t pool_allocate(hsa_amd_memory_pool_t pool, size_t size, uint32_t flags,
				  void **ptr)
{
	struct memory_operation op =
		memory_allocation(POOL_ALLOCATE, RTL_HSA_MEM_POOL, pool.handle, size);

	return memory_allocated(
		&op, NEXT(POOL_ALLOCATE, hsa_amd_memory_pool_allocate)(pool, size, flags, ptr),
		ptr);
}

/* Types of functions that not all headers have; handles are structs of 64 bits. */
typedef hsa_status_t handle_create_fn(hsa_amd_memory_pool_t pool, size_t size, uint32_t type,
				      uint64_t flags, uint64_t *handle);
typedef hsa_status_t handle_fn(struct call_handle handle);
typedef hsa_status_t retain_fn(struct call_handle *handle, void *address);
typedef hsa_status_t reserve_fn(void **va, size_t size, uint64_t address, uint64_t flags);
typedef hsa_status_t reserve_align_fn(void **va, size_t size, uint64_t address, uint64_t alignment,
				      uint64_t flags);
typedef hsa_status_t reserve_free_fn(void *va, size_t size);

static hsa_status_t handle_create(hsa_amd_memory_pool_t pool, size_t size, uint32_t type,
				  uint64_t flags, uint64_t *handle)
{
	struct memory_operation op =
		memory_allocation(HANDLE_CREATE, RTL_HSA_MEM_HANDLE, pool.handle, size);

	return memory_allocated(
		&op, NEXT(HANDLE_CREATE, handle_create_fn)(pool, size, type, flags, handle),
		handle);
}

/* One more release is to come. */
static hsa_status_t handle_retain(struct call_handle *handle, void *address)
{
	const hsa_status_t status = NEXT(HANDLE_RETAIN, retain_fn)(handle, address);

	if (!status)
		memory_retained(RTL_HSA_MEM_HANDLE, handle->handle);
	return status;
}

static hsa_status_t reserve(void **va, size_t size, uint64_t address, uint64_t flags)
{
	struct memory_operation op = memory_allocation(RESERVE, RTL_HSA_MEM_ADDRESSES, 0, size);

	return memory_allocated(&op, NEXT(RESERVE, reserve_fn)(va, size, address, flags), va);
}

static hsa_status_t reserve_align(void **va, size_t size, uint64_t address, uint64_t alignment,
				  uint64_t flags)
{
	struct memory_operation op =
		memory_allocation(RESERVE_ALIGN, RTL_HSA_MEM_ADDRESSES, 0, size);

	return memory_allocated(
		&op, NEXT(RESERVE_ALIGN, reserve_align_fn)(va, size, address, alignment, flags),
		va);
}

static hsa_status_t lock_memory(void *host, size_t size, hsa_agent_t *agents, int count,
				void **agent_ptr)
{
	struct memory_operation op = memory_allocation(LOCK, RTL_HSA_MEM_LOCKED, 0, size);

	return memory_allocated(
		&op, NEXT(LOCK, hsa_amd_memory_lock)(host, size, agents, count, agent_ptr), &host);
}

static hsa_status_t lock_to_pool(void *host, size_t size, hsa_agent_t *agents, int count,
				 hsa_amd_memory_pool_t pool, uint32_t flags, void **agent_ptr)
{
	struct memory_operation op = memory_allocation(LOCK_TO_POOL, RTL_HSA_MEM_LOCKED, 0, size);

	return memory_allocated(&op,
				NEXT(LOCK_TO_POOL, hsa_amd_memory_lock_to_pool)(
					host, size, agents, count, pool, flags, agent_ptr),
				&host);
}

static hsa_status_t attach(const hsa_amd_ipc_memory_t *handle, size_t size, uint32_t count,
			   const hsa_agent_t *agents, void **mapped)
{
	struct memory_operation op = memory_allocation(ATTACH, RTL_HSA_MEM_ATTACHED, 0, size);

	return memory_allocated(
		&op, NEXT(ATTACH, hsa_amd_ipc_memory_attach)(handle, size, count, agents, mapped),
		mapped);
}

/* ---- releases */

static hsa_status_t region_free(void *ptr)
{
	struct memory_operation op =
		memory_release(REGION_FREE, RTL_HSA_MEM_REGION, (uintptr_t)ptr);

	return memory_released(&op, NEXT(REGION_FREE, hsa_memory_free)(ptr));
}

static hsa_status_t pool_free(void *ptr)
{
	struct memory_operation op = memory_release(POOL_FREE, RTL_HSA_MEM_POOL, (uintptr_t)ptr);

	return memory_released(&op, NEXT(POOL_FREE, hsa_amd_memory_pool_free)(ptr));
}

static hsa_status_t handle_release(struct call_handle handle)
{
	struct memory_operation op =
		memory_release(HANDLE_RELEASE, RTL_HSA_MEM_HANDLE, handle.handle);

	return memory_released(&op, NEXT(HANDLE_RELEASE, handle_fn)(handle));
}

static hsa_status_t reserve_free(void *va, size_t size)
{
	struct memory_operation op =
		memory_release(RESERVE_FREE, RTL_HSA_MEM_ADDRESSES, (uintptr_t)va);

	return memory_released(&op, NEXT(RESERVE_FREE, reserve_free_fn)(va, size));
}

static hsa_status_t unlock_memory(void *host)
{
	struct memory_operation op = memory_release(UNLOCK, RTL_HSA_MEM_LOCKED, (uintptr_t)host);

	return memory_released(&op, NEXT(UNLOCK, hsa_amd_memory_unlock)(host));
}

static hsa_status_t detach(void *mapped)
{
	struct memory_operation op =
		memory_release(DETACH, RTL_HSA_MEM_ATTACHED, (uintptr_t)mapped);

	return memory_released(&op, NEXT(DETACH, hsa_amd_ipc_memory_detach)(mapped));
}

/* ---- the way into the tables */

static void *const hooks[MEMORY_FUNCTIONS] = {
	(void *)region_allocate, (void *)region_free,   (void *)pool_allocate,
	(void *)pool_free,       (void *)handle_create, (void *)handle_release,
	(void *)handle_retain,   (void *)reserve,       (void *)reserve_align,
	(void *)reserve_free,    (void *)lock_memory,   (void *)lock_to_pool,
	(void *)unlock_memory,   (void *)attach,        (void *)detach,
};

void memory_register(void)
{
	if (memory_track_ready() ||
	    (interceptor.config.mode != CONFIG_FULL && !rtl_stream_asked(RTL_STREAM_HSA_MEM)))
		return;
	if (!memory_track_init())
		rtl_log(RTL_LEVEL_ERROR, "hsa", "no room for the stream of memory");
}

static void *entry_of(struct root_table *root, const char *name)
{
	void **entry = calls_find(root, name);

	return entry ? *entry : NULL;
}

void memory_hook(struct root_table *root)
{
	if (!memory_track_ready())
		return;
	memory_pools_set(entry_of(root, "hsa_agent_iterate_regions"),
			 entry_of(root, "hsa_region_get_info"));
	for (int i = 0; i < MEMORY_FUNCTIONS; i++)
		(void)table_hook(calls_find(root, memory_function_names[i]), hooks[i], &next[i]);
}

void memory_forget(void)
{
	memory_track_forget();
}
