/* SPDX-License-Identifier: MIT */
/* hsa_setup.h: what the programs that use HSA itself share: the GPUs, memory that they and the processor see, the
 * kernels of hsa_kernels.hip, and AQL packets. Whatever fails ends the program with a message. Packets may be written
 * from any thread; the rest is called by one thread before the others start. */
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_GPUS 16

struct gpu {
	hsa_agent_t agent;
	char name[64]; /* gfx906 */
	hsa_executable_t executable;
};

struct kernel {
	uint64_t object;
	uint32_t kernarg_bytes, group_bytes, private_bytes;
};

/* Starts HSA, fills in all GPUs and loads their kernels from the folder of the program. */
int gpu_find_all(struct gpu gpus[MAX_GPUS], const char *program_path);

/* symbol: without the ".kd" of its descriptor */
struct kernel gpu_kernel(const struct gpu *gpu, const char *symbol);

/* Zeroed, fine-grained memory of the host, which all GPUs see; lives until the end. */
void *shared_alloc(size_t bytes);

/* Memory for the kernel's arguments, of which the first explicit_bytes are copied. */
void *kernarg_create(const struct kernel *kernel, const void *arguments, size_t explicit_bytes);

/* Reserves count packets of the queue and waits until there is room for them. */
uint64_t packets_reserve(hsa_queue_t *queue, uint64_t count);

/* Write the packet with this index and hand it to the packet processor, which looks at it once the doorbell was rung.
 * in_order: it waits for the packets before it to complete. */
void packet_dispatch(hsa_queue_t *queue, uint64_t index, const struct kernel *kernel, void *kernarg,
		     uint32_t work_items, bool in_order, hsa_signal_t completion);
void packet_barrier(hsa_queue_t *queue, uint64_t index, hsa_signal_t dependency,
		    hsa_signal_t completion);

/* Waits until the signal is 0; fails after a minute, saying what was waited for. */
void signal_wait_zero(hsa_signal_t signal, const char *what);
