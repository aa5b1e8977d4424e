/* SPDX-License-Identifier: MIT */
/* clang-format off */
/* Made by streams/events/generate.py from hsa_mem.toml. Not to be edited. */
/**
 * @file hsa_mem.h
 *
 * The stream rtl.hsa.mem: memory that the program allocates and releases by the HSA runtime.
 */
#ifndef RTL_EVENTS_HSA_MEM_H
#define RTL_EVENTS_HSA_MEM_H

#include <rtl/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RTL_STREAM_HSA_MEM "rtl.hsa.mem"
#define RTL_STREAM_HSA_MEM_VERSION 1
#define RTL_STREAM_HSA_MEM_VERSION_MINOR 1

/** rtl_hsa_mem.kind: what was allocated. */
enum rtl_hsa_mem_kind {
	RTL_HSA_MEM_REGION = 1, /**< hsa_memory_allocate */
	RTL_HSA_MEM_POOL = 2, /**< hsa_amd_memory_pool_allocate */
	RTL_HSA_MEM_HANDLE = 3, /**< hsa_amd_vmem_handle_create */
	RTL_HSA_MEM_ADDRESSES = 4, /**< hsa_amd_vmem_address_reserve: addresses, no memory */
	RTL_HSA_MEM_LOCKED = 5, /**< hsa_amd_memory_lock: the host's, for GPUs to use */
	RTL_HSA_MEM_ATTACHED = 6, /**< hsa_amd_ipc_memory_attach: another process's */
};

/** Bits of rtl_hsa_mem.flags. */
enum rtl_hsa_mem_flags {
	RTL_HSA_MEM_ON_GPU = 1, /**< The pool is a GPU's. */
	RTL_HSA_MEM_UNKNOWN = 2, /**< Its allocation was not seen: bytes and pool are not known. */
	/** The function failed, see status: nothing was allocated or released. */
	RTL_HSA_MEM_FAILED = 4,
};

/**
 * Memory that the program allocates or releases. The end says all that the begin said. A virtual
 * memory handle that is held more than once is in use until its last release.
 *
 * Of the event: uid = the function's tracepoint; parent_uid = that of the agent whose pool it is,
 * else that of the scope around it; instance pairs begin and end; correlation = that of the scope,
 * 0 if none.
 */
struct rtl_hsa_mem {
	uint64_t begin_ns; /**< when the function was called; 0 in a begin */
	uint64_t end_ns; /**< when it returned; 0 in a begin */
	uint64_t address; /**< of the memory, or its handle; 0 where an allocation begins */
	uint64_t bytes; /**< as asked for; of a release as when it was allocated; 0: not known */
	uint64_t in_use_bytes; /**< in use after it on that agent; without an agent, of that kind */
	uint64_t pool; /**< handle of the pool or region; 0: none, or not known */
	uint64_t function; /**< name of the function that was called */
	uint64_t segment; /**< what memory the pool has; 0: no pool */
	uint64_t status; /**< the hsa_status_t that it returned; 0 in a begin */
	uint32_t node; /**< KFD node id of the pool's agent */
	uint32_t kind; /**< what was allocated: enum rtl_hsa_mem_kind */
	uint32_t flags; /**< bits: enum rtl_hsa_mem_flags */
	uint32_t reserved;
	/** of a release: when the call that allocated it began; 0: not known; since 1.1 */
	uint64_t allocated_ns;
};

#ifdef __cplusplus
}
#endif

#endif
