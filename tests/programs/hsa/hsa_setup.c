/* SPDX-License-Identifier: MIT */
#include "hsa_setup.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>

#define PROGRAM program_invocation_short_name
#include "../check.h"

static hsa_agent_t agents[MAX_GPUS];
static int agent_count;
static hsa_amd_memory_pool_t shared_pool;

static hsa_status_t find_pool(hsa_amd_memory_pool_t pool, void *unused)
{
	hsa_amd_segment_t segment;
	uint32_t flags = 0;

	hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
	if (segment != HSA_AMD_SEGMENT_GLOBAL)
		return HSA_STATUS_SUCCESS;
	hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
		shared_pool = pool;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t find_agent(hsa_agent_t agent, void *unused)
{
	hsa_device_type_t type;

	CHECK_HSA(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_GPU && agent_count < MAX_GPUS)
		agents[agent_count++] = agent;
	else if (type == HSA_DEVICE_TYPE_CPU && !shared_pool.handle)
		CHECK_HSA(hsa_amd_agent_iterate_memory_pools(agent, find_pool, NULL));
	return HSA_STATUS_SUCCESS;
}

static void load_kernels(struct gpu *gpu, const char *program_path)
{
	const char *slash = strrchr(program_path, '/');
	int folder_length = slash ? (int)(slash - program_path + 1) : 0;
	hsa_code_object_reader_t reader;
	char path[4096];
	int file;

	snprintf(path, sizeof(path), "%.*shsa_kernels.%s.co", folder_length, program_path,
		 gpu->name);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		fail("%s: %s", path, strerror(errno));
	CHECK_HSA(hsa_code_object_reader_create_from_file(file, &reader));
	CHECK_HSA(hsa_executable_create_alt(
		HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &gpu->executable));
	CHECK_HSA(hsa_executable_load_agent_code_object(gpu->executable, gpu->agent, reader, NULL,
							NULL));
	CHECK_HSA(hsa_executable_freeze(gpu->executable, NULL));
	CHECK_HSA(hsa_code_object_reader_destroy(reader));
	close(file);
}

int gpu_find_all(struct gpu gpus[MAX_GPUS], const char *program_path)
{
	CHECK_HSA(hsa_init());
	CHECK_HSA(hsa_iterate_agents(find_agent, NULL));
	if (!agent_count || !shared_pool.handle)
		fail("HSA has no GPU, or no memory for kernel arguments");
	for (int i = 0; i < agent_count; i++) {
		gpus[i].agent = agents[i];
		CHECK_HSA(hsa_agent_get_info(agents[i], HSA_AGENT_INFO_NAME, gpus[i].name));
		load_kernels(&gpus[i], program_path);
	}
	return agent_count;
}

struct kernel gpu_kernel(const struct gpu *gpu, const char *symbol)
{
	hsa_executable_symbol_t handle;
	struct kernel kernel;
	char name[256];

	snprintf(name, sizeof(name), "%s.kd", symbol);
	CHECK_HSA(hsa_executable_get_symbol_by_name(gpu->executable, name, &gpu->agent, &handle));
	CHECK_HSA(hsa_executable_symbol_get_info(handle, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
						 &kernel.object));
	CHECK_HSA(hsa_executable_symbol_get_info(
		handle, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_KERNARG_SEGMENT_SIZE,
		&kernel.kernarg_bytes));
	CHECK_HSA(hsa_executable_symbol_get_info(
		handle, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &kernel.group_bytes));
	CHECK_HSA(hsa_executable_symbol_get_info(
		handle, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE,
		&kernel.private_bytes));
	return kernel;
}

void *shared_alloc(size_t bytes)
{
	void *memory;

	CHECK_HSA(hsa_amd_memory_pool_allocate(shared_pool, bytes, 0, &memory));
	CHECK_HSA(hsa_amd_agents_allow_access((uint32_t)agent_count, agents, NULL, memory));
	return memset(memory, 0, bytes);
}

void *kernarg_create(const struct kernel *kernel, const void *arguments, size_t explicit_bytes)
{
	/* The struct of the arguments may be padded beyond the segment. */
	size_t bytes =
		explicit_bytes > kernel->kernarg_bytes ? explicit_bytes : kernel->kernarg_bytes;

	return memcpy(shared_alloc(bytes), arguments, explicit_bytes);
}

uint64_t packets_reserve(hsa_queue_t *queue, uint64_t count)
{
	uint64_t first = hsa_queue_add_write_index_scacq_screl(queue, count);

	while (first + count - hsa_queue_load_read_index_scacquire(queue) > queue->size)
		sched_yield();
	return first;
}

static void *packet_at(hsa_queue_t *queue, uint64_t index)
{
	return (char *)queue->base_address + 64 * (index & (queue->size - 1));
}

/* The first word goes last: the processor looks at the packet once its type is valid. */
static void packet_publish(void *packet, unsigned type, bool in_order, uint16_t second_half)
{
	uint32_t header = type << HSA_PACKET_HEADER_TYPE |
			  (uint32_t)in_order << HSA_PACKET_HEADER_BARRIER |
			  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
			  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;

	__atomic_store_n((uint32_t *)packet, header | (uint32_t)second_half << 16,
			 __ATOMIC_RELEASE);
}

void packet_dispatch(hsa_queue_t *queue, uint64_t index, const struct kernel *kernel, void *kernarg,
		     uint32_t work_items, bool in_order, hsa_signal_t completion)
{
	hsa_kernel_dispatch_packet_t *packet = packet_at(queue, index);

	packet->workgroup_size_x = 64;
	packet->workgroup_size_y = 1;
	packet->workgroup_size_z = 1;
	packet->reserved0 = 0;
	packet->grid_size_x = work_items;
	packet->grid_size_y = 1;
	packet->grid_size_z = 1;
	packet->private_segment_size = kernel->private_bytes;
	packet->group_segment_size = kernel->group_bytes;
	packet->kernel_object = kernel->object;
	packet->kernarg_address = kernarg;
	packet->reserved2 = 0;
	packet->completion_signal = completion;
	packet_publish(packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, in_order,
		       1 << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS);
}

void packet_barrier(hsa_queue_t *queue, uint64_t index, hsa_signal_t dependency,
		    hsa_signal_t completion)
{
	hsa_barrier_and_packet_t *packet = packet_at(queue, index);

	memset((char *)packet + 4, 0, sizeof(*packet) - 4);
	packet->dep_signal[0] = dependency;
	packet->completion_signal = completion;
	packet_publish(packet, HSA_PACKET_TYPE_BARRIER_AND, true, 0);
}

void signal_wait_zero(hsa_signal_t signal, const char *what)
{
	uint64_t deadline_ns = monotonic_ns() + 300 * 1000000000ull;

	while (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 0, 1u << 30,
					 HSA_WAIT_STATE_BLOCKED) != 0)
		if (monotonic_ns() > deadline_ns)
			fail("%s did not complete within five minutes", what);
}
