/* SPDX-License-Identifier: MIT
 *
 * Tool: the second face of the model library. HSA_TOOLS_LIB names it first, so that what
 * ROCr's model mode lacks is mended below all other tools:
 *
 * - the model mode's clock counters are zero, so ROCr cannot translate the GPU's times: they
 *   are translated here;
 * - pinning host memory and memory handles for other processes abort in the model mode: they
 *   fail here instead, and HIP falls back to staging buffers;
 * - priorities and CU masks of queues abort likewise, and are ignored;
 * - HIP 7.2.4 frees things twice if the process ends while ROCr's thread is in a handler of HIP's. Nothing
 *   that a program can wait for is behind it. So the end waits here until the thread has been through
 *   what has completed. Work that is still under way, and ends without a word, are as ever.
 *
 * Threads: any. C++ for the sake of ROCr's header only; no C++ library is needed.
 */
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_api_trace.h>
#include <hsa/hsa_ext_amd.h>

#include "../softgpu/clock.h"
#include "handlers.h"

namespace
{

/* ROCr's SharedSignal: after the amd_signal_t come the SDMA engine's own times. */
constexpr size_t sdma_start_offset = 64;
constexpr size_t sdma_end_offset = 96;

uint64_t ticks_at(hsa_signal_t signal, size_t offset)
{
	uint64_t ticks;

	memcpy(&ticks, reinterpret_cast<const char *>(signal.handle) + offset, sizeof(ticks));
	return ticks;
}

hsa_status_t get_dispatch_time(hsa_agent_t, hsa_signal_t signal,
			       hsa_amd_profiling_dispatch_time_t *time)
{
	time->start = sg_clock_ns(ticks_at(signal, offsetof(amd_signal_t, start_ts)));
	time->end = sg_clock_ns(ticks_at(signal, offsetof(amd_signal_t, end_ts)));
	return HSA_STATUS_SUCCESS;
}

/* A copy by a kernel has its times where a dispatch has them. */
hsa_status_t get_async_copy_time(hsa_signal_t signal, hsa_amd_profiling_async_copy_time_t *time)
{
	bool by_sdma = ticks_at(signal, sdma_end_offset) != 0;

	time->start = sg_clock_ns(
		ticks_at(signal, by_sdma ? sdma_start_offset : offsetof(amd_signal_t, start_ts)));
	time->end = sg_clock_ns(
		ticks_at(signal, by_sdma ? sdma_end_offset : offsetof(amd_signal_t, end_ts)));
	return HSA_STATUS_SUCCESS;
}

hsa_status_t convert_tick(hsa_agent_t, uint64_t ticks, uint64_t *ns)
{
	*ns = sg_clock_ns(ticks);
	return HSA_STATUS_SUCCESS;
}

hsa_status_t memory_lock(void *, size_t, hsa_agent_t *, int, void **)
{
	return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t memory_lock_to_pool(void *, size_t, hsa_agent_t *, int, hsa_amd_memory_pool_t,
				 uint32_t, void **)
{
	return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t ipc_memory_create(void *, size_t, hsa_amd_ipc_memory_t *)
{
	return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t queue_set_priority(hsa_queue_t *, hsa_amd_queue_priority_t)
{
	return HSA_STATUS_SUCCESS;
}

hsa_status_t queue_cu_set_mask(const hsa_queue_t *, uint32_t, const uint32_t *)
{
	return HSA_STATUS_SUCCESS;
}

/* A thread that a handler holds up does not keep the process for ever. */
constexpr unsigned settle_timeout_s = 30;

handlers_hsa hsa;
pid_t loaded_pid; /* 0: not. A child made by fork does not have the thread. */

void settle()
{
	if (loaded_pid == getpid() && dlopen("libamdhip64.so.7", RTLD_LAZY | RTLD_NOLOAD))
		handlers_settle(&hsa, settle_timeout_s);
}

/* Before what HIP has registered when it was loaded; behind what is registered from here on. */
void settle_when_it_ends(const HsaApiTable *table)
{
	static bool registered;
	void *const settle_now = dlsym(RTLD_DEFAULT, "rocm7_settle");

	hsa.signal_create = table->core_->hsa_signal_create_fn;
	hsa.signal_async_handler = table->amd_ext_->hsa_amd_signal_async_handler_fn;
	hsa.signal_store_relaxed = table->core_->hsa_signal_store_relaxed_fn;
	hsa.signal_destroy = table->core_->hsa_signal_destroy_fn;
	loaded_pid = getpid();
	registered = registered || !atexit(settle);
	if (settle_now)
		*static_cast<void (**)()>(settle_now) = settle;
}

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT bool OnLoad(HsaApiTable *table, uint64_t, uint64_t, const char *const *)
{
	AmdExtTable *ext = table->amd_ext_;

	ext->hsa_amd_profiling_get_dispatch_time_fn = get_dispatch_time;
	ext->hsa_amd_profiling_get_async_copy_time_fn = get_async_copy_time;
	ext->hsa_amd_profiling_convert_tick_to_system_domain_fn = convert_tick;
	ext->hsa_amd_memory_lock_fn = memory_lock;
	ext->hsa_amd_memory_lock_to_pool_fn = memory_lock_to_pool;
	ext->hsa_amd_ipc_memory_create_fn = ipc_memory_create;
	ext->hsa_amd_queue_set_priority_fn = queue_set_priority;
	ext->hsa_amd_queue_cu_set_mask_fn = queue_cu_set_mask;
	settle_when_it_ends(table);
	return true;
}

EXPORT void OnUnload()
{
	loaded_pid = 0;
}
