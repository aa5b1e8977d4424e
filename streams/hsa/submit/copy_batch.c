/* SPDX-License-Identifier: MIT */
/*
 * hsa_amd_memory_async_batch_copy, which came after ROCm 7.2 (ROCm/rocm-systems, hsa_ext_amd.h of
 * 2026): several copies in one call, each with a completion signal or several with the same.
 *
 * The description of a copy has grown since without a new version number; what is used here has
 * stayed at its place. How long the caller's are is found out by where the second one lies.
 *
 * Copies with the same signal are one event.
 */
#include <rtl/events.h>
#include <string.h>

#include "../../common/text.h"
#include "copies.h"
#include "interceptor.h"
#include "signal_watch.h"

enum op_type {
	OP_LINEAR,
	OP_BROADCAST,
	OP_SWAP,
	OP_INDIRECT_SRC,
	OP_INDIRECT_DST,
	OP_INDIRECT_SRC_DST,
	OP_TYPES,
};

#define OP_VERSION    1
#define OP_SIZE_LEAST 64
#define OP_SIZE_MOST  256

/* The part that is known; pointers are to arrays of `entries` where these are not 0. */
struct op {
	uint16_t version;
	uint16_t type; /* enum op_type */
	uint16_t entries;
	uint16_t traffic_class;
	hsa_signal_t signal;
	union {
		uint64_t src;
		const uint64_t *src_list;
	};
	hsa_agent_t src_agent;
	union {
		hsa_agent_t dst_agent;
		const hsa_agent_t *dst_agent_list;
	};
	union {
		uint64_t dst;
		const uint64_t *dst_list;
	};
	union {
		uint64_t size;
		const uint64_t *size_list;
	};
	uint64_t dst_size; /* of OP_SWAP: what goes the other way */
};
_Static_assert(sizeof(struct op) == OP_SIZE_LEAST, "hsa_amd_memory_copy_op_t");

static bool plausible(const char *at)
{
	struct op op;

	memcpy(&op, at, sizeof(op));
	return op.version == OP_VERSION && op.type < OP_TYPES && op.src && op.dst &&
	       op.src_agent.handle && op.dst_agent.handle && op.size;
}

/* Bytes from one to the next, 0: not found. */
static size_t op_stride(const char *ops, uint32_t count)
{
	char after[OP_SIZE_MOST];
	size_t size, stride = OP_SIZE_LEAST;
	uint32_t good = 2;

	if (!plausible(ops))
		return 0;
	if (count == 1)
		return OP_SIZE_LEAST;
	/* Where the caller's are shorter than ours may be, or the second one is of a kind that we do not
	 * know, what follows the first one may be beyond the caller's memory. */
	size = text_read_bytes(after, (uintptr_t)ops + OP_SIZE_LEAST, sizeof(after));
	while (stride <= size && !plausible(after + stride - OP_SIZE_LEAST))
		stride += 8;
	if (stride > size)
		return 0;
	while (good < count && plausible(ops + good * stride))
		good++;
	return good == count ? stride : 0;
}

static struct op op_at(const char *ops, size_t stride, uint32_t i)
{
	struct op op;

	memcpy(&op, ops + i * stride, sizeof(op));
	return op;
}

static uint64_t op_bytes(const struct op *op)
{
	uint64_t bytes = 0;

	if (op->type == OP_SWAP && !op->entries)
		return op->size + op->dst_size;
	if (op->type == OP_BROADCAST)
		return op->size * op->entries;
	if (!op->entries)
		return op->size;
	for (uint16_t i = 0; i < op->entries; i++)
		bytes += op->size_list[i];
	return op->type == OP_SWAP ? bytes * 2 : bytes;
}

static uint32_t op_parts(const struct op *op)
{
	return op->entries ? op->entries : 1;
}

/* The first of its destinations and sources stands for all. */
static struct copy_request op_copy(const struct op *op)
{
	const bool lists = op->entries && op->type != OP_BROADCAST;

	return (struct copy_request){.src = lists ? op->src_list[0] : op->src,
				     .dst = op->entries ? op->dst_list[0] : op->dst,
				     .src_agent = op->src_agent,
				     .dst_agent =
					     op->entries ? op->dst_agent_list[0] : op->dst_agent,
				     .bytes = op_bytes(op),
				     .parts = op_parts(op),
				     .function = RTL_HSA_COPY_BATCH};
}

/* One event for all that have the signal of this one. */
static void begin_op(const char *ops, size_t stride, uint32_t count, uint32_t first, bool waits,
		     struct copy_slot **slot)
{
	struct op op = op_at(ops, stride, first);
	struct copy_request copy = op_copy(&op);

	copy.waits = waits;
	for (uint32_t i = first + 1; i < count; i++) {
		const struct op other = op_at(ops, stride, i);

		if (other.signal.handle != op.signal.handle)
			continue;
		copy.bytes += op_bytes(&other);
		copy.parts += op_parts(&other);
	}
	*slot = copies_begin(&copy, op.signal.handle);
}

static bool is_first(const char *ops, size_t stride, uint32_t i, uint64_t signal)
{
	for (uint32_t j = 0; j < i; j++) {
		if (op_at(ops, stride, j).signal.handle == signal)
			return false;
	}
	return true;
}

/* Most signals in a call that are kept apart. */
#define SLOTS_AT_ONCE 256

static uint32_t begin_all(const char *ops, size_t stride, uint32_t count, bool waits,
			  struct copy_slot **slots)
{
	uint32_t begun = 0, missed = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint64_t signal = op_at(ops, stride, i).signal.handle;
		const bool first = signal && is_first(ops, stride, i, signal);

		if (!signal || (first && begun == SLOTS_AT_ONCE)) {
			missed++;
		} else if (first) {
			begin_op(ops, stride, count, i, waits, &slots[begun]);
			begun += slots[begun] != NULL;
		}
	}
	if (missed)
		rtl_stream_count_missed(interceptor.copies,
					"batch: copies without a signal, or with "
					"more than can be kept",
					missed);
	return begun;
}

static uint32_t begin_batch(const void *ops, uint32_t count, uint32_t dep_count,
			    const hsa_signal_t *deps, struct copy_slot **slots)
{
	size_t stride;

	if (!copies_traced() || !ops || !count)
		return 0;
	stride = op_stride(ops, count);
	if (stride)
		return begin_all(ops, stride, count, signals_waiting(deps, dep_count), slots);
	rtl_stream_count_missed(interceptor.copies, "batch: not described as we know it", count);
	return 0;
}

hsa_status_t copy_batch(const void *ops, uint32_t op_count, uint32_t dep_count,
			const hsa_signal_t *deps)
{
	struct copy_slot *slots[SLOTS_AT_ONCE];
	const uint32_t begun = begin_batch(ops, op_count, dep_count, deps, slots);
	const hsa_status_t status =
		interceptor.hsa.async_batch_copy(ops, op_count, dep_count, deps);

	for (uint32_t i = 0; i < begun; i++)
		copies_end(slots[i], status);
	copies_untraced(1, op_count, status);
	return status;
}
