/* SPDX-License-Identifier: MIT
 *
 * Fixture of the HSA tests and of bench_aql: agents, pools, queues, packets, and the rows of
 * SOFTGPU_LOG. Compiles against ROCm 5.2 and 7. Failures end the test.
 *
 * Threads: one.
 */
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FIXTURE_MAX_GPUS 8

/* Ends the process with the place and ROCr's text unless the call succeeds. */
#define HSA_OK(call) fixture_check(call, #call, __FILE__, __LINE__)
void fixture_check(hsa_status_t status, const char *call, const char *file, int line);

struct fixture {
	hsa_agent_t cpu;
	hsa_agent_t gpus[FIXTURE_MAX_GPUS];
	uint32_t gpu_count;
	hsa_amd_memory_pool_t cpu_pool; /* fine or coarse grained, not for kernel arguments */
	hsa_amd_memory_pool_t gpu_pool; /* of gpus[0] */
};

/* hsa_init() and what the struct holds. */
void fixture_open(struct fixture *f);
void fixture_close(void);

/* On gpus[0], with profiling. callback may be NULL. */
hsa_queue_t *fixture_queue(const struct fixture *f, uint32_t packets,
			   void (*callback)(hsa_status_t, hsa_queue_t *, void *), void *data);
hsa_signal_t fixture_signal(hsa_signal_value_t value);

/* Until it is below 1; false after that many seconds. */
bool fixture_wait(hsa_signal_t signal, unsigned int seconds);

/* Puts a packet into the queue, waiting for room, and rings the doorbell. The header is written last. Its index. */
uint64_t fixture_submit(hsa_queue_t *queue, const void *packet);

/* A dispatch without kernel of `items` work items in groups of 64, with the barrier bit. */
hsa_kernel_dispatch_packet_t fixture_dispatch(uint32_t items, hsa_signal_t signal);
hsa_barrier_and_packet_t fixture_barrier_and(hsa_signal_t dependency, hsa_signal_t signal);

/* The rows of the log, in the file's order, without comments. */
struct log_row {
	char kind[24];
	char name[128];
	uint64_t gpu, queue, index, start_ns, end_ns, signal, grid_x, bytes;
};

/* *rows from malloc. Their number; 0 also when there is no log. */
size_t fixture_log_read(const char *path, struct log_row **rows);

/* The row of that kind with that completion signal; NULL if there is none. */
const struct log_row *fixture_log_find(const struct log_row *rows, size_t count, const char *kind,
				       uint64_t signal);
