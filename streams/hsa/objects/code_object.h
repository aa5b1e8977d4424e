/* SPDX-License-Identifier: MIT */
/* What a code object (an ELF file for a GPU) says of itself: a hash of its content and, from its note
 * NT_AMDGPU_METADATA (type 32, owner "AMDGPU"), its GPU and each kernel's use of registers. The note is MessagePack
 * with the keys of the LLVM AMDGPU guide, "Code Object V3 Metadata" (V4 and V5 have the same); older code objects have
 * none. It trusts nothing, and leaves out what is malformed.
 *
 * Threads: no state. No locks. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Numbers that a note may have of a kernel: what they are called as metadata of a tracepoint, and in the note. */
#define CODE_OBJECT_EACH(F)                                                                        \
	F(VGPRS, "vgprs", ".vgpr_count")                                                           \
	F(AGPRS, "agprs", ".agpr_count")                                                           \
	F(SGPRS, "sgprs", ".sgpr_count")                                                           \
	F(VGPR_SPILLS, "vgpr_spills", ".vgpr_spill_count")                                         \
	F(SGPR_SPILLS, "sgpr_spills", ".sgpr_spill_count")                                         \
	F(WAVEFRONT_SIZE, "wavefront_size", ".wavefront_size")                                     \
	F(MAX_WORKGROUP_SIZE, "max_workgroup_size", ".max_flat_workgroup_size")
#define CODE_OBJECT_NUMBER(name, key, note) CODE_OBJECT_##name,
enum code_object_number { CODE_OBJECT_EACH(CODE_OBJECT_NUMBER) CODE_OBJECT_NUMBERS };

extern const char *const code_object_keys[CODE_OBJECT_NUMBERS];

struct code_object_kernel {
	uint64_t symbol; /* code_object_hash of its name, without ".kd" */
	uint32_t known;  /* bit 1 << n: numbers[n] is given */
	uint32_t numbers[CODE_OBJECT_NUMBERS];
};

struct code_object {
	uint64_t hash;                      /* of all its bytes */
	char target[64];                    /* "amdgcn-amd-amdhsa--gfx906", or "" */
	struct code_object_kernel *kernels; /* sorted by symbol */
	uint32_t kernel_count;
};

/* Of bytes; the same on every machine and in every version: universal ids are made of it. */
uint64_t code_object_hash(const void *bytes, size_t size);

/* Reads what there is to be read. To be given back with code_object_fini, also where nothing is. */
void code_object_read(struct code_object *object, const void *bytes, size_t size);

/* The kernel of that name (without ".kd"), or NULL. */
const struct code_object_kernel *code_object_find(const struct code_object *object,
						  const char *name);

void code_object_fini(struct code_object *object);
