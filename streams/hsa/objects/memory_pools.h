/* SPDX-License-Identifier: MIT */
/*
 * The memory pools and regions of all agents: whose they are, and what kind of memory is in them.
 *
 * Threads: any; the first call does the work, what it leaves does not change. One lock.
 */
#ifndef STREAMS_HSA_MEMORY_POOLS_H
#define STREAMS_HSA_MEMORY_POOLS_H

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

#define MEMORY_POOLS_MAX 512

struct memory_pool {
	uint64_t handle;
	uint64_t agent_uid; /* tracepoint; 0: none */
	uint64_t segment;   /* string, e.g. "global coarse-grained" */
	uint32_t node;      /* KFD node id of the agent */
	uint32_t agent;     /* number of the agent, from 0, less than MEMORY_POOLS_MAX */
	bool on_gpu;
};

/* Its number, or -1 if it is not known. Not from OnLoad: the runtime must be up. */
int memory_pools_find(uint64_t handle);
const struct memory_pool *memory_pools_get(int number);

#endif
