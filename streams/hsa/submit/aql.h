/* SPDX-License-Identifier: MIT */
/*
 * Packets as they stand in a queue's ring (AQL): what they are, and what is known of them.
 *
 * Threads: any. No locks, no state.
 */
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel_table.h"
#include "publish.h"

/* A packet of any kind: these parts are at the same place in all that have them. */
union aql_packet {
	hsa_kernel_dispatch_packet_t dispatch;
	struct {
		uint16_t header;
		uint8_t body[54];
		uint64_t signal;
	} any;
};
_Static_assert(sizeof(union aql_packet) == 64, "an AQL packet");
_Static_assert(offsetof(hsa_kernel_dispatch_packet_t, completion_signal) == 56, "AQL");
_Static_assert(offsetof(hsa_barrier_and_packet_t, completion_signal) == 56, "AQL");

/* A vendor's packet of this format is a dispatch by clusters of workgroups (gfx1250). */
#define AQL_FORMAT_EXTENDED 3

enum aql_kind { AQL_OTHER, AQL_DISPATCH, AQL_EXTENDED, AQL_BARRIER };

static inline bool aql_is_barrier(const union aql_packet *packet)
{
	const unsigned type = packet->any.header & 0xff;

	return type == HSA_PACKET_TYPE_BARRIER_AND || type == HSA_PACKET_TYPE_BARRIER_OR;
}

/* A vendor's packet of that format. */
static inline bool aql_is_format(const union aql_packet *packet, unsigned format)
{
	return (packet->any.header & 0xff) == HSA_PACKET_TYPE_VENDOR_SPECIFIC &&
	       packet->any.body[0] == format;
}

static inline bool aql_is_dispatch(const union aql_packet *packet)
{
	return (packet->any.header & 0xff) == HSA_PACKET_TYPE_KERNEL_DISPATCH ||
	       aql_is_format(packet, AQL_FORMAT_EXTENDED);
}

/* Whether it can wait for signals; HIP waits by values on gfx90a and gfx942. */
static inline bool aql_has_signals(const union aql_packet *packet)
{
	return aql_is_barrier(packet) || aql_is_format(packet, HSA_AMD_PACKET_TYPE_BARRIER_VALUE);
}

static inline bool aql_has_barrier_bit(const union aql_packet *packet)
{
	return packet->any.header >> HSA_PACKET_HEADER_BARRIER & 1;
}

/* Of a dispatch: all but what its submission is. */
static inline void aql_fill_dispatch(struct dispatch *dispatch,
				     const hsa_kernel_dispatch_packet_t *packet)
{
	dispatch->kernel_object = packet->kernel_object;
	dispatch->kernel = kernel_table_find(packet->kernel_object);
	dispatch->grid[0] = packet->grid_size_x;
	dispatch->grid[1] = packet->grid_size_y;
	dispatch->grid[2] = packet->grid_size_z;
	dispatch->workgroup[0] = packet->workgroup_size_x;
	dispatch->workgroup[1] = packet->workgroup_size_y;
	dispatch->workgroup[2] = packet->workgroup_size_z;
	dispatch->group_bytes = packet->group_segment_size;
	dispatch->private_bytes = packet->private_segment_size;
}
