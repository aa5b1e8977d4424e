/* SPDX-License-Identifier: MIT */
/*
 * Structs that HIP's functions pass and return by value, as the calling convention sees them; part
 * of HIP's ABI since 4.2. unit.test_hip_table holds their sizes against the installed header's.
 */
#pragma once

#include <stdint.h>

struct hip_dim3 {
	uint32_t x, y, z;
};

struct hip_extent {
	uint64_t width, height, depth;
};

struct hip_pitched_ptr {
	void *ptr;
	uint64_t pitch, xsize, ysize;
};

struct hip_mem_location {
	int32_t type;
	int32_t id;
};

struct hip_ipc_handle {
	uint64_t word[8];
};

struct hip_channel_format_desc {
	int32_t x, y, z, w;
	int32_t f;
};
