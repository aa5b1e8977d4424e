/* SPDX-License-Identifier: MIT */
/* HIP's own kernels that copy or fill memory (CLR's blitcl.cpp), and what their arguments tell, which differ between
 * versions of HIP: those that do not fit together are of a form that is not known.
 *
 * Threads: any. No state, no locks. */
#pragma once

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>

struct copy_facts {
	uint64_t dst, src, bytes; /* src: of a fill 0 */
	uint32_t extent[3];       /* of a copy of rows: bytes, rows, slices */
	uint8_t kind;             /* enum rtl_hsa_copy_kind */
};

/* Which of them has that name; 0: none. */
uint8_t copy_kernel_find(const char *name);

/* What the packet, a dispatch of that kernel with so many bytes of arguments, does. False: that is not known. */
bool copy_kernel_read(uint8_t kernel, uint32_t bytes, const hsa_kernel_dispatch_packet_t *packet,
		      struct copy_facts *facts);
