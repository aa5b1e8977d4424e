/* SPDX-License-Identifier: MIT
 *
 * Fault injection: SOFTGPU_FAULT=KIND:NAME[@N][=ADDRESS] makes dispatches (the process's Nth) of the kernels
 * whose name contains NAME fail. The queue stops for good at that packet; `long` and `short` only have the GPU
 * tell a wrong time. SOFTGPU_FAULT=commands:N stops the queue of the process's Nth packet of commands (PM4).
 *
 * Threads: engine threads.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "queue.h"

/* Whether the packet at index is to fail; then it has. */
bool sg_fault_strike(struct sg_engine *engine, struct sg_queue *queue, uint64_t index,
		     const hsa_kernel_dispatch_packet_t *packet, const struct sg_kernel *kernel);

/* The same of a packet of commands. */
bool sg_fault_strike_commands(struct sg_queue *queue);
/* The end that the GPU tells of a dispatch, in ticks. */
uint64_t sg_fault_end(const struct sg_flight *flight);
