/* SPDX-License-Identifier: MIT */
/* What there is: versions, metrics of a GPU, clocks. Any thread. */

#include "runtime.h"

uint32_t rocprofiler_version_major(void)
{
	return ROCPROFILER_VERSION_MAJOR;
}

uint32_t rocprofiler_version_minor(void)
{
	return ROCPROFILER_VERSION_MINOR;
}

hsa_status_t rocprofiler_get_info(const hsa_agent_t *agent, rocprofiler_info_kind_t kind,
				  void *data)
{
	struct counter_set *set;
	struct gpu *gpu;
	uint32_t count = 0;

	if (!data)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "get_info: NULL");
	if (kind != ROCPROFILER_INFO_KIND_METRIC_COUNT && kind != ROCPROFILER_INFO_KIND_TRACE_COUNT)
		return fail(HSA_STATUS_ERROR, "get_info: unknown kind %d", (int)kind);
	gpu = agent ? gpu_of(*agent) : gpu_at(0);
	if (!gpu)
		return HSA_STATUS_ERROR;
	for (; gpu && kind == ROCPROFILER_INFO_KIND_METRIC_COUNT;
	     gpu = agent ? NULL : gpu_at(gpu->index + 1)) {
		set = gpu_set(gpu);
		if (!set)
			return HSA_STATUS_ERROR;
		count += (uint32_t)counter_set_count(set);
	}
	*(uint32_t *)data = count;
	return HSA_STATUS_SUCCESS;
}

typedef hsa_status_t info_callback(const rocprofiler_info_data_t info, void *data);

/* A counter of a block that the vendor's library does not have is passed over, as the original does. */
static hsa_status_t tell_metric(struct gpu *gpu, const struct counter_def *def,
				info_callback *callback, void *data)
{
	rocprofiler_info_data_t info = {
		.agent_index = gpu->index,
		.kind = ROCPROFILER_INFO_KIND_METRIC,
		.metric = {.name = def->name, .instances = 1, .description = def->description},
	};
	struct agent_block block;

	if (!def->block) {
		info.metric.expr = def->expression;
	} else {
		block = library_block(gpu->agent, def->block);
		if (!block.registers)
			return HSA_STATUS_SUCCESS;
		info.metric.block_name = def->block;
		info.metric.instances = block.instances;
		info.metric.block_counters = block.registers;
	}
	return callback(info, data);
}

static hsa_status_t tell_gpu(struct gpu *gpu, info_callback *callback, void *data)
{
	struct counter_set *set = gpu_set(gpu);
	hsa_status_t status = HSA_STATUS_SUCCESS;

	if (!set || vendor_find())
		return HSA_STATUS_ERROR;
	for (size_t i = 0; i < counter_set_count(set) && !status; i++)
		status = tell_metric(gpu, counter_set_at(set, i), callback, data);
	return status;
}

hsa_status_t rocprofiler_iterate_info(const hsa_agent_t *agent, rocprofiler_info_kind_t kind,
				      info_callback *callback, void *data)
{
	hsa_status_t status = runtime_find();
	struct gpu *gpu;

	if (status)
		return status;
	if (!callback)
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "iterate_info: NULL");
	if (kind == ROCPROFILER_INFO_KIND_TRACE)
		return HSA_STATUS_SUCCESS; /* there are none */
	if (kind != ROCPROFILER_INFO_KIND_METRIC)
		return fail(HSA_STATUS_ERROR, "iterate_info: unknown kind %d", (int)kind);
	gpu = agent ? gpu_of(*agent) : gpu_at(0);
	if (agent && !gpu)
		return HSA_STATUS_ERROR;
	for (; gpu && !status; gpu = agent ? NULL : gpu_at(gpu->index + 1))
		status = tell_gpu(gpu, callback, data);
	return status == HSA_STATUS_INFO_BREAK ? HSA_STATUS_SUCCESS : status;
}

hsa_status_t rocprofiler_query_info(const hsa_agent_t *agent, rocprofiler_info_query_t query,
				    info_callback *callback, void *data)
{
	return fail(HSA_STATUS_ERROR, "query_info is not implemented");
}

/* ---- time ---- */

/* How far a clock is ahead of HSA's, and how sure that is: the closest of some readings of the one
 * between two of the other. */
static hsa_status_t measure(clockid_t clock, int64_t *ahead, uint64_t *error)
{
	double ns_per_tick = 1e9 / (double)runtime_ticks(1000000000);

	*error = UINT64_MAX;
	for (int i = 0; i < 16; i++) {
		uint64_t ticks, before = clock_read_ns(clock), after;
		if (hsa->system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, &ticks))
			return fail(HSA_STATUS_ERROR, "the HSA clock cannot be read");
		after = clock_read_ns(clock);
		if (after - before >= *error)
			continue;
		*error = after - before;
		*ahead = (int64_t)(before + *error / 2) - (int64_t)((double)ticks * ns_per_tick);
	}
	*error = *error / 2 + 1;
	return HSA_STATUS_SUCCESS;
}

hsa_status_t rocprofiler_get_time(rocprofiler_time_id_t time_id, uint64_t timestamp,
				  uint64_t *value_ns, uint64_t *error_ns)
{
	static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC,
					   CLOCK_MONOTONIC_COARSE, CLOCK_MONOTONIC_RAW};
	static struct {
		bool known;
		int64_t ahead;
		uint64_t error;
	} measured[sizeof(clocks) / sizeof(*clocks)];
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	hsa_status_t status = runtime_find();

	if (status)
		return status;
	if ((unsigned)time_id >= sizeof(clocks) / sizeof(*clocks))
		return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "get_time: no clock %d",
			    (int)time_id);
	HOLD_LOCK(&lock);
	if (!measured[time_id].known) {
		status = measure(clocks[time_id], &measured[time_id].ahead,
				 &measured[time_id].error);
		measured[time_id].known = !status;
	}
	if (!status && value_ns)
		*value_ns = timestamp + (uint64_t)measured[time_id].ahead;
	if (!status && error_ns)
		*error_ns = measured[time_id].error;
	return status;
}
