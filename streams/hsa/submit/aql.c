/* SPDX-License-Identifier: MIT */
/* Packets that are rare: see aql.h. */
#include "aql.h"

#include <rtl/events.h>

struct extended_packet {
	uint16_t header;
	uint8_t format;
	uint8_t setup;
	uint16_t workgroup[3];
	uint16_t reserved0;
	uint32_t cluster_count_x;
	uint16_t cluster_count_y, cluster_count_z;
	uint8_t cluster_size[3]; /* workgroups */
	uint8_t hint;
	/* From here on as in a dispatch. */
	uint32_t private_segment_size;
	uint32_t group_segment_size;
	uint64_t kernel_object;
};
_Static_assert(offsetof(struct extended_packet, kernel_object) ==
		       offsetof(hsa_kernel_dispatch_packet_t, kernel_object),
	       "hsa_amd_ext_kernel_dispatch_packet_t");

__attribute__((cold)) void aql_fill_extended(struct dispatch *dispatch,
					     const union aql_packet *packet)
{
	const struct extended_packet *extended = (const void *)packet;

	aql_fill_dispatch(dispatch, &packet->dispatch);
	dispatch->flags |= RTL_HSA_DISPATCH_EXTENDED;
	dispatch->grid[0] =
		extended->cluster_count_x * extended->cluster_size[0] * extended->workgroup[0];
	dispatch->grid[1] = (uint32_t)extended->cluster_count_y * extended->cluster_size[1] *
			    extended->workgroup[1];
	dispatch->grid[2] = (uint32_t)extended->cluster_count_z * extended->cluster_size[2] *
			    extended->workgroup[2];
}

__attribute__((cold)) void aql_fill_barrier(struct barrier *barrier, const union aql_packet *packet)
{
	const hsa_barrier_and_packet_t *theirs = (const void *)packet;

	barrier->kind = (packet->any.header & 0xff) == HSA_PACKET_TYPE_BARRIER_AND
				? RTL_HSA_BARRIER_AND
				: RTL_HSA_BARRIER_OR;
	barrier->dependencies = 0;
	for (int i = 0; i < 5; i++)
		barrier->dependencies += theirs->dep_signal[i].handle != 0;
}
