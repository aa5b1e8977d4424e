/* SPDX-License-Identifier: MIT */
/* The GPUs of this machine, asked of the HSA runtime, and what their counters need. The runtime is loaded when it is
 * first asked, and stays. One thread. */
#pragma once

#include "../../streams/hsa/counter/metrics.h"

struct gpu {
	uint32_t node;       /**< KFD node, its number in traces */
	const char *name;    /**< "gfx906" */
	const char *product; /**< as the vendor calls it; "": not known */
};

/** CLI_OK and a list that ends with NULL, which stays; else an exit status after a line: there is no
 *  GPU, or no runtime. */
int gpus_find(struct gpu *const **list);

/** As counter_set_load, for that GPU. */
struct counter_set *gpu_counters(const struct gpu *gpu, const struct counter_options *options,
				 char *message, size_t size);

/** Whether anything can be counted on GPUs here; else a line in `why`. */
bool gpus_count(char *why, size_t size);

/** A block's instances, and how many events each counts at the same time; false: there is no such block. */
bool gpu_block(const struct gpu *gpu, const char *block, uint32_t *instances, uint32_t *registers);
