/* SPDX-License-Identifier: MIT
 *
 * AQL: the compute engine's packet processor. A kernel's code is not executed; a dispatch
 * takes SOFTGPU_KERNEL_NS (+ SOFTGPU_NS_PER_WG a workgroup), and dispatches without the
 * barrier bit overlap. Kernels that have a host function run it when they begin.
 *
 * Threads: the engine's.
 */
#pragma once

#include "engine.h"

bool sg_aql_step(struct sg_engine *engine, struct sg_queue *queue, uint64_t *wake_ns);
