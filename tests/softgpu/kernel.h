/* SPDX-License-Identifier: MIT
 *
 * Kernels: what is known of a kernel object, its name and, if there is one, the host
 * function that stands in for it. Each engine keeps a cache of its own.
 *
 * Threads: sg_kernel_find() on the engine that owns the cache; a hit takes no lock. What it
 * returns lives for ever. sg_kernels_invalidate() from any thread.
 */
#pragma once

#include <stdint.h>

#include "host_kernel.h"

#define SG_KERNEL_SLOTS 256u

struct sg_kernel {
	uint64_t object;
	const char *name;         /* "?" when it cannot be found out */
	softgpu_host_kernel *run; /* or NULL */
	struct sg_kernel *next;
};

struct sg_kernel_cache {
	uint64_t generation;
	const struct sg_kernel *slots[SG_KERNEL_SLOTS];
};

const struct sg_kernel *sg_kernel_find(struct sg_kernel_cache *cache, uint64_t object);

/* Code has been loaded or unloaded: addresses may mean other kernels from now on. */
void sg_kernels_invalidate(void);
