/* SPDX-License-Identifier: MIT */
/*
 * copy_hsa [COPIES [LOOPS [signals|shared|sync]]]: what a small asynchronous copy costs the thread
 * that submits it, for tests/bench/copy. An application: it knows nothing of rtl. Each loop submits
 * COPIES copies of 64 bytes from host to device in bursts of 64, and prints "launch NS p99 NS cpu
 * NS" per copy: median and 99th percentile of the calls, and the thread's processor time.
 * signals: a signal for each copy of a burst, used again (the default); shared: one signal for all
 * of a burst; sync: one at a time, the whole round trip.
 */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BURST 64
#define BYTES 64

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "copy_hsa: line %d: %s\n", __LINE__, #condition);          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static hsa_agent_t gpu, cpu;
static hsa_amd_memory_pool_t gpu_pool, cpu_pool;
static char *host, *device;
static hsa_signal_t signals[BURST];
static uint64_t *times;

static hsa_status_t find_agent(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;

	(void)data;
	CHECK(!hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	*(type == HSA_DEVICE_TYPE_CPU ? &cpu : &gpu) = agent;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t find_pool(hsa_amd_memory_pool_t pool, void *data)
{
	hsa_amd_memory_pool_t *found = data;

	if (!found->handle)
		*found = pool;
	return HSA_STATUS_SUCCESS;
}

static char *allocate(hsa_amd_memory_pool_t pool)
{
	void *memory;

	CHECK(!hsa_amd_memory_pool_allocate(pool, 65536, 0, &memory));
	CHECK(!hsa_amd_agents_allow_access(1, &gpu, NULL, memory));
	return memory;
}

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void wait_for(hsa_signal_t signal)
{
	while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
					 HSA_WAIT_STATE_ACTIVE) >= 1)
		;
}

static uint64_t copy(size_t i, hsa_signal_t signal, int sync)
{
	const uint64_t begin = now(CLOCK_MONOTONIC);

	CHECK(!hsa_amd_memory_async_copy(device + i * BYTES, gpu, host + i * BYTES, cpu, BYTES, 0,
					 NULL, signal));
	if (sync)
		wait_for(signal);
	return now(CLOCK_MONOTONIC) - begin;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Processor time of what is measured, without the waits between the bursts. */
static uint64_t run(size_t copies, const char *how)
{
	const int shared = !strcmp(how, "shared"), sync = !strcmp(how, "sync");
	uint64_t cpu_ns = 0;

	for (size_t done = 0; done < copies; done += BURST) {
		for (size_t i = 0; i < (shared ? 1 : BURST); i++)
			hsa_signal_store_relaxed(signals[i], shared ? BURST : 1);
		const uint64_t begin = now(CLOCK_THREAD_CPUTIME_ID);

		for (size_t i = 0; i < BURST; i++)
			times[done + i] = copy(i, signals[shared ? 0 : i], sync);
		cpu_ns += now(CLOCK_THREAD_CPUTIME_ID) - begin;
		for (size_t i = 0; i < (shared ? 1 : BURST); i++)
			wait_for(signals[i]);
	}
	return cpu_ns;
}

int main(int argc, char **argv)
{
	const size_t copies = (size_t)(argc > 1 ? atoi(argv[1]) : 6400) / BURST * BURST;
	const int loops = argc > 2 ? atoi(argv[2]) : 3;
	const char *how = argc > 3 ? argv[3] : "signals";

	CHECK(copies && (times = calloc(copies, sizeof(*times))));
	CHECK(!hsa_init() && !hsa_iterate_agents(find_agent, NULL));
	CHECK(!hsa_amd_agent_iterate_memory_pools(cpu, find_pool, &cpu_pool));
	CHECK(!hsa_amd_agent_iterate_memory_pools(gpu, find_pool, &gpu_pool));
	host = allocate(cpu_pool);
	device = allocate(gpu_pool);
	if (getenv("COPY_PROFILE"))
		CHECK(!hsa_amd_profiling_async_copy_enable(true));
	for (size_t i = 0; i < BURST; i++)
		CHECK(!hsa_signal_create(0, 0, NULL, &signals[i]));
	run(BURST, how);
	for (int loop = 0; loop < loops; loop++) {
		const uint64_t cpu_ns = run(copies, how);

		qsort(times, copies, sizeof(*times), compare);
		printf("launch %llu p99 %llu cpu %llu\n", (unsigned long long)times[copies / 2],
		       (unsigned long long)times[copies * 99 / 100],
		       (unsigned long long)(cpu_ns / copies));
	}
	return 0;
}
