/* SPDX-License-Identifier: MIT */
/* The GPUs of this machine: see gpus.h. */
#include "gpus.h"

#include <dlfcn.h>

#include "../../streams/hsa/counter/agent.h"
#include "cli.h"

#define RUNTIME "libhsa-runtime64.so.1"
enum { GPUS_MOST = 64 };

struct found {
	struct gpu gpu; /* first: what is given out */
	hsa_agent_t agent;
	char name[65], product[65];
};

/* The runtime's functions. */
static struct {
	hsa_status_t (*init)(void);
	__typeof__(hsa_iterate_agents) *iterate_agents;
	agent_ask *ask;
	agent_extension *extension;
} hsa;

static agent_library library;

static struct found gpus[GPUS_MOST];
static struct gpu *list[GPUS_MOST + 1];
static size_t count;

static hsa_status_t add(hsa_agent_t agent, void *user)
{
	hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
	struct found *found = &gpus[count];

	if (hsa.ask(agent, HSA_AGENT_INFO_DEVICE, &type) || type != HSA_DEVICE_TYPE_GPU ||
	    count == GPUS_MOST)
		return HSA_STATUS_SUCCESS;
	found->agent = agent;
	found->gpu = (struct gpu){.name = found->name, .product = found->product};
	(void)hsa.ask(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, &found->gpu.node);
	(void)hsa.ask(agent, HSA_AGENT_INFO_NAME, found->name);
	(void)hsa.ask(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_PRODUCT_NAME, found->product);
	list[count++] = &found->gpu;
	return HSA_STATUS_SUCCESS;
}

static bool find_functions(void *runtime)
{
	*(void **)&hsa.init = dlsym(runtime, "hsa_init");
	*(void **)&hsa.iterate_agents = dlsym(runtime, "hsa_iterate_agents");
	*(void **)&hsa.ask = dlsym(runtime, "hsa_agent_get_info");
	*(void **)&hsa.extension = dlsym(runtime, "hsa_system_get_major_extension_table");
	return hsa.init && hsa.iterate_agents && hsa.ask && hsa.extension;
}

int gpus_find(struct gpu *const **found)
{
	void *runtime = dlopen(RUNTIME, RTLD_NOW | RTLD_LOCAL);

	if (!runtime)
		return cli_failed("the HSA runtime cannot be loaded: %s", dlerror());
	if (!find_functions(runtime))
		return cli_failed("%s is not an HSA runtime", RUNTIME);
	if (hsa.init() == HSA_STATUS_SUCCESS)
		(void)hsa.iterate_agents(add, NULL);
	if (!count)
		return cli_failed(
			"the HSA runtime finds no GPU here; choose one, such as --arch gfx90a");
	*found = list;
	return CLI_OK;
}

struct counter_set *gpu_counters(const struct gpu *gpu, const struct counter_options *options,
				 char *message, size_t size)
{
	return agent_counters_load(hsa.ask, ((const struct found *)gpu)->agent, options, message,
				   size);
}

bool gpus_count(char *why, size_t size)
{
	return agent_library_find(hsa.extension, &library, why, size);
}

bool gpu_block(const struct gpu *gpu, const char *block, uint32_t *instances, uint32_t *registers)
{
	const struct agent_block found =
		agent_block(&library, ((const struct found *)gpu)->agent, block);

	*instances = found.instances;
	*registers = found.registers;
	return found.registers;
}
