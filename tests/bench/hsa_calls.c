/* SPDX-License-Identifier: MIT */
/*
 * hsa_calls [SLICES]: what calls of the HSA runtime cost. For each kind of call a line
 *	NAME NS-LEAST NS-MEDIAN
 * over slices of 2,000 calls, with a pause after each so that a consumer can follow; a first line
 * "start" has the time of hsa_init, ns, as both. "hsa_calls start": only that.
 */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CALLS      2000
#define SLICES_MAX 2000

static hsa_agent_t gpu;
static hsa_amd_memory_pool_t pool;
static hsa_queue_t *queue;
static hsa_signal_t signal_;
static char name[64];

static void check(hsa_status_t status, const char *what)
{
	if (status == HSA_STATUS_SUCCESS)
		return;
	fprintf(stderr, "hsa_calls: %s: %d\n", what, status);
	exit(1);
}

static double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static hsa_status_t take_pool(hsa_amd_memory_pool_t found, void *data)
{
	(void)data;
	if (!pool.handle)
		pool = found;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t take_gpu(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;

	(void)data;
	check(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), "agent");
	if (type == HSA_DEVICE_TYPE_GPU)
		gpu = agent;
	return HSA_STATUS_SUCCESS;
}

static void load(void)
{
	hsa_signal_load_relaxed(signal_);
}

static void store(void)
{
	hsa_signal_store_relaxed(signal_, 1);
}

static void wait_(void)
{
	hsa_signal_wait_scacquire(signal_, HSA_SIGNAL_CONDITION_EQ, 1, UINT64_MAX,
				  HSA_WAIT_STATE_ACTIVE);
}

static void write_index(void)
{
	hsa_queue_load_write_index_relaxed(queue);
}

static void info(void)
{
	hsa_agent_get_info(gpu, HSA_AGENT_INFO_NAME, name);
}

static void allocate_free(void)
{
	void *memory;

	check(hsa_amd_memory_pool_allocate(pool, 4096, 0, &memory), "allocate");
	check(hsa_amd_memory_pool_free(memory), "free");
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const char *what, void (*call)(void), int slices, int calls_each)
{
	static double times[SLICES_MAX];
	const struct timespec pause = {.tv_nsec = 1000000};

	for (int i = 0; i < slices; i++) {
		const double begin = now_ns();

		for (int k = 0; k < CALLS; k++)
			call();
		times[i] = (now_ns() - begin) / CALLS / calls_each;
		nanosleep(&pause, NULL);
	}
	qsort(times, (size_t)slices, sizeof(*times), by_value);
	printf("%s %.2f %.2f\n", what, times[0], times[slices / 2]);
}

int main(int argc, char **argv)
{
	const int slices = argc > 1 ? atoi(argv[1]) : 200;
	const double begin = now_ns();

	check(hsa_init(), "hsa_init");
	printf("start %.0f ", now_ns() - begin);
	printf("%.0f\n", now_ns() - begin);
	if (slices < 1 || slices > SLICES_MAX)
		return argc > 1 && !strcmp(argv[1], "start") ? 0 : 2;
	check(hsa_iterate_agents(take_gpu, NULL), "agents");
	check(hsa_amd_agent_iterate_memory_pools(gpu, take_pool, NULL), "pools");
	check(hsa_queue_create(gpu, 256, HSA_QUEUE_TYPE_MULTI, NULL, NULL, 0, 0, &queue), "queue");
	check(hsa_signal_create(1, 0, NULL, &signal_), "signal");
	measure("hsa_signal_load_relaxed", load, slices, 1);
	measure("hsa_signal_store_relaxed", store, slices, 1);
	measure("hsa_signal_wait_scacquire", wait_, slices, 1);
	measure("hsa_queue_load_write_index_relaxed", write_index, slices, 1);
	measure("hsa_agent_get_info", info, slices, 1);
	measure("pool_allocate+free", allocate_free, slices / 4 + 1, 2);
	return 0;
}
