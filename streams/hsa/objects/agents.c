/* SPDX-License-Identifier: MIT */
#include "agents.h"

#include <inttypes.h>
#include <rtl/events.h>
#include <stdio.h>
#include <string.h>

#include "../../common/threads.h"
#include "faults.h"
#include "interceptor.h"
#include "publish.h"

static struct agent agents[AGENTS_MAX];
static uint32_t agent_count; /* release after the agents are complete, acquire */
STATIC_LOCK(lock);
static bool ready; /* the lock's */

#define TEXT 64 /* as hsa.h says for names; UUIDs are shorter */

static bool get(hsa_agent_t agent, int attribute, void *value)
{
	return !interceptor.hsa.agent_get_info(agent, (hsa_agent_info_t)attribute, value);
}

static void set_text(const struct agent *agent, int attribute, const char *key)
{
	char text[TEXT + 1] = "";

	if (get(agent->handle, attribute, text) && *text)
		(void)rtl_tracepoint_set(agent->uid, key, text);
}

static void set_number(const struct agent *agent, int attribute, const char *key)
{
	uint32_t number = 0;

	if (get(agent->handle, attribute, &number))
		interceptor_set_number(agent->uid, key, number);
}

/* Where it is on the PCI bus: "0000:c1:00.0", and the NUMA node that the system has for it. */
static void set_bus_address(const struct agent *agent)
{
	uint32_t bdf = 0, domain = 0;
	char text[24], path[64];
	int numa = -1;
	FILE *file;

	if (!get(agent->handle, HSA_AMD_AGENT_INFO_BDFID, &bdf))
		return;
	(void)get(agent->handle, HSA_AMD_AGENT_INFO_DOMAIN, &domain);
	snprintf(text, sizeof(text), "%04x:%02x:%02x.%x", domain & 0xffff, bdf >> 8 & 0xff,
		 bdf >> 3 & 0x1f, bdf & 7);
	(void)rtl_tracepoint_set(agent->uid, "bus_id", text);
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/numa_node", text);
	file = fopen(path, "re");
	/* -1 where the system has none. */
	if (file && fscanf(file, "%d", &numa) == 1 && numa >= 0)
		interceptor_set_number(agent->uid, "numa_node", (uint64_t)numa);
	if (file)
		fclose(file);
}

/* data: the size of the largest pool of the GPU's own memory, bytes. */
static hsa_status_t look_at_pool(hsa_amd_memory_pool_t pool, void *data)
{
	size_t *largest = data, size = 0;
	hsa_amd_segment_t segment;

	if (!interceptor.hsa.memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT,
						  &segment) &&
	    segment == HSA_AMD_SEGMENT_GLOBAL &&
	    !interceptor.hsa.memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SIZE, &size) &&
	    size > *largest)
		*largest = size;
	return HSA_STATUS_SUCCESS;
}

/* KFD nodes of agents: a processor with a GPU in it is both. The lock's. */
enum { NODE_CPU = 1, NODE_GPU = 2, NODES = 4 * AGENTS_MAX };
static uint8_t nodes[NODES];

static hsa_status_t note_node(hsa_agent_t handle, void *data)
{
	hsa_device_type_t type;
	uint32_t node = 0;

	/* Runtimes that tell the first of GPUs only mean the same by the second. */
	if (get(handle, HSA_AGENT_INFO_DEVICE, &type) &&
	    (get(handle, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, &node) ||
	     get(handle, HSA_AGENT_INFO_NODE, &node)) &&
	    node < NODES)
		nodes[node] |= type == HSA_DEVICE_TYPE_CPU   ? NODE_CPU
			       : type == HSA_DEVICE_TYPE_GPU ? NODE_GPU
							     : 0;
	return HSA_STATUS_SUCCESS;
}

/* Its place among all GPUs of the machine, in the order of nodes: also of those that the process
 * does not see, whose nodes are those that no processor has. */
static uint32_t machine_index(uint32_t node)
{
	uint32_t index = node;

	for (uint32_t i = 0; i < node && i < NODES; i++)
		index -= nodes[i] == NODE_CPU;
	return index;
}

/* What identifies it is the hardware, where the runtime tells its UUID ("GPU-XX" says that it does
 * not): another GPU of the same node number, on another machine, is another one. */
static void identify(struct agent *agent)
{
	char name[TEXT + 1] = "", uuid[TEXT + 1] = "";

	(void)get(agent->handle, HSA_AGENT_INFO_NAME, name);
	if (!*name)
		strcpy(name, "gpu");
	(void)get(agent->handle, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, &agent->node);
	(void)get(agent->handle, HSA_AMD_AGENT_INFO_UUID, uuid);
	agent->index = machine_index(agent->node);
	agent->name = interceptor_string(name);
	agent->uid = interceptor_tracepoint(
		"agent", name, *uuid && strcmp(uuid, "GPU-XX") != 0 ? uuid : NULL, agent->node);
}

static void publish(const struct agent *agent)
{
	publish_metadata(agent->uid, 0,
			 &(struct rtl_hsa_metadata){.address = agent->handle.handle,
						    .name = agent->name,
						    .gpu = agent->node});
}

/* `index`: its place among those that the process sees (ROCR_VISIBLE_DEVICES). */
static void describe(struct agent *agent, uint32_t index)
{
	size_t bytes = 0;

	identify(agent);
	if (!agent->uid)
		return;
	interceptor_set_number(agent->uid, "node", agent->node);
	interceptor_set_number(agent->uid, "visible_index", index);
	interceptor_set_number(agent->uid, "gpu_index", agent->index);
	set_text(agent, HSA_AMD_AGENT_INFO_PRODUCT_NAME, "product");
	set_text(agent, HSA_AMD_AGENT_INFO_UUID, "uuid");
	set_bus_address(agent);
	(void)interceptor.hsa.iterate_memory_pools(agent->handle, look_at_pool, &bytes);
	if (bytes)
		interceptor_set_number(agent->uid, "memory_bytes", bytes);
	set_number(agent, HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT, "compute_units");
	set_number(agent, HSA_AMD_AGENT_INFO_MAX_CLOCK_FREQUENCY, "clock_mhz");
	set_number(agent, HSA_AGENT_INFO_WAVEFRONT_SIZE, "wavefront_size");
	publish(agent);
}

static hsa_status_t add(hsa_agent_t handle, void *data)
{
	uint32_t *count = data;
	hsa_device_type_t type;

	if (!get(handle, HSA_AGENT_INFO_DEVICE, &type) || type != HSA_DEVICE_TYPE_GPU ||
	    *count == AGENTS_MAX)
		return HSA_STATUS_SUCCESS;
	agents[*count] = (struct agent){.handle = handle};
	describe(&agents[*count], *count);
	++*count;
	return HSA_STATUS_SUCCESS;
}

void agents_publish(void)
{
	const uint32_t count = __atomic_load_n(&agent_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++)
		publish(&agents[i]);
}

void agents_init(void)
{
	int state;

	/* Files are read: a thread that is cancelled must not take the lock with it. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&lock);
	if (!ready) {
		uint32_t count = 0;

		(void)interceptor.hsa.iterate_agents(note_node, NULL);
		(void)interceptor.hsa.iterate_agents(add, &count);
		faults_listen();
		/* Pairs with the acquire in agents_list. */
		__atomic_store_n(&agent_count, count, __ATOMIC_RELEASE);
		ready = true;
	}
	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(state, NULL);
}

const struct agent *agents_list(uint32_t *count)
{
	*count = __atomic_load_n(&agent_count, __ATOMIC_ACQUIRE);
	return agents;
}

const struct agent *agents_find(hsa_agent_t handle)
{
	for (uint32_t i = __atomic_load_n(&agent_count, __ATOMIC_ACQUIRE); i--;)
		if (agents[i].handle.handle == handle.handle)
			return &agents[i];
	return NULL;
}

const struct agent *agents_find_node(uint32_t node)
{
	for (uint32_t i = __atomic_load_n(&agent_count, __ATOMIC_ACQUIRE); node && i--;)
		if (agents[i].node == node)
			return &agents[i];
	return NULL;
}

uint16_t agents_node_of(uint64_t address, bool *known)
{
	hsa_amd_pointer_info_t info = {.size = sizeof(info)};
	const struct agent *agent;

	*known = interceptor.hsa.pointer_info && address &&
		 !interceptor.hsa.pointer_info((void *)(uintptr_t)address, &info, NULL, NULL,
					       NULL) &&
		 info.type != HSA_EXT_POINTER_TYPE_UNKNOWN;
	agent = *known ? agents_find(info.agentOwner) : NULL;
	return agent ? (uint16_t)agent->node : 0;
}
