/* SPDX-License-Identifier: MIT */
/*
 * A test double of the profiler that HIP's runtime exports from ROCm 7.14 on ("layout D"), on a HIP
 * that has none. It is preloaded behind rtl, and makes its records of what the real runtime reports
 * to the callback of hipRegisterTracerCallback: calls, and work of the GPU with its times.
 *
 * It behaves as the profiler does where that may surprise a client:
 *
 * - Enable counts. Before HIP is initialised it breaks HIP: the next call crashes.
 * - Each call takes a slot. A slot is counted before its record is cleared, and fresh slabs hold
 *   rubbish.
 * - The GPU's half of a record is written without a lock, by the thread on which work completes, and
 *   often only when somebody synchronizes. Further work of a call (a graph's) stands in a list.
 * - With a chunk callback slab k comes when GPU work of slab k + 4 has completed. Then its pointer is
 *   NULL. The end gives one slab: the last one, with as many records as it has; others are forgotten.
 * - There is no unregistering. A child of fork that exits while a callback is registered aborts.
 * - Disable, and the end of the process while enabled, wait for all work of the GPU.
 *
 * Switches, in HIP_DOUBLE, with commas between them:
 *
 *   slab=N          records of a slab, instead of 10000
 *   clean           fresh slabs are zeroed, as in early versions
 *   v02             header 0.2: LDS, scratch and registers behind byte 88 of a dispatch
 *   hashed_tid      thread_id is a hash, as before May 2026
 *   lost_graph      of a graph launch only the first piece of work is reported
 *   lost_kernel=N   each Nth kernel outside of graphs is not reported
 *   lost_copy=N     each Nth copy outside of graphs is not reported
 *   crowd=N         when the tenth launch returns, another thread has made N calls meanwhile
 *   no_end          end_ns of a record stays 0
 *   last_error      a call changes the program's last error
 *   disable_hangs   Disable does not return
 *   exit_hangs      neither does the end of the process while enabled
 *   enable_fails    Enable returns hipErrorNotSupported (801)
 *   no_start        Enable leaves *start_id as it is
 *   shifted         an unknown layout: members of a record lie 8 bytes further
 *   bad_op, bad_node, bad_times, bad_name
 *                   work has an unknown kind, a GPU that there is not, an end before its begin, or
 *                   a kernel that the program does not have
 *
 * Other layouts, which have other names, are libraries of their own: libhip_double_a.so (hipClr...),
 * _b (flat), _c (in chunks, with Reset), _early (D without the callback). hip_double_other.c has them.
 *
 * HIP 7.2.4 itself, with that callback (found on the software GPU):
 *
 * - It tells of work on the runtime's handler thread, maybe long after somebody has waited for it.
 * - What it then tells of a graph's kernels is read from the graph. If that was destroyed meanwhile, HIP
 *   crashes (std::length_error, bad_alloc). So the double waits before a graph is destroyed.
 * - Names of kernels in graphs are demangled, all others mangled.
 * - A copy from or to pinned memory has 0 bytes. If a barrier goes before it on another engine, its end
 *   is the barrier's, before its begin.
 *
 * What it is not: arguments of kernels have no content, only a size; calls that the callback of HIP
 * does not report have no record; and the names of kernels in graphs are what HIP reports, read back
 * to mangled ones where the kernel's launch or node was seen.
 *
 * Threads: any. Only slabs, lists and clients have a lock; readers of records take none.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What the GPU did: in a record, and in the list behind it. */
struct hip_gpu_op {
	uint64_t flags; /* op 0-2, is_graph 3, copy_kind 4-7, device 16-31, queue 32-47 */
	uint64_t begin_ns, end_ns;
	union {
		uint64_t bytes;
		const char *kernel_name;
	};
	uint32_t count; /* pieces of work of this call; in the record only */
	uint32_t unused;
	struct hip_gpu_op *next;
	union {
		struct {
			uint32_t grid[3], block[3]; /* grid in blocks */
			void *args;
			uint32_t args_size;
			uint32_t unused_dispatch;
		};
		struct {
			uint64_t src, dst;
		};
	};
	uint32_t v02[6]; /* LDS bytes, scratch bytes, VGPRs, accum VGPRs, SGPRs, valid */
	uint32_t zero[4];
};

enum hip_gpu_op_kind { HIP_OP_DISPATCH, HIP_OP_COPY, HIP_OP_BARRIER };
#define HIP_OP_DEVICE(flags)    ((uint32_t)((flags) >> 16 & 0xffff))
#define HIP_OP_QUEUE(flags)     ((uint32_t)((flags) >> 32 & 0xffff))
#define HIP_OP_COPY_KIND(flags) ((uint32_t)((flags) >> 4 & 0xf))

#define HIP_RECORD_HAS_GPU 1ull

struct hip_record {
	const char *api_name;
	uint64_t flags;
	uint64_t thread_id;
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t stream;
	uint64_t internal;
	uint64_t memory1, memory2, size;
	uint32_t chunk_id;
	uint32_t zero[11];
	struct hip_gpu_op gpu;
};
_Static_assert(sizeof(struct hip_gpu_op) == 128 && offsetof(struct hip_gpu_op, next) == 40 &&
		       offsetof(struct hip_gpu_op, args) == 72 &&
		       offsetof(struct hip_gpu_op, v02) == 88,
	       "as the profiler has it");
_Static_assert(sizeof(struct hip_record) == 256 && offsetof(struct hip_record, zero) == 84 &&
		       offsetof(struct hip_record, gpu) == 128,
	       "as the profiler has it");

typedef void hip_chunk_callback(const struct hip_record *records, uint32_t count, uint32_t chunk,
				void *arg);
