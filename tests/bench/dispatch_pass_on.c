/* SPDX-License-Identifier: MIT */
/*
 * dispatch_pass_on: a tool library whose interceptor passes every packet on and does nothing
 * else: what an intercept queue costs by itself. The reference of tests/bench/dispatch.
 * Threads: the runtime's and the application's; nothing is written after OnLoad. No locks.
 */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "../../streams/hsa/runtime/table.h"

typedef void (*packet_writer)(const void *packets, uint64_t count);
typedef void (*packet_interceptor)(const void *packets, uint64_t count, uint64_t index, void *data,
				   packet_writer write);
typedef void (*queue_error_callback)(hsa_status_t status, hsa_queue_t *queue, void *data);

static __typeof__(hsa_amd_profiling_set_profiler_enabled) *set_profiler_enabled;
static hsa_status_t (*intercept_create)(hsa_agent_t, uint32_t, hsa_queue_type32_t,
					queue_error_callback, void *, uint32_t, uint32_t,
					hsa_queue_t **);
static hsa_status_t (*intercept_register)(hsa_queue_t *, packet_interceptor, void *);

static void pass_on(const void *packets, uint64_t count, uint64_t index, void *data,
		    packet_writer write)
{
	(void)index;
	(void)data;
	write(packets, count);
}

static hsa_status_t queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
				 queue_error_callback callback, void *data, uint32_t private_bytes,
				 uint32_t group_bytes, hsa_queue_t **queue)
{
	hsa_status_t status;

	status = intercept_create(agent, size, type, callback, data,
				  private_bytes == UINT32_MAX ? 0 : private_bytes,
				  group_bytes == UINT32_MAX ? 0 : group_bytes, queue);
	if (status)
		return status;
	status = set_profiler_enabled(*queue, 1);
	return status ? status : intercept_register(*queue, pass_on, NULL);
}

__attribute__((visibility("default"))) bool OnLoad(struct root_table *root, uint64_t version,
						   uint64_t failed, const char *const *names);

bool OnLoad(struct root_table *root, uint64_t version, uint64_t failed, const char *const *names)
{
	(void)version;
	(void)failed;
	(void)names;
	*(void **)&set_profiler_enabled = *table_amd(root->amd, AMD_PROFILING_SET_PROFILER_ENABLED);
	*(void **)&intercept_create = *table_amd(root->amd, AMD_QUEUE_INTERCEPT_CREATE);
	*(void **)&intercept_register = *table_amd(root->amd, AMD_QUEUE_INTERCEPT_REGISTER);
	*table_core(root->core, CORE_QUEUE_CREATE) = (void *)queue_create;
	return true;
}
