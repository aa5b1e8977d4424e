/* SPDX-License-Identifier: MIT
 *
 * Configuration: what the SOFTGPU_* environment variables say (README.md lists them).
 *
 * Threads: sg_config_load() runs before any engine thread exists; later everybody may read. No locks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SG_MAX_GPUS    8u
#define SG_MAX_ENGINES 8u /* shader engines of an XCC */
#define SG_MAX_XCCS    8u

enum sg_fault_kind {
	SG_FAULT_NONE,
	SG_FAULT_VM,       /* memory access fault */
	SG_FAULT_ILL,      /* illegal instruction */
	SG_FAULT_HW,       /* the GPU has to be reset */
	SG_FAULT_HANG,     /* the queue stops and says nothing */
	SG_FAULT_COMMANDS, /* the same, at a packet of commands */
	SG_FAULT_LONG,     /* the signal tells twice the time */
	SG_FAULT_SHORT,    /* half of it */
};

struct sg_arch {
	const char *name;
	uint32_t major, minor, stepping;
	uint32_t device, family; /* PCI id; libdrm's */
	uint32_t waves, engines; /* of a SIMD, of an XCC */
};

struct sg_config {
	uint32_t gpu_count;
	const struct sg_arch *arch;
	uint32_t engines, xccs; /* of a GPU; the engines of each XCC */
	bool large_bar;
	bool run_kernels; /* the runtimes' blit kernels and SOFTGPU_KERNELS' */
	bool trace_calls;
	uint64_t vram_bytes;
	uint64_t kernel_ns;
	uint64_t ns_per_workgroup;
	uint64_t clock_hz;
	uint64_t clock_offset_ticks;
	uint64_t spin_ns;
	uint64_t sleep_ns;
	uint32_t max_events;
	const char *log_path; /* NULL: no log */
	void *kernels;        /* dlopen handle or NULL */
	enum sg_fault_kind fault_kind;
	char fault_kernel[256]; /* part of a kernel's name */
	uint64_t fault_nth;     /* which of these packets in the process, from 1; 0: all */
	uint64_t fault_address;
};

extern struct sg_config sg_config;

/* Reads the environment. May be called again (a child made by fork does). */
void sg_config_load(void);
