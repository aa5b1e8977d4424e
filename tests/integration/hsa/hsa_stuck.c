/* SPDX-License-Identifier: MIT */
/*
 * hsa_stuck: a tool library whose hsa_amd_profiling_convert_tick_to_system_domain does not return
 * for the harvester of the interceptor, which is loaded after it.
 */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "../../../streams/hsa/runtime/table.h"

static __typeof__(hsa_amd_profiling_convert_tick_to_system_domain) *convert;

__attribute__((visibility("default"))) bool OnLoad(struct root_table *root, uint64_t version,
						   uint64_t failed, const char *const *names);

static hsa_status_t stuck(hsa_agent_t agent, uint64_t agent_tick, uint64_t *system_tick)
{
	char name[16] = "";

	(void)pthread_getname_np(pthread_self(), name, sizeof(name));
	while (!strcmp(name, "rtl-hsa"))
		pause();
	return convert(agent, agent_tick, system_tick);
}

bool OnLoad(struct root_table *root, uint64_t version, uint64_t failed, const char *const *names)
{
	void **entry = table_entry(root, ENTRY_hsa_amd_profiling_convert_tick_to_system_domain);

	*(void **)&convert = *entry;
	*entry = (void *)stuck;
	return true;
}
