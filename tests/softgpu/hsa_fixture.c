/* SPDX-License-Identifier: MIT */
#include "hsa_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fixture_check(hsa_status_t status, const char *call, const char *file, int line)
{
	const char *text = "?";

	if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK)
		return;
	hsa_status_string(status, &text);
	fprintf(stderr, "%s:%d: %s: %#x %s\n", file, line, call, status, text);
	exit(1);
}

static hsa_status_t on_agent(hsa_agent_t agent, void *data)
{
	struct fixture *f = data;
	hsa_device_type_t type;

	HSA_OK(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
	if (type == HSA_DEVICE_TYPE_CPU)
		f->cpu = agent;
	else if (f->gpu_count < FIXTURE_MAX_GPUS)
		f->gpus[f->gpu_count++] = agent;
	return HSA_STATUS_SUCCESS;
}

static hsa_status_t on_pool(hsa_amd_memory_pool_t pool, void *data)
{
	hsa_amd_segment_t segment;
	uint32_t flags;

	HSA_OK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment));
	if (segment != HSA_AMD_SEGMENT_GLOBAL)
		return HSA_STATUS_SUCCESS;
	HSA_OK(hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags));
	if (flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)
		return HSA_STATUS_SUCCESS;
	*(hsa_amd_memory_pool_t *)data = pool;
	return HSA_STATUS_INFO_BREAK;
}

void fixture_open(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	HSA_OK(hsa_init());
	HSA_OK(hsa_iterate_agents(on_agent, f));
	HSA_OK(hsa_amd_agent_iterate_memory_pools(f->cpu, on_pool, &f->cpu_pool));
	if (f->gpu_count)
		HSA_OK(hsa_amd_agent_iterate_memory_pools(f->gpus[0], on_pool, &f->gpu_pool));
}

void fixture_close(void)
{
	HSA_OK(hsa_shut_down());
}

hsa_queue_t *fixture_queue(const struct fixture *f, uint32_t packets,
			   void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data)
{
	hsa_queue_t *queue;

	HSA_OK(hsa_queue_create(f->gpus[0], packets, HSA_QUEUE_TYPE_MULTI, callback, data,
				UINT32_MAX, UINT32_MAX, &queue));
	HSA_OK(hsa_amd_profiling_set_profiler_enabled(queue, 1));
	return queue;
}

hsa_signal_t fixture_signal(hsa_signal_value_t value)
{
	hsa_signal_t signal;

	HSA_OK(hsa_signal_create(value, 0, NULL, &signal));
	return signal;
}

bool fixture_wait(hsa_signal_t signal, unsigned int seconds)
{
	uint64_t hz;

	HSA_OK(hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &hz));
	return hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, seconds * hz,
					 HSA_WAIT_STATE_BLOCKED) < 1;
}

uint64_t fixture_submit(hsa_queue_t *queue, const void *packet)
{
	uint64_t index = hsa_queue_add_write_index_relaxed(queue, 1);
	char *slot = (char *)queue->base_address + (index & (queue->size - 1)) * 64;
	uint32_t head;

	while (index - hsa_queue_load_read_index_scacquire(queue) >= queue->size)
		;
	memcpy(&head, packet, sizeof(head));
	memcpy(slot + sizeof(head), (const char *)packet + sizeof(head), 64 - sizeof(head));
	__atomic_store_n((uint32_t *)slot, head, __ATOMIC_RELEASE);
	hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)index);
	return index;
}

static uint16_t packet_header(hsa_packet_type_t type)
{
	return (uint16_t)(type | 1 << HSA_PACKET_HEADER_BARRIER |
			  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
			  HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
}

hsa_kernel_dispatch_packet_t fixture_dispatch(uint32_t items, hsa_signal_t signal)
{
	return (hsa_kernel_dispatch_packet_t){
		.header = packet_header(HSA_PACKET_TYPE_KERNEL_DISPATCH),
		.setup = 1,
		.workgroup_size_x = 64,
		.workgroup_size_y = 1,
		.workgroup_size_z = 1,
		.grid_size_x = items,
		.grid_size_y = 1,
		.grid_size_z = 1,
		.completion_signal = signal,
	};
}

hsa_barrier_and_packet_t fixture_barrier_and(hsa_signal_t dependency, hsa_signal_t signal)
{
	return (hsa_barrier_and_packet_t){
		.header = packet_header(HSA_PACKET_TYPE_BARRIER_AND),
		.dep_signal = {dependency},
		.completion_signal = signal,
	};
}

static uint64_t field_u64(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? strtoull(at + strlen(key), NULL, 0) : 0;
}

static void field_text(const char *line, const char *key, char *to, size_t size)
{
	const char *at = strstr(line, key);
	size_t len = 0;

	if (at) {
		at += strlen(key);
		len = strcspn(at, " \n");
		if (len >= size)
			len = size - 1;
		memcpy(to, at, len);
	}
	to[len] = '\0';
}

static void parse(const char *line, struct log_row *row)
{
	*row = (struct log_row){
		.gpu = field_u64(line, "gpu="),
		.queue = field_u64(line, " queue="),
		.index = field_u64(line, " idx="),
		.start_ns = field_u64(line, " start="),
		.end_ns = field_u64(line, " end="),
		.signal = field_u64(line, " signal="),
		.grid_x = field_u64(line, " grid="),
		.bytes = field_u64(line, " bytes="),
	};
	field_text(line, " kind=", row->kind, sizeof(row->kind));
	field_text(line, " name=", row->name, sizeof(row->name));
}

size_t fixture_log_read(const char *path, struct log_row **rows)
{
	FILE *file = fopen(path, "r");
	size_t count = 0, capacity = 0, line_size = 0;
	char *line = NULL;

	*rows = NULL;
	while (file && getline(&line, &line_size, file) > 0) {
		if (line[0] == '#')
			continue;
		if (count == capacity) {
			capacity = capacity ? 2 * capacity : 1024;
			*rows = realloc(*rows, capacity * sizeof(**rows));
			if (!*rows)
				abort();
		}
		parse(line, &(*rows)[count++]);
	}
	free(line);
	if (file)
		fclose(file);
	return count;
}

const struct log_row *fixture_log_find(const struct log_row *rows, size_t count, const char *kind,
				       uint64_t signal)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].signal == signal && strcmp(rows[i].kind, kind) == 0)
			return &rows[i];
	return NULL;
}
