/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <pthread.h>
#include <rtl/rtl.h>
#include <stdbool.h>

#include "../../common/threads.h"
#include "agents.h"
#include "interceptor.h"

static struct memory_pool pools[MEMORY_POOLS_MAX];
static int pool_count; /* release after the pools are complete, acquire */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
FORK_LOCK(lock, lock);
static bool ready; /* the lock's */

struct owner {
	uint32_t node, agent;
	bool on_gpu;
	uint64_t uid;
	int *count;
};

/* Flags have the same values for pools and regions, but for the last. */
static const char *segment_name(uint32_t segment, uint32_t flags)
{
	if (segment == HSA_AMD_SEGMENT_GROUP)
		return "group";
	if (segment == HSA_AMD_SEGMENT_PRIVATE)
		return "private";
	if (segment == HSA_AMD_SEGMENT_READONLY)
		return "read-only";
	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
		return "global fine-grained, kernel arguments";
	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED)
		return "global fine-grained";
	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED)
		return "global coarse-grained";
	return flags & 8 ? "global fine-grained, extended scope" : "global";
}

static void add(uint64_t handle, const struct owner *owner, uint32_t segment, uint32_t flags)
{
	for (int i = 0; i < *owner->count; i++) {
		if (pools[i].handle == handle)
			return;
	}
	if (*owner->count == MEMORY_POOLS_MAX)
		return;
	pools[(*owner->count)++] = (struct memory_pool){
		.handle = handle,
		.agent_uid = owner->uid,
		.segment = interceptor_string(segment_name(segment, flags)),
		.node = owner->node,
		.agent = owner->agent,
		.on_gpu = owner->on_gpu,
	};
}

static hsa_status_t add_pool(hsa_amd_memory_pool_t pool, void *data)
{
	uint32_t segment = 0, flags = 0;

	(void)interceptor.hsa.memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT,
						   &segment);
	if (segment == HSA_AMD_SEGMENT_GLOBAL)
		(void)interceptor.hsa.memory_pool_get_info(
			pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
	add(pool.handle, data, segment, flags);
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t add_region(hsa_region_t region, void *data)
{
	uint32_t segment = 0, flags = 0;

	(void)interceptor.hsa.region_get_info(region, HSA_REGION_INFO_SEGMENT, &segment);
	if (segment == HSA_REGION_SEGMENT_GLOBAL)
		(void)interceptor.hsa.region_get_info(region, HSA_REGION_INFO_GLOBAL_FLAGS, &flags);
	add(region.handle, data, segment, flags);
	return HSA_STATUS_SUCCESS;
}

static uint64_t agent_tracepoint(hsa_agent_t agent, uint32_t node)
{
	const struct agent *gpu = agents_find(agent);
	char name[65] = "";
	struct rtl_tracepoint_desc desc = {
		.struct_size = sizeof(desc), .kind = "agent", .name = name, .hash = node};
	uint64_t uid = 0;

	if (gpu)
		return gpu->uid;
	(void)interceptor.hsa.agent_get_info(agent, HSA_AGENT_INFO_NAME, name);
	if (*name)
		(void)rtl_tracepoint_register(&desc, &uid);
	return uid;
}

static hsa_status_t add_agent(hsa_agent_t agent, void *data)
{
	int *count = data;
	/* Agents without pools have no number of their own, and need none. */
	struct owner owner = {.count = count, .agent = *count ? pools[*count - 1].agent + 1 : 0};
	hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;

	(void)interceptor.hsa.agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
	(void)interceptor.hsa.agent_get_info(
		agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, &owner.node);
	owner.on_gpu = type == HSA_DEVICE_TYPE_GPU;
	owner.uid = agent_tracepoint(agent, owner.node);
	(void)interceptor.hsa.iterate_memory_pools(agent, add_pool, &owner);
	if (interceptor.hsa.iterate_regions && interceptor.hsa.region_get_info)
		(void)interceptor.hsa.iterate_regions(agent, add_region, &owner);
	return HSA_STATUS_SUCCESS;
}

static void init(void)
{
	int count = 0;

	agents_init();
	pthread_mutex_lock(&lock);
	if (!ready) {
		(void)interceptor.hsa.iterate_agents(add_agent, &count);
		/* Pairs with the acquire in memory_pools_find. */
		__atomic_store_n(&pool_count, count, __ATOMIC_RELEASE);
		ready = true;
	}
	pthread_mutex_unlock(&lock);
}

int memory_pools_find(uint64_t handle)
{
	int count = __atomic_load_n(&pool_count, __ATOMIC_ACQUIRE);

	if (!count) {
		init();
		count = __atomic_load_n(&pool_count, __ATOMIC_ACQUIRE);
	}
	for (int i = 0; i < count; i++) {
		if (pools[i].handle == handle)
			return i;
	}
	return -1;
}

const struct memory_pool *memory_pools_get(int number)
{
	return &pools[number];
}
