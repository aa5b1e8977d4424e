/* SPDX-License-Identifier: MIT
 *
 * The front end for the distribution's ROCm 5.2: a libhsakmt.so.1 whose GPUs are the
 * software's. ROCr reaches the kernel driver through these functions and nothing else. GPU
 * addresses are host addresses, memory is the host's.
 *
 * device.c opens and closes it, topology.c describes it, memory.c, event.c and queue.c are
 * its resources. All exported functions may be called from any thread.
 */
#ifndef SOFTGPU_KMT_H
#define SOFTGPU_KMT_H

#include <hsakmt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../config.h"

#define KMT_PAGE_BYTES 4096u
#define KMT_DOORBELLS  1024u

#define KMT_EXPORT __attribute__((visibility("default")))

/* With SOFTGPU_TRACE=1: a line on stderr. */
#define KMT_TRACE(...)                                                                             \
	do {                                                                                       \
		if (sg_config.trace_thunk)                                                         \
			kmt_trace(__VA_ARGS__);                                                    \
	} while (0)

void kmt_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether hsaKmtOpenKFD() has been called in this process (and not in its parent). */
bool kmt_is_open(void);

static inline bool kmt_is_gpu(uint32_t node)
{
	return node >= 1 && node <= sg_config.gpu_count;
}

/* Zeroed pages that a child does not inherit; from fd where fd >= 0. NULL: no memory. */
void *kmt_pages_map(size_t size_bytes, size_t align_bytes, int fd);

/* The page of registers that a GPU shows to programs. */
void *kmt_mmio_page(uint32_t node);

/* In the child after a fork, before anything else: forget the parent's. */
void kmt_memory_reset(void);
void kmt_events_reset(void);
void kmt_queues_reset(void);

/* Before the first queue: the GPUs' doorbells and engines. false: no memory. */
bool kmt_queues_init(void);
void kmt_queues_fini(void);

/* Ports of the engines. */
void kmt_event_set(uint32_t event_id);
void kmt_memory_fault(uint32_t node, uint64_t address);

#endif
