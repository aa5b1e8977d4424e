/* SPDX-License-Identifier: MIT */
/*
 * Allocates and releases memory in every way that the software GPU can, and writes what it does:
 *     pool HANDLE NODE cpu|gpu
 *     alloc|release FUNCTION ADDRESS BYTES NODE KIND ok|failed
 * in the order of one thread; then THREADS threads allocate and release at once, without a log:
 *     threads COUNT-OF-ALLOCATIONS BYTES
 * and all is released in the end. Numbers of kinds are those of rtl/events.h.
 */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <inttypes.h>
#include <stdio.h>

#include "../../programs/hang_guard.h"

#define POOLS_MAX 32
#define THREADS   4
#define EACH      300

struct pool {
	hsa_amd_memory_pool_t handle;
	uint32_t node;
};

static struct pool pools[POOLS_MAX];
static int pool_count;
static hsa_region_t region;
static uint32_t region_node;
static hsa_agent_t gpu;

static void need(hsa_status_t status, const char *what)
{
	if (status == HSA_STATUS_SUCCESS)
		return;
	fprintf(stderr, "hsa_memory: %s: %d\n", what, status);
	exit(1);
}

static void said(const char *what, const char *function, void *address, uint64_t bytes,
		 uint32_t node, int kind, hsa_status_t status)
{
	printf("%s %s %p %" PRIu64 " %u %d %s\n", what, function, status ? NULL : address, bytes,
	       node, kind, status ? "failed" : "ok");
}

static hsa_status_t add_pool(hsa_amd_memory_pool_t pool, void *data)
{
	hsa_amd_segment_t segment;
	bool allowed = false;

	need(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment),
	     "pool");
	need(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
					  &allowed),
	     "pool");
	if (segment == HSA_AMD_SEGMENT_GLOBAL && allowed && pool_count < POOLS_MAX)
		pools[pool_count++] = (struct pool){pool, *(uint32_t *)data};
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t add_region(hsa_region_t found, void *data)
{
	if (!region.handle) {
		region = found;
		region_node = *(uint32_t *)data;
	}
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t add_agent(hsa_agent_t agent, void *data)
{
	hsa_device_type_t type;
	uint32_t node = 0;
	int first = pool_count;

	need(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type), "agent");
	need(hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, &node),
	     "node");
	need(hsa_amd_agent_iterate_memory_pools(agent, add_pool, &node), "pools");
	if (type == HSA_DEVICE_TYPE_GPU)
		gpu = agent;
	else
		need(hsa_agent_iterate_regions(agent, add_region, &node), "regions");
	for (; first < pool_count; first++)
		printf("pool 0x%" PRIx64 " %u %s\n", pools[first].handle.handle, node,
		       type == HSA_DEVICE_TYPE_GPU ? "gpu" : "cpu");
	return HSA_STATUS_SUCCESS;
}

static void *allocate(const struct pool *pool, size_t bytes)
{
	void *memory = NULL;
	hsa_status_t status = hsa_amd_memory_pool_allocate(pool->handle, bytes, 0, &memory);

	said("alloc", "hsa_amd_memory_pool_allocate", memory, bytes, pool->node, 2, status);
	return status ? NULL : memory;
}

static void release(const struct pool *pool, void *memory, size_t bytes)
{
	hsa_status_t status = hsa_amd_memory_pool_free(memory);

	said("release", "hsa_amd_memory_pool_free", memory, bytes, pool->node, 2, status);
}

static void pools_one_by_one(void)
{
	void *memory[POOLS_MAX][3];

	for (int i = 0; i < pool_count; i++)
		for (size_t k = 0; k < 3; k++)
			memory[i][k] = allocate(&pools[i], (size_t)1000 << (7 * k));
	for (int i = pool_count - 1; i >= 0; i--)
		for (size_t k = 0; k < 3; k++)
			release(&pools[i], memory[i][k], (size_t)1000 << (7 * k));
	/* Far more than there is. */
	allocate(&pools[pool_count - 1], (size_t)1 << 45);
	need(hsa_amd_memory_pool_free(NULL), "free of nothing");
}

static void others(void)
{
	void *memory = NULL, *host = aligned_alloc(4096, 1 << 20), *seen;
	hsa_status_t status = hsa_memory_allocate(region, 123456, &memory);

	said("alloc", "hsa_memory_allocate", memory, 123456, region_node, 1, status);
	/* One function's memory is released by the other. */
	status = hsa_amd_memory_pool_free(memory);
	said("release", "hsa_amd_memory_pool_free", memory, 123456, region_node, 2, status);
	status = hsa_memory_allocate(region, 5000, &memory);
	said("alloc", "hsa_memory_allocate", memory, 5000, region_node, 1, status);
	status = hsa_memory_free(memory);
	said("release", "hsa_memory_free", memory, 5000, region_node, 1, status);
	status = hsa_amd_memory_lock(host, 1 << 20, &gpu, 1, &seen);
	said("alloc", "hsa_amd_memory_lock", host, 1 << 20, 0, 5, status);
	if (!status) {
		status = hsa_amd_memory_unlock(host);
		said("release", "hsa_amd_memory_unlock", host, 1 << 20, 0, 5, status);
	}
	free(host);
}

static void *allocate_many(void *seed)
{
	void *memory[16] = {NULL};
	unsigned random = *(unsigned *)seed;

	for (int i = 0; i < EACH; i++) {
		void **slot = &memory[rand_r(&random) % 16];
		const struct pool *pool = &pools[rand_r(&random) % (unsigned)pool_count];

		if (*slot)
			need(hsa_amd_memory_pool_free(*slot), "free");
		*slot = NULL;
		need(hsa_amd_memory_pool_allocate(pool->handle, 4096u << rand_r(&random) % 8, 0,
						  slot),
		     "allocate");
	}
	for (int i = 0; i < 16; i++)
		if (memory[i])
			need(hsa_amd_memory_pool_free(memory[i]), "free");
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	unsigned seeds[THREADS];

	need(hsa_init(), "hsa_init");
	need(hsa_iterate_agents(add_agent, NULL), "agents");
	pools_one_by_one();
	others();
	for (unsigned i = 0; i < THREADS; i++) {
		seeds[i] = i + 1;
		pthread_create(&threads[i], NULL, allocate_many, &seeds[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("threads %d\n", THREADS * EACH);
	need(hsa_shut_down(), "hsa_shut_down");
	return 0;
}
