/* SPDX-License-Identifier: MIT */
/*
 * Times of the GPU and of the HSA system clock, in the clock of rtl.
 *
 * Threads: system_clock_read in OnLoad, the others any. No locks.
 */
#ifndef STREAMS_HSA_SYSTEM_CLOCK_H
#define STREAMS_HSA_SYSTEM_CLOCK_H

#include <hsa/hsa.h>
#include <stdint.h>

/* Measures the HSA system clock against rtl's. */
void system_clock_read(void);

/* Ticks of a GPU, by the runtime's own translation; 0 if it cannot. */
uint64_t system_clock_gpu_ns(hsa_agent_t agent, uint64_t gpu_ticks);

/* The same where HIP has made nanoseconds of it. */
uint64_t system_clock_of_hip(uint64_t ns);

/* Ticks of the HSA system clock. */
uint64_t system_clock_ns(uint64_t ticks);

#endif
