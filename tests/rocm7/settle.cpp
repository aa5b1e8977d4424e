/* SPDX-License-Identifier: MIT
 *
 * Settle: waits at the end of a process for ROCr's thread. HIP 7.2.4 frees things twice if the process ends
 * while that is in a handler of HIP's. Nothing that a program can wait for is behind it. So the end waits here
 * until the thread has been through what has completed. Work that is still under way, and ends without a word,
 * are as ever. The library is preloaded, for programs to find rocm7_settle() (tests/programs/check.h), and
 * a tool of ROCr's, the first one.
 *
 * Threads: any. C++ for the sake of ROCr's header only; no C++ library is needed.
 */
#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

#include <hsa/hsa.h>
#include <hsa/hsa_api_trace.h>
#include <hsa/hsa_ext_amd.h>

#include "handlers.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace
{

/* A thread that a handler holds up does not keep the process for ever. */
constexpr unsigned settle_timeout_s = 30;

handlers_hsa hsa;
pid_t loaded_pid; /* 0: not. A child made by fork does not have the thread. */

} // namespace

EXPORT void rocm7_settle()
{
	if (loaded_pid == getpid() && dlopen("libamdhip64.so.7", RTLD_LAZY | RTLD_NOLOAD))
		handlers_settle(&hsa, settle_timeout_s);
}

/* The handler is called before what HIP has registered when it was loaded, behind what is registered from
 * here on. */
EXPORT bool OnLoad(HsaApiTable *table, uint64_t, uint64_t, const char *const *)
{
	static bool registered;

	hsa.signal_create = table->core_->hsa_signal_create_fn;
	hsa.signal_async_handler = table->amd_ext_->hsa_amd_signal_async_handler_fn;
	hsa.signal_store_relaxed = table->core_->hsa_signal_store_relaxed_fn;
	hsa.signal_destroy = table->core_->hsa_signal_destroy_fn;
	loaded_pid = getpid();
	registered = registered || !atexit(rocm7_settle);
	return true;
}

EXPORT void OnUnload()
{
	loaded_pid = 0;
}
