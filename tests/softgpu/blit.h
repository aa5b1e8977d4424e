/* SPDX-License-Identifier: MIT
 *
 * Blits: what the kernels that the runtimes bring along (ROCr's and HIP's copies and fills)
 * do, done by the host: without them no code object and no data would reach the GPU.
 *
 * Threads: engine threads. No state, no locks.
 */
#pragma once

#include <stdint.h>

#include "host_kernel.h"

struct sg_blit {
	const char *name;
	softgpu_host_kernel *run;
};

/* HIP's kernels have names: NULL if this is none of them. */
softgpu_host_kernel *sg_blit_by_name(const char *kernel_name);

/* ROCr's have not: known by their first instructions. NULL if it is none of them. */
const struct sg_blit *sg_blit_by_code(uint64_t kernel_object);
