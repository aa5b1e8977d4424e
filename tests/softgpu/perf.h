/* SPDX-License-Identifier: MIT
 *
 * Performance counters: the registers that select and read them (gfx9), and a model of what
 * they count. Kernel code is not executed, so what a dispatch adds is made up, but the same
 * each time: exactly its waves for SQ_WAVES, its time in engine cycles for GRBM, and for all
 * else its waves times a factor that follows from the event, or that SOFTGPU_COUNTERS gives.
 * It is spread over XCCs, engines and instances. What a dispatch has added is logged.
 *
 * Threads: the engine of the GPU; sg_perf_load() before there is one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "log.h"
#include "queue.h"

#define SG_COMPUTE_PERFCOUNT_ENABLE 0x2e0bu

/* Reads the file that SOFTGPU_COUNTERS names. */
void sg_perf_load(const char *path);

/* Each XCC has registers of its own. */
void sg_perf_write(uint32_t gpu, unsigned int xcc, uint32_t reg, uint32_t value);
uint32_t sg_perf_read(uint32_t gpu, unsigned int xcc, uint32_t reg);

/* A dispatch has begun, or ended: half of its work is counted at each, so that counters that are
 * started, read or reset while it runs come out wrong, as they would. Logged at the end. */
void sg_perf_dispatch(struct sg_log *log, const struct sg_queue *queue,
		      const struct sg_flight *flight, bool ended);
