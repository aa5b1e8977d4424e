/* SPDX-License-Identifier: MIT */
/*
 * Records of HIP's own profiler, as HIP has them from ROCm 7.14 on (header version 0.1; 0.2 has
 * the registers of a kernel, too): a record for each call, in slabs.
 *
 * A record is cleared when a call takes it, and filled by the call's thread. The GPU's half, and the list
 * behind it, are written without a lock by whoever learns that the work has ended: the flag comes last.
 */
#ifndef STREAMS_HSA_RECORDS_H
#define STREAMS_HSA_RECORDS_H

#include <stddef.h>
#include <stdint.h>

struct gpu_work {
	uint64_t flags;
	uint64_t begin_ns, end_ns; /* HSA system clock */
	union {
		uint64_t bytes;
		const char *kernel; /* mangled; NULL: no kernel, or not known */
	};
	uint32_t count, reserved; /* in a record: of all work of the call */
	const struct gpu_work *next;
	union {
		struct {
			uint32_t grid[3], block[3]; /* the grid in blocks */
			void *args;
			uint32_t args_bytes, args_reserved;
		};
		struct {
			uint64_t src, dst;
		};
	};
	/* Of version 0.2. */
	uint32_t group_bytes, private_bytes, registers[3], valid;
	uint32_t zero[4];
};

struct hip_record {
	const char *function; /* text in HIP's image */
	uint64_t flags;
	uint64_t thread;           /* gettid; before May 2026 a hash */
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC; end 0: it runs */
	uint64_t stream, internal, memory[2], size;
	uint32_t number;
	uint32_t zero[11];
	struct gpu_work work;
};
_Static_assert(sizeof(struct gpu_work) == 128 && offsetof(struct gpu_work, next) == 40 &&
		       offsetof(struct gpu_work, group_bytes) == 88 &&
		       sizeof(struct hip_record) == 256 && offsetof(struct hip_record, zero) == 84,
	       "as HIP has it");

#define RECORD_HAS_WORK 1u /* in flags of a record */

static inline unsigned work_op(uint64_t flags)
{
	return flags & 7;
}

static inline unsigned work_copy_kind(uint64_t flags)
{
	return flags >> 4 & 0xf;
}

static inline uint32_t work_node(uint64_t flags)
{
	return (uint32_t)(flags >> 16 & 0xffff); /* KFD's */
}

typedef int enable_fn(uint64_t *start, uint64_t state);
typedef int disable_fn(uint64_t *end);
typedef int get_records_fn(const struct hip_record *const **slabs, size_t *slab_count,
			   size_t *slab_size, size_t *total);

#endif
