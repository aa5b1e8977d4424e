/* SPDX-License-Identifier: MIT */
/* Hooks of the functions that copy and fill memory: see copies.h. */
#include <rtl/events.h>

#include "agents.h"
#include "copies.h"
#include "interceptor.h"
#include "signal_watch.h"

/*
 * Whether the hook has something to do but to call the runtime. A copy of nothing is none: the
 * runtime does not even complete its signal. One without a signal it refuses.
 */
static bool traced(uint64_t bytes, hsa_signal_t signal)
{
	if (copies_traced() && bytes && signal.handle)
		return true;
	signal_watch_reused(signal.handle);
	return false;
}

/* After the runtime was called; returns what that returned. */
static hsa_status_t ended(struct copy_slot *slot, uint64_t bytes, hsa_status_t status)
{
	if (slot)
		copies_end(slot, status);
	else
		copies_untraced(bytes, 1, status);
	return status;
}

static struct copy_slot *linear_begin(void *dst, hsa_agent_t dst_agent, const void *src,
				      hsa_agent_t src_agent, size_t size, uint32_t dep_count,
				      const hsa_signal_t *deps, hsa_signal_t completion,
				      uint32_t engine)
{
	if (!traced(size, completion))
		return NULL;
	const struct copy_request request = {.src = (uintptr_t)src,
					     .dst = (uintptr_t)dst,
					     .bytes = size,
					     .src_agent = src_agent,
					     .dst_agent = dst_agent,
					     .engine = engine,
					     .parts = 1,
					     .function = RTL_HSA_COPY_LINEAR,
					     .waits = signals_waiting(deps, dep_count)};

	return copies_begin(&request, completion.handle);
}

static hsa_status_t async_copy(void *dst, hsa_agent_t dst_agent, const void *src,
			       hsa_agent_t src_agent, size_t size, uint32_t dep_count,
			       const hsa_signal_t *deps, hsa_signal_t completion)
{
	struct copy_slot *slot =
		linear_begin(dst, dst_agent, src, src_agent, size, dep_count, deps, completion, 0);

	return ended(slot, size,
		     interceptor.hsa.async_copy(dst, dst_agent, src, src_agent, size, dep_count,
						deps, completion));
}

static hsa_status_t async_copy_on_engine(void *dst, hsa_agent_t dst_agent, const void *src,
					 hsa_agent_t src_agent, size_t size, uint32_t dep_count,
					 const hsa_signal_t *deps, hsa_signal_t completion,
					 uint32_t engine, bool force_sdma)
{
	struct copy_slot *slot = linear_begin(dst, dst_agent, src, src_agent, size, dep_count, deps,
					      completion, engine);

	return ended(slot, size,
		     interceptor.hsa.async_copy_on_engine(dst, dst_agent, src, src_agent, size,
							  dep_count, deps, completion, engine,
							  force_sdma));
}

static uint64_t first_byte(const hsa_pitched_ptr_t *area, const hsa_dim3_t *at)
{
	return (uintptr_t)area->base + at->x + at->y * area->pitch + at->z * area->slice;
}

/* The agent is the GPU's that does it; what is beyond it is taken for the host's, or, from
 * device to device, for its own: nobody says. */
static struct copy_request rect_copy(const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset,
				     const hsa_pitched_ptr_t *src, const hsa_dim3_t *src_offset,
				     const hsa_dim3_t *range, hsa_agent_t agent,
				     hsa_amd_copy_direction_t direction)
{
	static const hsa_agent_t host;
	const bool is_from_host = direction == hsaHostToDevice || direction == hsaHostToHost;
	const bool is_to_host = direction == hsaDeviceToHost || direction == hsaHostToHost;

	return (struct copy_request){.src = first_byte(src, src_offset),
				     .dst = first_byte(dst, dst_offset),
				     .bytes = (uint64_t)range->x * range->y * range->z,
				     .src_agent = is_from_host ? host : agent,
				     .dst_agent = is_to_host ? host : agent,
				     .extent = {range->x, range->y, range->z},
				     .parts = 1,
				     .function = RTL_HSA_COPY_RECT};
}

static hsa_status_t async_copy_rect(const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset,
				    const hsa_pitched_ptr_t *src, const hsa_dim3_t *src_offset,
				    const hsa_dim3_t *range, hsa_agent_t agent,
				    hsa_amd_copy_direction_t direction, uint32_t dep_count,
				    const hsa_signal_t *deps, hsa_signal_t completion)
{
	const bool whole = dst && dst_offset && src && src_offset && range;
	const uint64_t bytes = whole ? (uint64_t)range->x * range->y * range->z : 0;
	struct copy_slot *slot = NULL;

	if (traced(bytes, completion)) {
		struct copy_request request =
			rect_copy(dst, dst_offset, src, src_offset, range, agent, direction);

		request.waits = signals_waiting(deps, dep_count);
		slot = copies_begin(&request, completion.handle);
	}
	return ended(slot, bytes,
		     interceptor.hsa.async_copy_rect(dst, dst_offset, src, src_offset, range, agent,
						     direction, dep_count, deps, completion));
}

/* The GPU that owns the memory; 0 if that is the host's. */
static hsa_agent_t owner_of(const void *memory)
{
	bool known;
	const struct agent *agent = agents_find_node(agents_node_of((uintptr_t)memory, &known));

	return agent ? agent->handle : (hsa_agent_t){0};
}

/* Whether it is to be traced; then its time runs. */
static bool call_begin(struct copy_call *call, const void *src, const void *dst, uint64_t bytes,
		       uint8_t function)
{
	struct copy_request request = {.src = (uintptr_t)src,
				       .dst = (uintptr_t)dst,
				       .bytes = bytes,
				       .parts = 1,
				       .function = function};

	if (!bytes || !copies_wanted())
		return false;
	agents_init();
	request.dst_agent = owner_of(dst);
	request.src_agent = function == RTL_HSA_COPY_FILL ? request.dst_agent : owner_of(src);
	if (!request.src_agent.handle && !request.dst_agent.handle)
		return false;
	copies_call_begin(call, &request);
	return true;
}

static hsa_status_t memory_copy(void *dst, const void *src, size_t size)
{
	struct copy_call call;
	const bool is_traced = call_begin(&call, src, dst, size, RTL_HSA_COPY_LINEAR);
	const hsa_status_t status = interceptor.hsa.memory_copy(dst, src, size);

	if (is_traced)
		copies_call_end(&call, status);
	return status;
}

static hsa_status_t memory_fill(void *memory, uint32_t value, size_t count)
{
	struct copy_call call;
	const bool is_traced = call_begin(&call, (const void *)(uintptr_t)value, memory,
					  count * sizeof(value), RTL_HSA_COPY_FILL);
	hsa_status_t status;

	if (is_traced)
		call.copy.direction = RTL_HSA_COPY_NONE;
	status = interceptor.hsa.memory_fill(memory, value, count);
	if (is_traced)
		copies_call_end(&call, status);
	return status;
}

/* Without profiling there are no times. With it, what asked for none has some in its signals,
 * which does not hurt. */
static hsa_status_t async_copy_enable(bool enable)
{
	if (!enable && interceptor_on() && copies_are_profiled()) {
		rtl_log(RTL_LEVEL_INFO, "hsa",
			"profiling of copies stays enabled, they are traced");
		enable = true;
	}
	return interceptor.hsa.async_copy_enable(enable);
}

void copies_hook(struct root_table *root)
{
	table_hook(root, ENTRY_hsa_amd_memory_async_copy, (void *)async_copy, NULL);
	table_hook(root, ENTRY_hsa_amd_memory_async_copy_on_engine, (void *)async_copy_on_engine,
		   NULL);
	table_hook(root, ENTRY_hsa_amd_memory_async_copy_rect, (void *)async_copy_rect, NULL);
	table_hook(root, ENTRY_hsa_amd_memory_async_batch_copy, (void *)copy_batch, NULL);
	table_hook(root, ENTRY_hsa_memory_copy, (void *)memory_copy, NULL);
	table_hook(root, ENTRY_hsa_amd_memory_fill, (void *)memory_fill, NULL);
	table_hook(root, ENTRY_hsa_amd_profiling_async_copy_enable, (void *)async_copy_enable,
		   NULL);
}
