/* SPDX-License-Identifier: MIT */
#include "runtime.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define RUNTIME   "libhsa-runtime64.so.1"
#define GPUS_MOST 64

uint64_t runtime_timeout_ns = UINT64_MAX;
_Thread_local bool runtime_own_call __attribute__((tls_model("initial-exec")));

/* What library.c calls. */
struct interceptor interceptor;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below */
static bool found;
static struct gpu gpus[GPUS_MOST];
static uint32_t gpu_count;

static _Thread_local char last_error[1024];

/* ---- errors ---- */

hsa_status_t fail(hsa_status_t status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(last_error, sizeof(last_error), format, args);
	va_end(args);
	return status;
}

void complain(const char *format, ...)
{
	char line[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(stderr, "rocprofiler: %s\n", line);
}

hsa_status_t rocprofiler_error_string(const char **text)
{
	if (!text)
		return HSA_STATUS_ERROR_INVALID_ARGUMENT;
	*text = last_error;
	return HSA_STATUS_SUCCESS;
}

/* ---- functions ---- */

/* Some of the interceptor's are none of ours, and the library does not show them. */
static bool find_functions(void *handle)
{
#define FIND(member, function, ...) *(void **)&hsa->member = dlsym(handle, #function);
	HSA_FUNCTIONS(FIND, FIND)
	return hsa->iterate_agents && hsa->agents_allow_access && hsa->signal_load &&
	       hsa->signal_wait && hsa->get_dispatch_time;
}

static hsa_status_t add_gpu(hsa_agent_t agent, void *user)
{
	hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
	struct gpu *gpu = &gpus[gpu_count];

	if (gpu_count == GPUS_MOST || hsa->agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) ||
	    type != HSA_DEVICE_TYPE_GPU)
		return HSA_STATUS_SUCCESS;
	gpu->agent = agent;
	gpu->index = gpu_count++;
	return HSA_STATUS_SUCCESS;
}

/* As they were before they were hooked, or NULL. */
static __typeof__(hsa->signal_load) signal_load;
static __typeof__(hsa->signal_wait) signal_wait;

void runtime_keep_waits(struct root_table *table)
{
	*(void **)&signal_load = *table_entry(table, ENTRY_hsa_signal_load_scacquire);
	*(void **)&signal_wait = *table_entry(table, ENTRY_hsa_signal_wait_scacquire);
}

/* The runtime is the program's: it is there, or there is nothing to profile. */
static hsa_status_t find(void)
{
	void *handle = dlopen(RUNTIME, RTLD_NOW | RTLD_NOLOAD);

	if (!handle || !find_functions(handle))
		return fail(HSA_STATUS_ERROR_NOT_INITIALIZED, "no HSA runtime is loaded");
	if (signal_load)
		hsa->signal_load = signal_load;
	if (signal_wait)
		hsa->signal_wait = signal_wait;
	if (hsa->iterate_agents(add_gpu, NULL))
		return fail(HSA_STATUS_ERROR_NOT_INITIALIZED, "the HSA runtime has not begun");
	return HSA_STATUS_SUCCESS;
}

hsa_status_t runtime_find(void)
{
	HOLD_LOCK(&lock);
	const hsa_status_t status = found ? HSA_STATUS_SUCCESS : find();

	found = status == HSA_STATUS_SUCCESS;
	return status;
}

/* Changes where the runtime ends: release, acquire by who uses what was made before. */
static uint64_t life;

uint64_t runtime_life(void)
{
	return __atomic_load_n(&life, __ATOMIC_ACQUIRE);
}

/* Without OnUnload (the program opened the library itself) the runtime's own answer tells. */
bool runtime_lasts(uint64_t of)
{
	uint64_t ticks;

	return of == runtime_life() && !hsa->system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &ticks);
}

/* Definitions stay: tools keep their texts, and the process has the same GPUs when the runtime begins again. */
void runtime_forget(void)
{
	__atomic_fetch_add(&life, 1, __ATOMIC_RELEASE);
	HOLD_LOCK(&lock);
	library_forget();
	for (uint32_t i = 0; i < gpu_count; i++)
		gpus[i] = (struct gpu){.set = gpus[i].set};
	gpu_count = 0;
	found = false;
}

uint64_t runtime_ticks(uint64_t ns)
{
	uint64_t frequency = 1000000000;

	(void)hsa->system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency);
	return (uint64_t)((double)ns * (double)frequency / 1e9);
}

uint64_t runtime_ns(uint64_t ticks)
{
	uint64_t frequency = 1000000000;

	(void)hsa->system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &frequency);
	if (!frequency || frequency == 1000000000)
		return ticks;
	return (uint64_t)((unsigned __int128)ticks * 1000000000u / frequency);
}

bool runtime_wait(hsa_signal_t signal, const char *what, uint64_t most_ns)
{
	const uint64_t ns = most_ns < runtime_timeout_ns ? most_ns : runtime_timeout_ns;
	const uint64_t ticks = ns == UINT64_MAX ? UINT64_MAX : runtime_ticks(ns);

	if (hsa->signal_wait(signal, HSA_SIGNAL_CONDITION_LT, 1, ticks, HSA_WAIT_STATE_BLOCKED) < 1)
		return true;
	fail(HSA_STATUS_ERROR, "%s has not ended in time", what);
	return false;
}

hsa_status_t vendor_find(void)
{
	char why[512];

	HOLD_LOCK(&lock);
	return library_find(why, sizeof(why)) ? HSA_STATUS_SUCCESS
					      : fail(HSA_STATUS_ERROR, "%s", why);
}

bool vendor_enable(struct gpu *gpu, struct library_packet *packet, char *why, size_t size)
{
	const struct library_packet *made;

	HOLD_LOCK(&lock);
	made = library_find(why, size) ? library_enable(gpu->agent, why, size) : NULL;
	if (made)
		*packet = *made;
	return made;
}

/* ---- GPUs ---- */

struct gpu *gpu_at(uint32_t index)
{
	if (runtime_find())
		return NULL;
	return index < gpu_count ? &gpus[index] : NULL;
}

struct gpu *gpu_if_any(hsa_agent_t agent)
{
	struct gpu *gpu;

	for (uint32_t i = 0; (gpu = gpu_at(i)); i++) {
		if (gpu->agent.handle == agent.handle)
			return gpu;
	}
	return NULL;
}

struct gpu *gpu_of(hsa_agent_t agent)
{
	struct gpu *gpu = gpu_if_any(agent);

	if (!gpu && !runtime_find())
		fail(HSA_STATUS_ERROR_INVALID_AGENT, "the agent is no GPU");
	return gpu;
}

struct counter_set *gpu_set(struct gpu *gpu)
{
	const struct counter_options options = {.v1_expressions = true};
	char message[900];

	HOLD_LOCK(&lock);
	if (!gpu->set)
		gpu->set = agent_counters_load(hsa->agent_get_info, gpu->agent, &options, message,
					       sizeof(message));
	if (!gpu->set)
		fail(HSA_STATUS_ERROR, "%s", message);
	return gpu->set;
}
