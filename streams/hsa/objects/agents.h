/* SPDX-License-Identifier: MIT */
/* The GPUs of the process: node numbers, tracepoints and what describes them.
 *
 * Threads: agents_init from any, the first call does the work; what it leaves does not change.
 * One lock, for agents_init. */
#pragma once

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

#define AGENTS_MAX 64

struct agent {
	hsa_agent_t handle;
	uint32_t node;  /* KFD node id */
	uint32_t index; /* among the GPUs of the machine, by node */
	uint64_t uid;
	uint64_t name;
};

/* Finds the GPUs. Not from OnLoad: the runtime must be up. */
void agents_init(void);

/* The GPUs found. */
const struct agent *agents_list(uint32_t *count);

/* Publishes them once more: somebody listens who did not when they were found. Any thread. */
void agents_publish(void);

/* The GPU with that handle, or NULL. */
const struct agent *agents_find(hsa_agent_t handle);

/* The GPU of that KFD node, or NULL; 0 is none. */
const struct agent *agents_find_node(uint32_t node);

/* The node of the GPU that owns memory of the runtime's; 0: the host's, or not known. *known: whether the runtime knows
 * it. */
uint16_t agents_node_of(uint64_t address, bool *known);
