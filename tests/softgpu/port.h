/* SPDX-License-Identifier: MIT
 *
 * Port: all that the engines ask of the front end (kfd/).
 *
 * Threads: the functions are called on engine threads.
 */
#pragma once

#include <stdint.h>

struct sg_port {
	/* Raise the interrupt that a completed signal asks for. */
	void (*set_event)(uint32_t event_id);

	/* Report a memory access fault. */
	void (*memory_fault)(uint32_t node, uint64_t address);

	/* Report that the GPU hangs and was reset. */
	void (*hw_exception)(uint32_t node);
};

extern struct sg_port sg_port;
