/* SPDX-License-Identifier: MIT
 *
 * Port: all that the engines ask of the front end they run under, the replacement thunk
 * (kmt/) or ROCr 7's model library (tests/rocm7/model.c). A process has one front end.
 *
 * Threads: the front end fills sg_port in before it starts an engine; set_event and
 * memory_fault are called on engine threads. sg_host() is for engine threads and means the
 * address space of the engine's GPU.
 */
#ifndef SOFTGPU_PORT_H
#define SOFTGPU_PORT_H

#include <stdint.h>

struct sg_port {
	/* 5 or 7: which arguments HIP gives its own kernels. */
	unsigned int rocm_major;

	/* Raise the interrupt that a completed signal asks for. */
	void (*set_event)(uint32_t event_id);

	/* Report a memory access fault; NULL where there is no way to. */
	void (*memory_fault)(uint32_t node, uint64_t address);
};

extern struct sg_port sg_port;

/* A GPU's addresses: those below aperture_bytes are offsets into the aperture, all others
 * are the host's. All zero where the GPU's addresses and the host's are one. */
struct sg_space {
	char *aperture;
	uint64_t aperture_bytes;
};

/* Set by each engine's thread to its GPU's. */
extern _Thread_local struct sg_space sg_space;

static inline void *sg_space_host(const struct sg_space *space, uint64_t address)
{
	return address < space->aperture_bytes ? space->aperture + address
					       : (void *)(uintptr_t)address;
}

/* The host's pointer to what is at a device address. */
static inline void *sg_host(uint64_t address)
{
	return sg_space_host(&sg_space, address);
}

#endif
