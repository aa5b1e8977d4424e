/* SPDX-License-Identifier: MIT */
/* Hooks of the copy functions: see copies.h. */
#include "copies.h"

#include "collector.h"
#include "watch.h"

static hsa_status_t async_copy(void *dst, hsa_agent_t dst_agent, const void *src,
			       hsa_agent_t src_agent, size_t size, uint32_t dep_count,
			       const hsa_signal_t *deps, hsa_signal_t completion)
{
	watch_reused(completion.handle);
	return collector.hsa.async_copy(dst, dst_agent, src, src_agent, size, dep_count, deps,
					completion);
}

static hsa_status_t async_copy_on_engine(void *dst, hsa_agent_t dst_agent, const void *src,
					 hsa_agent_t src_agent, size_t size, uint32_t dep_count,
					 const hsa_signal_t *deps, hsa_signal_t completion,
					 uint32_t engine, bool force_sdma)
{
	watch_reused(completion.handle);
	return collector.hsa.async_copy_on_engine(dst, dst_agent, src, src_agent, size, dep_count,
						  deps, completion, engine, force_sdma);
}

static hsa_status_t async_copy_rect(const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset,
				    const hsa_pitched_ptr_t *src, const hsa_dim3_t *src_offset,
				    const hsa_dim3_t *range, hsa_agent_t agent,
				    hsa_amd_copy_direction_t direction, uint32_t dep_count,
				    const hsa_signal_t *deps, hsa_signal_t completion)
{
	watch_reused(completion.handle);
	return collector.hsa.async_copy_rect(dst, dst_offset, src, src_offset, range, agent,
					     direction, dep_count, deps, completion);
}

void copies_hook(struct root_table *root)
{
	if (collector.hsa.async_copy)
		*table_amd(root->amd, AMD_MEMORY_ASYNC_COPY) = (void *)async_copy;
	if (collector.hsa.async_copy_on_engine)
		*table_amd(root->amd, AMD_MEMORY_ASYNC_COPY_ON_ENGINE) =
			(void *)async_copy_on_engine;
	if (collector.hsa.async_copy_rect)
		*table_amd(root->amd, AMD_MEMORY_ASYNC_COPY_RECT) = (void *)async_copy_rect;
}
